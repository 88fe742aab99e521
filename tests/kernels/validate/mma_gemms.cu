// C = A B^T by mma.sync, a warp for a tile of 16 by 8; operands go through shared memory and
// ldmatrix, 32 bytes of k at a time, whatever the type.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define GEMM(name, factor, result, sum, letters, constraint)                                     \
  extern "C" __global__ void name(const factor* A, const factor* B, result* C, int M, int N, int K) { \
    __shared__ alignas(128) unsigned char a[16 * 32], b[8 * 32];                                  \
    int lane = threadIdx.x, top = blockIdx.y * 16, left = blockIdx.x * 8;                         \
    int bytes = K * (int)sizeof(factor);                                                          \
    sum d[4] = {};                                                                                \
    for (int k = 0; k < bytes; k += 32) {                                                         \
      *(uint4*)(a + lane * 16) =                                                                  \
          *(const uint4*)((const char*)A + (size_t)(top + lane / 2) * bytes + k + lane % 2 * 16); \
      if (lane < 16)                                                                              \
        *(uint4*)(b + lane * 16) =                                                                \
            *(const uint4*)((const char*)B + (size_t)(left + lane / 2) * bytes + k + lane % 2 * 16); \
      __syncwarp();                                                                               \
      unsigned fa[4], fb[2];                                                                      \
      unsigned at = (unsigned)__cvta_generic_to_shared(a + lane % 16 * 32 + lane / 16 * 16);      \
      unsigned bt = (unsigned)__cvta_generic_to_shared(b + lane % 8 * 32 + lane / 8 % 2 * 16);    \
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"                \
                   : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at));               \
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"                      \
                   : "=r"(fb[0]), "=r"(fb[1]) : "r"(bt));                                         \
      asm volatile("mma.sync.aligned." letters " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                   : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3]) \
                   : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));     \
      __syncwarp();                                                                               \
    }                                                                                             \
    for (int e = 0; e < 4; e++)                                                                   \
      C[(top + lane / 4 + e / 2 * 8) * N + left + lane % 4 * 2 + e % 2] = (result)d[e];           \
  }

typedef unsigned char byte;
GEMM(gemm_f16, __half, float, float, "m16n8k16.row.col.f32.f16.f16.f32", "f")
GEMM(gemm_bf16, __nv_bfloat16, float, float, "m16n8k16.row.col.f32.bf16.bf16.f32", "f")
GEMM(gemm_tf32, float, float, float, "m16n8k8.row.col.f32.tf32.tf32.f32", "f")
GEMM(gemm_e4m3, byte, float, float, "m16n8k32.row.col.f32.e4m3.e4m3.f32", "f")
GEMM(gemm_s8, signed char, int, int, "m16n8k32.row.col.s32.s8.s8.s32", "r")
GEMM(gemm_u8, byte, int, int, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", "r")
GEMM(gemm_b1, byte, int, int, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", "r")

// B as k by n: its halves come to the threads transposed, the results leave by stmatrix.
extern "C" __global__ void gemm_trans(const __half* A, const __half* B, __half* C, int N, int K) {
  __shared__ alignas(128) __half a[16 * 16], b[16 * 8], c[16 * 8];
  int lane = threadIdx.x, top = blockIdx.y * 16, left = blockIdx.x * 8;
  unsigned d[2] = {};
  for (int k = 0; k < K; k += 16) {
    for (int i = lane; i < 256; i += 32) a[i] = A[(top + i / 16) * K + k + i % 16];
    for (int i = lane; i < 128; i += 32) b[i] = B[(k + i / 8) * N + left + i % 8];
    __syncwarp();
    unsigned fa[4], fb[2];
    unsigned at = (unsigned)__cvta_generic_to_shared(a + lane % 16 * 16 + lane / 16 * 8);
    unsigned bt = (unsigned)__cvta_generic_to_shared(b + lane % 16 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1]) : "r"(bt));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    __syncwarp();
  }
  unsigned ct = (unsigned)__cvta_generic_to_shared(c + lane % 16 * 8);
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(ct), "r"(d[0]), "r"(d[1]) : "memory");
  __syncwarp();
  for (int i = lane; i < 128; i += 32) C[(top + i / 8) * N + left + i % 8] = c[i];
}

// One instruction of f64, operands straight from memory.
extern "C" __global__ void gemm_f64(const double* A, const double* B, double* C, int N, int K) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4, top = blockIdx.y * 16, left = blockIdx.x * 8;
  double d[4] = {};
  for (int k = 0; k < K; k += 4) {
    double a0 = A[(top + g) * K + k + t], a1 = A[(top + g + 8) * K + k + t], b = B[(left + g) * K + k + t];
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a0), "d"(a1), "d"(b));
  }
  for (int e = 0; e < 4; e++) C[(top + g + e / 2 * 8) * N + left + t * 2 + e % 2] = d[e];
}

// y = x^T in pieces of 8 by 8 halves.
extern "C" __global__ void transpose(const unsigned* x, unsigned* y) {
  unsigned v = x[threadIdx.x];
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(v));
  y[threadIdx.x] = v;
}
