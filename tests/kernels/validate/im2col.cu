// Tensor copies in im2col mode. Parameters without a name are the buffers that tensor maps stand for.
#include <cuda.h>
#include <cuda_fp16.h>
typedef unsigned long long u64;

__device__ unsigned shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void bar_begin(u64* b) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(b)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
}
__device__ void bar_expect(u64* b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared(b)), "r"(bytes) : "memory"); }
__device__ void bar_wait(u64* b, int parity) {
  asm volatile("{ .reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra W;\nD: }" :: "r"(shared(b)), "r"(parity) : "memory");
}
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void stored() { asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); }

struct place { int at[5]; unsigned short offset[3]; };  // [0] is the channel's; offsets from the width's on
#define IM2COL(n) "cp.async.bulk.tensor." n ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
template <int RANK> __device__ void load(void* to, const CUtensorMap* m, const place& p, u64* b) {
  if constexpr (RANK == 3)
    asm volatile(IM2COL("3d") "[%0], [%1, {%2, %3, %4}], [%5], {%6};" :: "r"(shared(to)), "l"(m), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]),
                 "r"(shared(b)), "h"(p.offset[0]) : "memory");
  else if constexpr (RANK == 4)
    asm volatile(IM2COL("4d") "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" :: "r"(shared(to)), "l"(m), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]),
                 "r"(p.at[3]), "r"(shared(b)), "h"(p.offset[0]), "h"(p.offset[1]) : "memory");
  else
    asm volatile(IM2COL("5d") "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" :: "r"(shared(to)), "l"(m), "r"(p.at[0]), "r"(p.at[1]),
                 "r"(p.at[2]), "r"(p.at[3]), "r"(p.at[4]), "r"(shared(b)), "h"(p.offset[0]), "h"(p.offset[1]), "h"(p.offset[2]) : "memory");
}

// What one copy brings, as it lies in shared memory; -1 for a NaN.
template <int RANK> __device__ void show(const CUtensorMap* m, float* out, const place& p, int count) {
  __shared__ alignas(1024) float tile[4096];
  __shared__ alignas(8) u64 bar;
  bar_begin(&bar);
  if (threadIdx.x == 0) { bar_expect(&bar, count * 4); load<RANK>(tile, m, p, &bar); }
  bar_wait(&bar, 0);
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = tile[i] == tile[i] ? tile[i] : -1;
}
extern "C" __global__ void pixels3(const float*, const __grid_constant__ CUtensorMap m, float* out, place p, int count) { show<3>(&m, out, p, count); }
extern "C" __global__ void pixels4(const float*, const __grid_constant__ CUtensorMap m, float* out, place p, int count) {
  asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%0, {%1, %2, %3, %4}], {%5, %6};" :: "l"(&m), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]),
               "r"(p.at[3]), "h"(p.offset[0]), "h"(p.offset[1]) : "memory");
  show<4>(&m, out, p, count);
}
extern "C" __global__ void pixels5(const float*, const __grid_constant__ CUtensorMap m, float* out, place p, int count) { show<5>(&m, out, p, count); }

// 1, 2, 3, … go out to the pixels of a map; once more they are added.
extern "C" __global__ void scatter(int*, const __grid_constant__ CUtensorMap m, place p, int count, int add) {
  __shared__ alignas(128) int tile[2048];
  for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = i + 1;
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%1, %2, %3, %4}], [%5];" :: "l"(&m), "r"(p.at[0]), "r"(p.at[1]),
                 "r"(p.at[2]), "r"(p.at[3]), "r"(shared(tile)) : "memory");
    stored();
    if (add)
      asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%0, {%1, %2, %3, %4}], [%5];" :: "l"(&m), "r"(p.at[0]),
                   "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3]), "r"(shared(tile)) : "memory");
    stored();
  }
}

// Both blocks of a cluster get the same pixels.
extern "C" __global__ void __cluster_dims__(2) both(const float*, const __grid_constant__ CUtensorMap m, float* out, place p, int count) {
  __shared__ alignas(128) float tile[1024];
  __shared__ alignas(8) u64 bar;
  bar_begin(&bar);
  if (threadIdx.x == 0) bar_expect(&bar, count * 4);
  asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x % 2 == 0)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;"
                 :: "r"(shared(tile)), "l"(&m), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3]), "r"(shared(&bar)), "h"(p.offset[0]), "h"(p.offset[1]),
                 "h"((unsigned short)3) : "memory");
  bar_wait(&bar, 0);
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[blockIdx.x * count + i] = tile[i];
  asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}

// Convolution of [n, h, w, ci] with [co, r, s, ci] as a product of matrices: 64 places of the filter by 64 channels out,
// 64 channels in at a time; the pixels of every filter element come in im2col mode, swizzled for wgmma.
__device__ u64 matrix(const void* p) { return (u64)(shared(p) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__device__ void product(float (&d)[32], u64 a, u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
               "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                 "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
                 "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(a), "l"(b));
}
struct shape { int h, w, ci, co, r, s, stride, pad, dilation, p, q, places; };  // p x q places of the filter in an image
extern "C" __global__ void __launch_bounds__(128) conv(const __half*, const __half*, const __grid_constant__ CUtensorMap xs, const __grid_constant__ CUtensorMap ws,
                                                       float* y, shape g) {
  __shared__ alignas(1024) __half a[64 * 64];
  __shared__ alignas(1024) __half b[64 * 64];
  __shared__ alignas(8) u64 bar;
  bar_begin(&bar);
  int first = blockIdx.x * 64, phase = 0;
  place at = {{0, first % g.q * g.stride - g.pad, first / g.q % g.p * g.stride - g.pad, first / (g.p * g.q), 0}, {0, 0, 0}};
  float d[32] = {};
  for (int r = 0; r < g.r; r++)
    for (int s = 0; s < g.s; s++)
      for (int c = 0; c < g.ci; c += 64) {
        if (threadIdx.x == 0) {
          bar_expect(&bar, 2 * 64 * 64 * 2);
          at.at[0] = c;
          at.offset[0] = (unsigned short)(s * g.dilation);
          at.offset[1] = (unsigned short)(r * g.dilation);
          load<4>(a, &xs, at, &bar);
          asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                       :: "r"(shared(b)), "l"(&ws), "r"((r * g.s + s) * g.ci + c), "r"(blockIdx.y * 64), "r"(shared(&bar)) : "memory");
        }
        bar_wait(&bar, phase);
        phase ^= 1;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < 4; k++) product(d, matrix(a) + 2 * k, matrix(b) + 2 * k);
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
      }
  for (int j = 0; j < 32; j++) {
    int row = first + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + j / 2 % 2 * 8, column = blockIdx.y * 64 + j / 4 * 8 + threadIdx.x % 4 * 2 + j % 2;
    if (row < g.places && column < g.co) y[row * g.co + column] = d[j];
  }
}
