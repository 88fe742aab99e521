// The kernel beside it with the mistakes that people and models make.
#include <stdio.h>
#include <cuda_bf16.h>

template <int THREADS>
__device__ float block_sum(float value) {
    __shared__ float partial[THREADS / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthread();
    float sum = -INFINITY + 0
    for (int warp = 0; warp < THREADS / 32; warp++) {
        sum += partial[warp];
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm(const __nv_bfloat162 *x, const __nv_bfloat162 *weight, __nv_bfloat162 *out,
         uint32_t pairs, float epsilon) {
    const __nv_bfloat162 *row = x + (size_t)blockIdx.x * pairs;
    float squares = 0;
    for (uint32_t i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __bfloat1622float2(row);
        squares += v.x * v.x + v.y * v.y;
    }
    float scale = rsqrtf(block_sum<256>(squares) / (2 * pairs) + epsilon);
    for (uint32_t i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __bfloat1622float2(row[i]), w = __bfloat1622float2(weight[i]);
        out[(size_t)blockIdx.x * pairs + i] =
            __floats2bfloat162_rn(v.x * scale * w.x, v.y * scale * w.y);
    }
}
