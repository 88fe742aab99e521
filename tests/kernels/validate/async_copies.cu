// What Hopper copies on its own: TMA, mbarriers, bulk copies, clusters. Parameters without a name are the
// buffers that tensor maps stand for: a check spec passes every buffer.
#include <cuda.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef unsigned long long u64;

__device__ unsigned shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void bar_init(u64* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared(b)), "r"(n) : "memory"); }
__device__ void bar_expect(u64* b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared(b)), "r"(bytes) : "memory"); }
__device__ void bar_arrive(u64* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared(b)) : "memory"); }
__device__ void bar_wait(u64* b, int parity) {
  asm volatile("{ .reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra W;\nD: }" :: "r"(shared(b)), "r"(parity) : "memory");
}
__device__ void bars_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void load_2d(void* to, const CUtensorMap* m, int x, int y, u64* b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(shared(to)), "l"(m), "r"(x), "r"(y), "r"(shared(b)) : "memory");
}
__device__ void store_2d(const CUtensorMap* m, int x, int y, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(m), "r"(x), "r"(y), "r"(shared(from)) : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(N) : "memory"); }

// C = A B^T, tiles of 32 x 32 by 32 through a ring of S stages: warp 4 loads, warps 0 to 3 compute.
extern "C" __global__ void __launch_bounds__(160) tma_gemm(const float*, const float*, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int n, int k) {
  constexpr int S = 3;
  __shared__ alignas(1024) float as[S][32 * 32];
  __shared__ alignas(1024) float bs[S][32 * 32];
  __shared__ alignas(8) u64 full[S], empty[S];
  int warp = threadIdx.x / 32, steps = k / 32, row = blockIdx.y * 32, col = blockIdx.x * 32;
  if (threadIdx.x == 0) { for (int s = 0; s < S; s++) { bar_init(&full[s], 1); bar_init(&empty[s], 128); } bars_ready(); fence_async(); }
  __syncthreads();
  if (warp == 4) {
    if (threadIdx.x == 128)
      for (int t = 0; t < steps; t++) {
        int s = t % S;
        if (t >= S) bar_wait(&empty[s], (t / S - 1) & 1);
        bar_expect(&full[s], 2 * 32 * 32 * 4);
        load_2d(as[s], &a, t * 32, row, &full[s]);
        load_2d(bs[s], &b, t * 32, col, &full[s]);
      }
    return;
  }
  float sum[8] = {};
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (int t = 0; t < steps; t++) {
    int s = t % S;
    bar_wait(&full[s], t / S & 1);
    for (int i = 0; i < 32; i++) {
      float q = bs[s][x * 32 + (i ^ (x & 7) << 2)];          // swizzle 128B: 16-byte pieces, by line
      for (int j = 0; j < 8; j++) sum[j] += as[s][(y * 8 + j) * 32 + i] * q;
    }
    bar_arrive(&empty[s]);
  }
  for (int j = 0; j < 8; j++) c[(row + y * 8 + j) * n + col + x] = sum[j];
}

// out = in^T, tiles of 32 x 32 floats, swizzled in shared memory on both ways; no bank conflicts.
extern "C" __global__ void swizzled_transpose(const float*, float*, const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  __shared__ alignas(1024) float from[32 * 32], to[32 * 32];
  __shared__ alignas(8) u64 bar;
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  if (threadIdx.x == 0) { bar_init(&bar, 1); fence_async(); }
  __syncthreads();
  if (threadIdx.x == 0) { bar_expect(&bar, sizeof from); load_2d(from, &in, blockIdx.x * 32, blockIdx.y * 32, &bar); }
  bar_wait(&bar, 0);
  for (int r = y; r < 32; r += blockDim.x / 32)
    to[x * 32 + (r ^ (x & 7) << 2)] = from[r * 32 + (x ^ (r & 7) << 2)];
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) { store_2d(&out, blockIdx.y * 32, blockIdx.x * 32, to); commit(); wait_read<0>(); }
}

