// Globals of every kind: which are the device's and which the host's?
#include <cstdio>
#include <cstring>
#include <string>

#define LUT_SIZE 64

__constant__ float c_lut[LUT_SIZE];
__device__ unsigned int d_hits = 0;
__device__ __managed__ int m_flag;
extern __shared__ unsigned char dynamic_smem[];

constexpr unsigned kMask = 0x3fu;
inline constexpr float kGain[3] = {0.25f, 0.5f, 0.25f};
const char *const kName = "blur";
const char *g_title = "title {";
static float h_lut[LUT_SIZE];
static double h_total(3.5);
cudaStream_t g_stream;
int g_a = 1, g_b[2] = {1, 2}, *g_c = &g_a;
int (*g_function)(const char *) = puts;
std::string g_string("x;y}");

struct Config {
    int radius;
    float sigma;
} g_config = {3, 1.5f};

union Bits {
    float f;
    unsigned u;
};

typedef int (*Compare)(const void *, const void *);

__global__ void blur(cudaTextureObject_t texture, float *out, int width, int height) {
    float *tile = reinterpret_cast<float *>(dynamic_smem);
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float v = 0;
    constexpr float kSide = kGain[0], kMiddle = kGain[1];
    v += kSide * tex2D<float>(texture, x - 0.5f, y + 0.5f);
    v += kMiddle * tex2D<float>(texture, x + 0.5f, y + 0.5f);
    tile[threadIdx.x] = v;
    __syncthreads();
    Bits bits;
    bits.f = tile[threadIdx.x];
    out[y * width + x] = c_lut[bits.u & kMask] + m_flag;
    if (bits.u == 0) {
        atomicInc(&d_hits, 100u);
    }
}

void upload() {
    for (int i = 0; i < LUT_SIZE; i++) {
        h_lut[i] = i * g_config.sigma;
    }
    cudaMemcpyToSymbol(c_lut, h_lut, sizeof h_lut);
    printf("%s %s %f\n", g_title, kName, h_total);
}

int main() {
    upload();
    blur<<<dim3(4, 4), 64, 64 * sizeof(float), g_stream>>>(0, nullptr, 256, 4);
    return (int)strlen(g_string.c_str());
}
