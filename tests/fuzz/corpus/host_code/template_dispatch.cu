// Template kernels that exist only because host code launches them.
#include <cuda_fp16.h>
#include <iostream>
#include <type_traits>

template <typename T, int kItems>
__global__ void scale(T *x, T factor, int n) {
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * kItems;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        if (base + k < n) {
            x[base + k] = x[base + k] * factor;
        }
    }
}

template <int kBlock, bool kExact = false>
__global__ void block_max(const float *x, float *out, int n) {
    __shared__ float part[kBlock];
    float best = -1e30f;
    for (int i = threadIdx.x; i < n; i += kBlock) {
        best = fmaxf(best, kExact ? x[i] : x[i] * 1.0001f);
    }
    part[threadIdx.x] = best;
    __syncthreads();
    for (int step = kBlock / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + step]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *out = part[0];
    }
}

template <typename T>
void launch_scale(T *x, T factor, int n, cudaStream_t stream) {
    constexpr int kItems = 4;
    const int block = 256;
    scale<T, kItems><<<(n + block * kItems - 1) / (block * kItems), block, 0, stream>>>(x, factor, n);
}

template <int N>
void launch_max(const float *x, float *out, int n) {
    using Float = float;
    static_assert(std::is_same<Float, float>::value, "floats only");
    block_max<N / 2><<<1, N / 2>>>(x, out, n);
}

int main() {
    float *x = nullptr;
    __half *h = nullptr;
    double *d = nullptr;
    launch_scale<float>(x, 2.f, 10, 0);
    launch_scale<__half>(h, __float2half(2.f), 10, 0);
    scale<double, 1><<<1, 32>>>(d, 2.0, 10);
    launch_max<512>(x, x, 10);
    block_max<64, true><<<1, 64>>>(x, x, 10);
    constexpr int kWide = 1024;
    auto kernel = block_max<kWide>;
    kernel<<<1, kWide>>>(x, x, 10);
    cudaFuncSetAttribute(block_max<128>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
    std::cout << "done" << std::endl;
}
