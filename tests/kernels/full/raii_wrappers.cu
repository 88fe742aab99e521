// Owning wrappers, templates with host members only, macros in the middle of things.
#include <cstddef>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

inline void check(cudaError_t status, const char *what, int line) {
    if (status != cudaSuccess) {
        throw std::runtime_error(std::string(what) + " at " + std::to_string(line));
    }
}
#define TRY(x) check((x), #x, __LINE__)

template <typename T>
class DeviceBuffer {
  public:
    explicit DeviceBuffer(size_t n) : size_(n) { TRY(cudaMalloc(&data_, n * sizeof(T))); }
    DeviceBuffer(const std::vector<T> &v) : DeviceBuffer(v.size()) { upload(v); }
    DeviceBuffer(DeviceBuffer &&other) noexcept : data_(std::exchange(other.data_, nullptr)), size_{other.size_} {}
    DeviceBuffer &operator=(DeviceBuffer &&) = delete;
    ~DeviceBuffer() { cudaFree(data_); }
    void upload(const std::vector<T> &v) {
        TRY(cudaMemcpy(data_, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    T *get() const { return data_; }
    size_t size() const { return size_; }

  private:
    T *data_ = nullptr;
    size_t size_;
};

struct StreamDeleter {
    void operator()(cudaStream_t s) const { cudaStreamDestroy(s); }
};
using Stream = std::unique_ptr<CUstream_st, StreamDeleter>;

__global__ void axpy(float a, const float *__restrict__ x, float *__restrict__ y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = fmaf(a, x[i], y[i]);
    }
}

template <typename T, unsigned kThreads>
__global__ void dot(const T *x, const T *y, T *out, size_t n) {
    __shared__ T part[kThreads];
    T sum = T(0);
    for (size_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        sum += x[i] * y[i];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned step = kThreads / 2; step; step >>= 1) {
        if (threadIdx.x < step) {
            part[threadIdx.x] += part[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = part[0];
    }
}

template <typename T>
T dot_product(const DeviceBuffer<T> &x, const DeviceBuffer<T> &y) {
    constexpr unsigned kThreads = 256, kBlocks = 32;
    DeviceBuffer<T> partial(kBlocks);
    dot<T, kThreads><<<kBlocks, kThreads>>>(x.get(), y.get(), partial.get(), x.size());
    std::vector<T> host(kBlocks);
    TRY(cudaMemcpy(host.data(), partial.get(), kBlocks * sizeof(T), cudaMemcpyDeviceToHost));
    T total{};
    for (T v : host) {
        total += v;
    }
    return total;
}

template float dot_product<float>(const DeviceBuffer<float> &, const DeviceBuffer<float> &);

int main() {
    std::vector<double> v(100, 1.0);
    DeviceBuffer<double> x(v), y(v);
    std::cout << dot_product<double>(x, y) << '\n';
    axpy<<<1, 128>>>(2.f, nullptr, nullptr, 0);
    return 0;
}