// A box that hangs over the edge: zeros come in, nothing goes out there. Two parts of it are added.
extern "C" __global__ void edge_box(const float*, float*, const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, float* seen, int x, int y) {
  __shared__ alignas(128) float tile[8 * 16];
  __shared__ alignas(8) u64 bar;
  if (threadIdx.x == 0) { bar_init(&bar, 1); fence_async(); bar_expect(&bar, sizeof tile); load_2d(tile, &in, x, y, &bar); }
  __syncthreads();
  bar_wait(&bar, 0);
  seen[threadIdx.x] = tile[threadIdx.x];
  fence_async();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&out), "r"(x), "r"(y), "r"(shared(tile)) : "memory");
    commit();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// Histogram by bulk reduction: each block counts in shared memory, one copy adds it.
extern "C" __global__ void bulk_histogram(const int* x, int n, int* counts) {
  __shared__ alignas(16) int bins[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1);
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" :: "l"(counts), "r"(shared(bins)), "r"(256) : "memory");
    commit();
    wait_read<0>();
  }
}

// The sum of a cluster's part, through the shared memory of its first block.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const float* x, float* sums, int n) {
  __shared__ float part[4], mine;
  cg::cluster_group cluster = cg::this_cluster();
  int rank = cluster.block_rank();
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(&mine, s);
  __syncthreads();
  cluster.sync();
  if (threadIdx.x == 0) cluster.map_shared_rank(part, 0)[rank] = mine;
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) sums[blockIdx.x / 4] = part[0] + part[1] + part[2] + part[3];
}

// Every block reads a quarter of a tile and sends it to all four: y[b] = the whole tile times b + 1.
extern "C" __global__ void __cluster_dims__(4, 1, 1) multicast(const float*, const __grid_constant__ CUtensorMap x, float* y) {
  __shared__ alignas(128) float tile[16 * 32];
  __shared__ alignas(8) u64 bar;
  cg::cluster_group cluster = cg::this_cluster();
  int rank = cluster.block_rank();
  if (threadIdx.x == 0) { bar_init(&bar, 1); bars_ready(); bar_expect(&bar, sizeof tile); }
  cluster.sync();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(shared(tile + rank * 4 * 32)), "l"(&x), "r"(0), "r"((int)(blockIdx.x / 4 * 16 + rank * 4)), "r"(shared(&bar)), "h"((unsigned short)15) : "memory");
  bar_wait(&bar, 0);
  for (int i = threadIdx.x; i < 512; i += blockDim.x) y[blockIdx.x * 512 + i] = tile[i] * (rank + 1);
  cluster.sync();
}

// A ring through the cluster: each block gives its values to the next one with st.async.
extern "C" __global__ void __cluster_dims__(2, 2, 1) ring(int* y) {
  __shared__ alignas(16) int got[64];
  __shared__ alignas(8) u64 bar;
  unsigned rank = cg::this_cluster().block_rank(), next = (rank + 1) % 4, to, at;
  if (threadIdx.x == 0) { bar_init(&bar, 1); bars_ready(); bar_expect(&bar, sizeof got); }
  cg::this_cluster().sync();
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared(&got[threadIdx.x])), "r"(next));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared(&bar)), "r"(next));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" :: "r"(to), "r"((int)(rank * 1000 + threadIdx.x)), "r"(at) : "memory");
  bar_wait(&bar, 0);
  y[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x] = got[threadIdx.x];
  cg::this_cluster().sync();
}

