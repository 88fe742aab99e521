// C = relu(A B + C) by wmma: every type, shape and layout of sm_90, through shared or global memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;

template <class Layout> constexpr bool by_row = false;
template <> constexpr bool by_row<row_major> = true;

template <int M, int N, int K, class Factor, class Piece, class Result, class LayoutA, class LayoutB>
__device__ void gemm(const Factor* A, const Factor* B, Result* C, int rows, int columns, int depth, bool by_rows) {
  int top = blockIdx.y * M, left = blockIdx.x * N;
  constexpr bool ra = by_row<LayoutA>, rb = by_row<LayoutB>;
  int la = ra ? depth : rows, lb = rb ? columns : depth;
  fragment<accumulator, M, N, K, Result> c;
  fragment<matrix_a, M, N, K, Piece, LayoutA> a;
  fragment<matrix_b, M, N, K, Piece, LayoutB> b;
  layout_t lc = by_rows ? mem_row_major : mem_col_major;
  int stride = by_rows ? columns : rows;
  Result* at = C + (by_rows ? top * columns + left : left * rows + top);
  load_matrix_sync(c, at, stride, lc);
  for (int k = 0; k < depth; k += K) {
    load_matrix_sync(a, A + (ra ? top * la + k : k * la + top), la);
    load_matrix_sync(b, B + (rb ? k * lb + left : left * lb + k), lb);
    mma_sync(c, a, b, c);
  }
  for (int e = 0; e < c.num_elements; e++) c.x[e] = c.x[e] > Result(0) ? c.x[e] : Result(0);
  store_matrix_sync(at, c, stride, lc);
}

#define KERNEL(name, M, N, K, factor, piece, result, la, lb, by_rows)                                       \
  extern "C" __global__ void name(const factor* A, const factor* B, result* C, int rows, int columns, int depth) { \
    gemm<M, N, K, factor, piece, result, la, lb>(A, B, C, rows, columns, depth, by_rows);                   \
  }
KERNEL(f16_16_16, 16, 16, 16, __half, __half, float, row_major, row_major, true)
KERNEL(f16_32_8, 32, 8, 16, __half, __half, float, col_major, col_major, true)
KERNEL(f16_8_32, 8, 32, 16, __half, __half, __half, row_major, col_major, false)
KERNEL(bf16_16_16, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, col_major, row_major, false)
KERNEL(s8_16_16, 16, 16, 16, signed char, signed char, int, row_major, col_major, true)
KERNEL(u8_8_32, 8, 32, 16, unsigned char, unsigned char, int, col_major, row_major, true)
KERNEL(tf32_16_16, 16, 16, 8, float, precision::tf32, float, row_major, col_major, true)
KERNEL(f64_8_8, 8, 8, 4, double, double, double, row_major, col_major, true)

// Operands in padded shared memory; half results are the floats' of the same element.
extern "C" __global__ void f16_shared(const __half* A, const __half* B, __half* C, int depth) {
  __shared__ alignas(32) __half a[16 * 24], b[16 * 24];
  fragment<accumulator, 16, 16, 16, float> c;
  fragment<accumulator, 16, 16, 16, __half> h;
  fill_fragment(c, 0.f);
  for (int k = 0; k < depth; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      a[i / 16 * 24 + i % 16] = A[i / 16 * depth + k + i % 16];
      b[i / 16 * 24 + i % 16] = B[i / 16 * depth + k + i % 16];
    }
    __syncwarp();
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    load_matrix_sync(fa, a, 24);
    load_matrix_sync(fb, b, 24);
    for (int e = 0; e < fa.num_elements; e++) fa.x[e] = fa.x[e] * __half(0.5f);
    mma_sync(c, fa, fb, c);
    __syncwarp();
  }
  for (int e = 0; e < c.num_elements; e++) h.x[e] = __half(c.x[e]);
  store_matrix_sync(C, h, 16, mem_row_major);
}
