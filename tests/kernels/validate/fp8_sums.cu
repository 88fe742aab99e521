// C = A B^T of fp8, a warpgroup for 64 rows and 8 columns, 128 of k a stage; with and without a second accumulator.
#include <cuda_bf16.h>

typedef unsigned char byte;

__device__ unsigned long long descriptor(const void* p, int pieces) { // no swizzle; pieces of 16 bytes of k apart
  unsigned long long a = __cvta_generic_to_shared(p);
  return (a & 0x3ffff) >> 4 | (unsigned long long)(pieces >> 4) << 16 | 8ull << 32;
}

__device__ void fill(byte* tile, const byte* from, int rows, int K, int k) {
  for (int i = threadIdx.x; i < rows * 8; i += 128) {
    int row = i / 8, piece = i % 8;
    *(uint4*)(tile + (piece * rows + row) * 16) = *(const uint4*)(from + (size_t)row * K + k + piece * 16);
  }
}

__device__ void multiply(float (&d)[4], const byte* a, const byte* b, int add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;"
               "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, p, 1, 1; }"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(descriptor(a, 1024)), "l"(descriptor(b, 128)), "r"(add));
}

template <bool promotes>
__device__ void gemm(const byte* A, const byte* B, __nv_bfloat16* C, int K) {
  __shared__ alignas(128) byte a[64 * 128], b[8 * 128];
  float d[4] = {}, sum[4] = {};
  for (int k = 0; k < K; k += 128) {
    fill(a, A, 64, K, k);
    fill(b, B, 8, K, k);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int s = 0; s < 4; s++) multiply(d, a + s * 2 * 1024, b + s * 2 * 128, promotes ? s : k + s);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    for (int e = 0; e < 4; e++) sum[e] = promotes ? sum[e] + d[e] : d[e];
    __syncthreads();
  }
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int e = 0; e < 4; e++) C[(row + e / 2 * 8) * 8 + column + e % 2] = __float2bfloat16(sum[e]);
}

extern "C" __global__ void direct(const byte* A, const byte* B, __nv_bfloat16* C, int K) { gemm<false>(A, B, C, K); }
extern "C" __global__ void promoted(const byte* A, const byte* B, __nv_bfloat16* C, int K) { gemm<true>(A, B, C, K); }
