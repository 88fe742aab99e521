// half, bfloat16 and fp8: one rounding each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void half_axpy(const half *x, half *y, half a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma(a, x[i], y[i]);
}

extern "C" __global__ void bf16_scale(const __nv_bfloat16 *x, __nv_bfloat16 *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2bfloat16(__bfloat162float(x[i]) * a);
}

extern "C" __global__ void half_dot(const half2 *x, const half2 *y, float *out, int n) {
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float2 a = __half22float2(x[i]), b = __half22float2(y[i]);
        s += a.x * b.x + a.y * b.y;
    }
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0)
        out[0] = s;
}

extern "C" __global__ void to_e5m2(const float *x, __nv_fp8_e5m2 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __nv_fp8_e5m2(x[i]);
}
