// C = A B^T the way an H100 wants it: one warp copies tiles by tensor maps into four stages, two
// warpgroups multiply, one product behind the other; full and empty stages are told by mbarriers.
#include <cuda.h>
#include <cuda_bf16.h>

#define STAGES 4
#define TILE 64 // of k: 128 bytes
struct Shared {
  alignas(1024) __nv_bfloat16 a[STAGES][128 * TILE], b[STAGES][64 * TILE];
  unsigned long long full[STAGES], empty[STAGES];
};

__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned long long descriptor(const void* p) {
  return (unsigned long long)(at(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
__device__ void wait(unsigned long long* barrier, int parity) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(at(barrier)), "r"(parity) : "memory");
}
__device__ void copy(void* to, const CUtensorMap* map, int x, int y, unsigned long long* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to)), "l"(map), "r"(x), "r"(y), "r"(at(barrier)) : "memory");
}

#define R(k) "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3]), "+f"(d[k + 4]), "+f"(d[k + 5]), "+f"(d[k + 6]), "+f"(d[k + 7])
__device__ void product(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,"
               "%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
               : R(0), R(8), R(16), R(24) : "l"(a), "l"(b));
}

__device__ void produce(Shared& s, const CUtensorMap* A, const CUtensorMap* B, int top, int left, int steps) {
  for (int k = 0; k < steps; k++) {
    int stage = k % STAGES;
    wait(&s.empty[stage], k / STAGES % 2 ^ 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&s.full[stage])), "r"(192 * TILE * 2) : "memory");
    copy(s.a[stage], A, k * TILE, top, &s.full[stage]);
    copy(s.b[stage], B, k * TILE, left, &s.full[stage]);
  }
}

__device__ void leave(Shared& s, int stage) { // one thread of the warpgroup, as products are its own
  if (threadIdx.x % 128 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&s.empty[stage])) : "memory");
}

extern "C" __global__ __launch_bounds__(384) void gemm(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, float* C, int N, int K) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *(Shared*)memory;
  int group = threadIdx.x / 128, top = blockIdx.y * 128, left = blockIdx.x * 64, steps = K / TILE;
  if (threadIdx.x == 0) {
    for (int k = 0; k < STAGES; k++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&s.full[k])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at(&s.empty[k])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(s, &A, &B, top, left, steps);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[32] = {};
  for (int k = 0; k < steps; k++) {
    int stage = k % STAGES;
    wait(&s.full[stage], k / STAGES % 2);
    for (int e = 0; e < 32; e++) asm volatile("" : "+f"(d[e])::"memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 4; i++) product(d, descriptor(s.a[stage] + (group - 1) * 64 * TILE + i * 16), descriptor(s.b[stage] + i * 16));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    for (int e = 0; e < 32; e++) asm volatile("" : "+f"(d[e])::"memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (k > 0) leave(s, (k - 1) % STAGES);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int e = 0; e < 32; e++) asm volatile("" : "+f"(d[e])::"memory");
  int t = threadIdx.x % 128, row = top + (group - 1) * 64 + t / 32 * 16 + t % 32 / 4, column = left + t % 4 * 2;
  for (int e = 0; e < 32; e++) C[(row + e / 2 % 2 * 8) * N + column + e / 4 * 8 + e % 2] = d[e];
}

// The same, but a stage is given back before the product that reads it is complete.
template <bool waits> __device__ void give_back_early(const CUtensorMap& A, const CUtensorMap& B, float* C, int N, int K) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *(Shared*)memory;
  int group = threadIdx.x / 128, top = blockIdx.y * 128, left = blockIdx.x * 64, steps = K / TILE;
  if (threadIdx.x == 0) {
    for (int k = 0; k < STAGES; k++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&s.full[k])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at(&s.empty[k])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    if (threadIdx.x == 0) produce(s, &A, &B, top, left, steps);
    return;
  }
  float d[32] = {};
  for (int k = 0; k < steps; k++) {
    int stage = k % STAGES;
    wait(&s.full[stage], k / STAGES % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 4; i++) product(d, descriptor(s.a[stage] + (group - 1) * 64 * TILE + i * 16), descriptor(s.b[stage] + i * 16));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (waits) asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory"); // all four warps have begun
    leave(s, stage);
    if (waits) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int t = threadIdx.x % 128, row = top + (group - 1) * 64 + t / 32 * 16 + t % 32 / 4, column = left + t % 4 * 2;
  for (int e = 0; e < 32; e++) C[(row + e / 2 % 2 * 8) * N + column + e / 4 * 8 + e % 2] = d[e];
}
extern "C" __global__ __launch_bounds__(384) void early(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, float* C, int N, int K) {
  give_back_early<false>(A, B, C, N, K);
}
// It waits before it looks at the next stage, which is when copies arrive here: what it read has not changed by then.
extern "C" __global__ __launch_bounds__(384) void late_wait(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, float* C, int N, int K) {
  give_back_early<true>(A, B, C, N, K);
}