// Groups of rows, each by a map of its own that its block makes of the host's: column sums. What is behind a group's
// last row is outside of its tensor, and 0.
__device__ void replace(CUtensorMap* m, const float* rows, int count) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" :: "r"(shared(m)), "l"(rows) : "memory");
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" :: "r"(shared(m)), "r"(count) : "memory");
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" :: "r"(shared(m)), "l"(64ull) : "memory");
}
extern "C" __global__ void grouped(const float* x, const __grid_constant__ CUtensorMap pattern, CUtensorMap* maps, const int* first, float* sums) {
  __shared__ alignas(128) float tile[8 * 16];
  __shared__ alignas(128) CUtensorMap map;
  __shared__ alignas(8) u64 bar;
  CUtensorMap* own = maps + blockIdx.x;
  int begin = first[blockIdx.x], count = first[blockIdx.x + 1] - begin;
  ((int*)&map)[threadIdx.x] = ((const int*)&pattern)[threadIdx.x];
  if (threadIdx.x == 0) bar_init(&bar, 1);
  __syncwarp();
  if (threadIdx.x == 0) replace(&map, x + begin * 16, count);
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" :: "l"(own), "r"(shared(&map)) : "memory");
  float s = 0;
  for (int row = 0; row < count; row += 8) {
    if (threadIdx.x == 0) {
      if (row == 0) asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(own) : "memory");
      bar_expect(&bar, sizeof tile);
      load_2d(tile, own, 0, row, &bar);
    }
    bar_wait(&bar, row / 8 & 1);
    for (int k = 0; k < 8; k++) s += tile[k * 16 + threadIdx.x % 16];
    __syncwarp();
  }
  if (threadIdx.x < 16) sums[blockIdx.x * 16 + threadIdx.x] = s;
}

// A ring of stages that both blocks of a cluster fill: each sends its half of a row to both. Who has read a stage
// tells both producers, and a producer leaves when all of that has come.
__device__ unsigned other(const void* p, unsigned rank) {
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared(p)), "r"(rank));
  return at;
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) multicast_ring(const int* x, int* y, int rows) {
  constexpr int S = 3;
  __shared__ alignas(128) int stage[S][128];
  __shared__ alignas(8) u64 full[S];
  __shared__ alignas(8) u64 empty[S];
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    for (int s = 0; s < S; s++) { bar_init(&full[s], 1); bar_init(&empty[s], 2); }
    bars_ready();
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 128) {
    for (int k = 0; k < rows; k++) {
      int s = k % S;
      bar_wait(&empty[s], k / S & 1 ^ 1);
      bar_expect(&full[s], 512);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                   :: "r"(shared(&stage[s][rank * 64])), "l"(x + k * 128 + rank * 64), "r"(256), "r"(shared(&full[s])), "h"((short)3) : "memory");
    }
    for (int k = rows; k < rows + S; k++) bar_wait(&empty[k % S], k / S & 1 ^ 1);
  } else if (threadIdx.x < 128) {
    int sum = 0;
    for (int k = 0; k < rows; k++) {
      bar_wait(&full[k % S], k / S & 1);
      sum += stage[k % S][threadIdx.x] * (int)(rank + 1);
      asm volatile("bar.sync 1, 128;" ::: "memory");
      if (threadIdx.x < 2)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(other(&empty[k % S], threadIdx.x)) : "memory");
    }
    y[blockIdx.x * 128 + threadIdx.x] = sum;
  }
}

// As CUTLASS's epilogues store: every lane of a warp issues the same copy, and waits for it.
extern "C" __global__ void warp_store(float* y, float*, const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) float tile[8 * 32];
  for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) tile[i] = blockIdx.x * 1000 + i;
  fence_async();
  __syncthreads();
  if (threadIdx.x / 32 == 1) {
    store_2d(&map, 0, blockIdx.x * 8, tile);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(y + blockIdx.x * 8 * 32), "r"(shared(tile)), "r"(8 * 32 * 4) : "memory");
    commit();
    wait_read<0>();
  }
}

// Parameters that are made by a kernel, with a tensor map inside, and taken by value by the next.
struct Plan {
  CUtensorMap map;
  int column;
  float scale;
};
extern "C" __global__ void prepare(Plan* to, float scale, int column, const __grid_constant__ CUtensorMap map) {
  Plan p = {map, column, scale};
  *to = p;
}
extern "C" __global__ void planned(float* y, const __grid_constant__ Plan p, int n) {
  __shared__ alignas(128) float tile[8 * 16];
  __shared__ alignas(8) u64 bar;
  if (threadIdx.x == 0) { bar_init(&bar, 1); fence_async(); bar_expect(&bar, 8 * 16 * 4); load_2d(tile, &p.map, p.column, 0, &bar); }
  __syncthreads();
  bar_wait(&bar, 0);
  if (threadIdx.x < n) y[threadIdx.x] = p.scale * tile[threadIdx.x];
}
