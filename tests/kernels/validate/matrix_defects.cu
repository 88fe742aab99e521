// Matrix instructions used wrongly, one way each.
#include <cuda_fp16.h>

__device__ unsigned long long descriptor(const void* p) { // no swizzle: 8 rows of 16 bytes, k's second half 1024 bytes on
  unsigned long long a = __cvta_generic_to_shared(p);
  return (a & 0x3ffff) >> 4 | 64ull << 16 | 8ull << 32;
}
__device__ void product(float (&d)[4], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define SETUP                                                       \
  __shared__ alignas(1024) __half tile[4096];                       \
  float d[4] = {};                                                  \
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = x[i % 64]; \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");      \
  __syncthreads()
#define STORE out[threadIdx.x] = d[0] + d[1] + d[2] + d[3]

extern "C" __global__ void right(const __half* x, float* out) {
  SETUP;
  FENCE; product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT; WAIT;
  STORE;
}
extern "C" __global__ void no_wait(const __half* x, float* out) {
  SETUP;
  FENCE; product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT;
  STORE;
}
// Two groups, and a wait for the older one: its accumulators may be read, those of the younger not yet.
#define TWO_GROUPS                                                                    \
  SETUP;                                                                              \
  float e[4] = {};                                                                    \
  FENCE; product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT;               \
  product(e, descriptor(tile), descriptor(tile + 2048)); COMMIT;                      \
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory")
extern "C" __global__ void older_group(const __half* x, float* out) {
  TWO_GROUPS;
  STORE;
  WAIT;
}
extern "C" __global__ void younger_group(const __half* x, float* out) {
  TWO_GROUPS;
  out[threadIdx.x] = e[0] + e[1] + e[2] + e[3];
  WAIT;
}
extern "C" __global__ void no_fence(const __half* x, float* out) {
  SETUP;
  product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT; WAIT;
  STORE;
}
extern "C" __global__ void no_proxy_fence(const __half* x, float* out) {
  __shared__ alignas(1024) __half tile[4096];
  float d[4] = {};
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = x[i % 64];
  __syncthreads();
  FENCE; product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT; WAIT;
  STORE;
}
extern "C" __global__ void overwritten(const __half* x, float* out) {
  SETUP;
  FENCE; product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT;
  __syncthreads();
  tile[threadIdx.x] = __half(9.f);
  __syncthreads();
  WAIT;
  STORE;
}
extern "C" __global__ void outside(const __half* x, float* out) {
  SETUP;
  FENCE; product(d, descriptor(tile), descriptor(tile + 3584)); COMMIT; WAIT;
  STORE;
}
extern "C" __global__ void warp_missing(const __half* x, float* out) {
  SETUP;
  if (threadIdx.x / 32 != 2) {
    FENCE; product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT; WAIT;
  }
  STORE;
}
extern "C" __global__ void half_group(const __half* x, float* out) {
  SETUP;
  FENCE; product(d, descriptor(tile), descriptor(tile + 2048)); COMMIT; WAIT;
  STORE;
}
extern "C" __global__ void divergent(const __half* x, float* out) {
  unsigned a = threadIdx.x, d[2] = {};
  if (threadIdx.x % 32 < 16)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2}, {%2}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(a));
  out[threadIdx.x] = d[0] + d[1];
}
extern "C" __global__ void rows_outside(const __half* x, float* out) {
  __shared__ alignas(16) __half tile[64];
  for (int i = threadIdx.x; i < 64; i += 32) tile[i] = x[i];
  __syncwarp();
  unsigned v, at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8 * 16);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(at));
  out[threadIdx.x] = v & 1;
}
