// C = A B^T by wgmma, a warpgroup for 64 by 64, 128 bytes of k a stage in swizzled shared memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned long long descriptor(const void* p) { // 128-byte swizzle, eight rows every 1024 bytes
  unsigned long long a = __cvta_generic_to_shared(p);
  return (a & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void fill(unsigned char* tile, const char* from, int row, int bytes, int k) {
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    int r = i / 8, piece = i % 8;
    *(uint4*)(tile + r * 128 + ((piece ^ r % 8) << 4)) =
        *(const uint4*)(from + (size_t)(row + r) * bytes + k + piece * 16);
  }
}

#define R(c, k) "+" c(d[k]), "+" c(d[k + 1]), "+" c(d[k + 2]), "+" c(d[k + 3]), "+" c(d[k + 4]), "+" c(d[k + 5]), "+" c(d[k + 6]), "+" c(d[k + 7])
#define ALL(c) R(c, 0), R(c, 8), R(c, 16), R(c, 24)
#define REGISTERS                                                                                  \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25," \
  "%26,%27,%28,%29,%30,%31}"
#define GEMM(name, factor, sum, letters, constraint, tail)                                         \
  extern "C" __global__ __launch_bounds__(128) void name(const factor* A, const factor* B, sum* C, int N, int K) { \
    __shared__ alignas(1024) unsigned char a[64 * 128], b[64 * 128];                                \
    int bytes = K * (int)sizeof(factor), top = blockIdx.y * 64, left = blockIdx.x * 64;             \
    sum d[32];                                                                                      \
    for (int k = 0; k < bytes; k += 128) {                                                          \
      fill(a, (const char*)A, top, bytes, k);                                                       \
      fill(b, (const char*)B, left, bytes, k);                                                      \
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                  \
      __syncthreads();                                                                              \
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                       \
      for (int s = 0; s < 4; s++)                                                                   \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned." letters " " REGISTERS \
                     ", %32, %33, p" tail "; }"                                                     \
                     : ALL(constraint)                                                              \
                     : "l"(descriptor(a + s * 32)), "l"(descriptor(b + s * 32)), "r"(k + s));       \
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                \
      asm volatile("wgmma.wait_group.sync.aligned 0;" : ALL(constraint)::"memory");                 \
      __syncthreads();                                                                              \
    }                                                                                               \
    int row = top + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = left + threadIdx.x % 4 * 2; \
    for (int e = 0; e < 32; e++) C[(row + e / 2 % 2 * 8) * N + column + e / 4 * 8 + e % 2] = d[e];  \
  }

typedef unsigned char byte;
GEMM(gemm_bf16, __nv_bfloat16, float, "m64n64k16.f32.bf16.bf16", "f", ", 1, 1, 0, 0")
GEMM(gemm_f16, __half, float, "m64n64k16.f32.f16.f16", "f", ", 1, 1, 0, 0")
GEMM(gemm_tf32, float, float, "m64n64k8.f32.tf32.tf32", "f", ", 1, 1")
GEMM(gemm_e4m3, byte, float, "m64n64k32.f32.e4m3.e4m3", "f", ", 1, 1")
GEMM(gemm_e5m2, byte, float, "m64n64k32.f32.e5m2.e5m2", "f", ", 1, -1")
GEMM(gemm_s8, signed char, int, "m64n64k32.s32.s8.s8", "r", "")
