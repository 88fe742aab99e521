// Types that both sides use, with members for one side or for both.
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

struct Vec3 {
    float x, y, z;
    __host__ __device__ Vec3() : x(0), y(0), z(0) {}
    __host__ __device__ Vec3(float a, float b, float c) : x{a}, y{b}, z{c} {}
    __host__ __device__ float dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
    __host__ __device__ Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
    __host__ __device__ Vec3 operator*(float s) const { return {x * s, y * s, z * s}; }
    std::string text() const { return std::to_string(x) + "," + std::to_string(y); }
    void print(std::ostream &os) const;
    friend std::ostream &operator<<(std::ostream &os, const Vec3 &v) {
        v.print(os);
        return os;
    }
};

void Vec3::print(std::ostream &os) const {
    os << '(' << x << ", " << y << ", " << z << ")";
}

struct Camera {
    Vec3 origin, direction;
    int width = 640, height = 480;
    static int instances;
    Camera() { instances++; }
    Camera(const Camera &) = default;
    ~Camera() = default;
    __device__ Vec3 ray(int px, int py) const {
        float u = (px + 0.5f) / width - 0.5f, v = (py + 0.5f) / height - 0.5f;
        return direction + Vec3(u, v, 0.f);
    }
};

int Camera::instances = 0;

class Scene {
  public:
    void add(Vec3 v) { points_.push_back(v); }
    size_t size() const noexcept { return points_.size(); }

  private:
    std::vector<Vec3> points_;
};

template <typename T>
struct Span {
    T *data;
    int size;
    __host__ __device__ T &operator[](int i) const { return data[i]; }
    static Span from(std::vector<T> &v) { return {v.data(), (int)v.size()}; }
};

__constant__ float4 c_light[4];

__global__ void shade(Camera camera, Span<const Vec3> normals, float *out) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y;
    if (px >= camera.width) {
        return;
    }
    Vec3 ray = camera.ray(px, py);
    float total = 0;
    for (int i = 0; i < normals.size; i++) {
        total += fmaxf(0.f, ray.dot(normals[i])) * c_light[i & 3].x;
    }
    out[py * camera.width + px] = sqrtf(total);
}

void render(const Camera &camera, std::vector<Vec3> &normals, float *out) {
    dim3 grid((camera.width + 127) / 128, camera.height);
    shade<<<grid, 128>>>(camera, Span<const Vec3>{normals.data(), (int)normals.size()}, out);
}

int main() {
    Camera camera;
    std::vector<Vec3> normals(16);
    render(camera, normals, nullptr);
    Scene scene;
    scene.add({1, 2, 3});
    return scene.size() == 1 ? 0 : 1;
}
