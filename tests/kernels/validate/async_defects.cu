// Asynchronous copies and barriers used as they must not be.
#include <cuda.h>
typedef unsigned long long u64;

__device__ unsigned shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void bar_init(u64* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared(b)), "r"(n) : "memory"); }
__device__ void bar_expect(u64* b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared(b)), "r"(bytes) : "memory"); }
__device__ void bar_arrive(u64* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared(b)) : "memory"); }
__device__ void bar_wait(u64* b, int parity) {
  asm volatile("{ .reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra W;\nD: }" :: "r"(shared(b)), "r"(parity) : "memory");
}
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void load(void* to, const void* from, int bytes, u64* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(shared(to)), "l"(from), "r"(bytes), "r"(shared(b)) : "memory");
}
__device__ void store(void* to, const void* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(shared(from)), "r"(bytes) : "memory");
}
__device__ void finish() { asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory"); }

// bytes: what expect_tx says (0: plain arrive); parity: what is waited for; init: whether the barrier is.
template <int BYTES, int PARITY, bool INIT> __device__ void copy(const int* x, int* y) {
  __shared__ alignas(128) int s[64];
  __shared__ alignas(8) u64 bar;
  if (threadIdx.x == 0) {
    if (INIT) bar_init(&bar, 1);
    fence_async();
    if (BYTES) bar_expect(&bar, BYTES); else bar_arrive(&bar);
    load(s, x, 256, &bar);
  }
  __syncthreads();
  bar_wait(&bar, PARITY);
  y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void no_expect(const int* x, int* y) { copy<0, 0, true>(x, y); }
extern "C" __global__ void too_many_bytes(const int* x, int* y) { copy<512, 0, true>(x, y); }
extern "C" __global__ void too_few_bytes(const int* x, int* y) { copy<128, 0, true>(x, y); }
extern "C" __global__ void wrong_parity(const int* x, int* y) { copy<256, 1, true>(x, y); }
extern "C" __global__ void no_init(const int* x, int* y) { copy<256, 0, false>(x, y); }

extern "C" __global__ void store_not_waited(const int* x, int* y) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) store(y, s, 256);
}
extern "C" __global__ void store_committed(const int* x, int* y) { // as DeepGEMM's kernels end
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(y, s, 256);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}
extern "C" __global__ void no_proxy_fence(const int* x, int* y) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) { store(y, s, 256); finish(); }
}
extern "C" __global__ void fence_of_one(const int* x, int* y) { // which orders only what it wrote itself
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x == 0) fence_async();
  __syncthreads();
  if (threadIdx.x == 0) { store(y, s, 256); finish(); }
}
extern "C" __global__ void reused_too_early(const int* x, int* y) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) store(y, s, 256);
  __syncthreads();
  s[threadIdx.x] = -1;
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) finish();
}
extern "C" __global__ void odd_bytes(const int* x, int* y) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) { store(y, s, 250); finish(); }
}
extern "C" __global__ void no_tensor_map(const int* x, int* y) {
  __shared__ alignas(128) int s[64];
  __shared__ alignas(8) u64 bar;
  if (threadIdx.x == 0) {
    bar_init(&bar, 1);
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" :: "r"(shared(s)), "l"(x), "r"(0), "r"(shared(&bar)) : "memory");
  }
  y[threadIdx.x] = 0;
}
__device__ unsigned cluster_rank() { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ void cluster_sync() { asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); }
__device__ unsigned mapa(unsigned at, unsigned rank) { unsigned r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(at), "r"(rank)); return r; }
extern "C" __global__ void __cluster_dims__(2, 1, 1) no_last_sync(const int* x, int* y) { // block 1 may be gone
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  cluster_sync();
  if (cluster_rank() == 0) {
    int v;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(mapa(shared(&s[threadIdx.x]), 1)) : "memory");
    y[threadIdx.x] = v;
  }
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) not_yet_initialised(const int* x, int* y) { // block 0's is, block 1's may not be
  __shared__ alignas(8) u64 bar;
  if (threadIdx.x == 0) bar_init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0 && cluster_rank() == 1)
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(mapa(shared(&bar), 0)) : "memory");
  if (cluster_rank() == 0) { bar_wait(&bar, 0); y[threadIdx.x] = x[threadIdx.x]; }
  cluster_sync();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) exited_block(const int* x, int* y) {
  __shared__ int s[64];
  unsigned rank, at;
  int v;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  s[threadIdx.x] = x[threadIdx.x];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 1) return;
  for (int i = 0; i < 1500; i++) ((volatile int*)y)[threadIdx.x] = i;
  __syncthreads();
  asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(at) : "r"(shared(&s[threadIdx.x])));
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  y[threadIdx.x] = v;
}

// As in async_copies.cu, but a producer leaves while the other block still tells it what was read.
extern "C" __global__ void __cluster_dims__(2, 1, 1) ring_without_tail(const int* x, int* y) {
  const int rows = 5;
  constexpr int S = 3;
  __shared__ alignas(128) int stage[S][64];
  __shared__ alignas(8) u64 full[S];
  __shared__ alignas(8) u64 empty[S];
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    for (int s = 0; s < S; s++) { bar_init(&full[s], 1); bar_init(&empty[s], 2); }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 32) {
    for (int k = 0; k < rows; k++) {
      int s = k % S;
      bar_wait(&empty[s], k / S & 1 ^ 1);
      bar_expect(&full[s], 256);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                   :: "r"(shared(&stage[s][rank * 32])), "l"(x + rank * 32), "r"(128), "r"(shared(&full[s])), "h"((short)3) : "memory");
    }
  } else if (threadIdx.x < 32) {
    int sum = 0;
    for (int k = 0; k < rows; k++) {
      bar_wait(&full[k % S], k / S & 1);
      sum += stage[k % S][threadIdx.x];
      __syncwarp();
      if (threadIdx.x < 2)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(mapa(shared(&empty[k % S]), threadIdx.x)) : "memory");
    }
    y[blockIdx.x * 32 + threadIdx.x] = sum;
  }
}

// One phase and two copies, of which it knows one: what is read of the other may have come or not.
extern "C" __global__ void one_of_two_announced(const int* x, int* y) {
  __shared__ alignas(128) int s[64];
  __shared__ alignas(8) u64 bar;
  if (threadIdx.x == 0) bar_init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    bar_expect(&bar, 128);
    load(s, x, 128, &bar);
    load(s + 32, x + 32, 128, &bar);
  }
  bar_wait(&bar, 0);
  y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) store_not_announced(const int* x, int* y) {
  __shared__ alignas(16) int s[64];
  __shared__ alignas(8) u64 bar;
  if (threadIdx.x == 0) { bar_init(&bar, 1); bar_expect(&bar, 4 * 32); }
  cluster_sync();
  if (cluster_rank() == 1) // 64 threads, of which expect_tx knew half
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];"
                 :: "r"(mapa(shared(&s[threadIdx.x]), 0)), "r"(x[threadIdx.x]), "r"(mapa(shared(&bar), 0)) : "memory");
  if (cluster_rank() == 0) { bar_wait(&bar, 0); y[threadIdx.x] = s[threadIdx.x]; }
  cluster_sync();
}
