// Attention, 16 queries a warp, keys 16 at a time, scores in registers: softmax as it goes along.
#include <cuda_fp16.h>

#define D 64
__device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ unsigned pack(float x, float y) {
  __half2 h = __floats2half2_rn(x, y);
  return *(unsigned*)&h;
}
__device__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ float quad_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

extern "C" __global__ __launch_bounds__(64) void attention(const __half* Q, const __half* K, const __half* V, __half* O,
                                                           int length, float scale) {
  __shared__ alignas(128) __half keys[16 * D], values[16 * D];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int first = (blockIdx.x * 2 + warp) * 16;
  unsigned q[D / 16][4];
  for (int k = 0; k < D / 16; k++)
    for (int r = 0; r < 4; r++)
      q[k][r] = *(const unsigned*)(Q + (first + g + r % 2 * 8) * D + k * 16 + t * 2 + r / 2 * 8);
  float o[D / 8][4] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {};
  for (int at = 0; at < length; at += 16) {
    __syncthreads();
    for (int i = threadIdx.x; i < 16 * D / 8; i += 64) {
      ((uint4*)keys)[i] = ((const uint4*)(K + at * D))[i];
      ((uint4*)values)[i] = ((const uint4*)(V + at * D))[i];
    }
    __syncthreads();
    float s[2][4] = {};
    for (int k = 0; k < D / 16; k++) {
      unsigned b[4]; // two tiles of 8 keys
      unsigned p = (unsigned)__cvta_generic_to_shared(keys + (lane % 8 + lane / 16 * 8) * D + k * 16 + lane / 8 % 2 * 8);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(p));
      mma(s[0], q[k], b[0], b[1]);
      mma(s[1], q[k], b[2], b[3]);
    }
    for (int h = 0; h < 2; h++) { // rows g and g + 8
      float m = fmaxf(fmaxf(s[0][2 * h], s[0][2 * h + 1]), fmaxf(s[1][2 * h], s[1][2 * h + 1])) * scale;
      m = fmaxf(most[h], quad_max(m));
      float old = __expf(most[h] - m), part = 0;
      for (int n = 0; n < 2; n++)
        for (int e = 0; e < 2; e++) part += s[n][2 * h + e] = __expf(s[n][2 * h + e] * scale - m);
      sum[h] = sum[h] * old + part;
      most[h] = m;
      for (int n = 0; n < D / 8; n++) o[n][2 * h] *= old, o[n][2 * h + 1] *= old;
    }
    unsigned a[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
    for (int n = 0; n < D / 8; n += 2) {
      unsigned b[4];
      unsigned p = (unsigned)__cvta_generic_to_shared(values + lane % 16 * D + n * 8 + lane / 16 * 8);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(p));
      mma(o[n], a, b[0], b[1]);
      mma(o[n + 1], a, b[2], b[3]);
    }
  }
  for (int h = 0; h < 2; h++) {
    float whole = 1.f / quad_sum(sum[h]);
    for (int n = 0; n < D / 8; n++)
      *(unsigned*)(O + (first + g + h * 8) * D + n * 8 + t * 2) = pack(o[n][2 * h] * whole, o[n][2 * h + 1] * whole);
  }
}
