// Row sums with cooperative groups: a tile of 32 or 8 threads per row.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <int TILE> __device__ void row_sums(const int *x, int *sum, int *most, int rows, int cols) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<TILE>(block);
    int row = blockIdx.x * (blockDim.x / TILE) + tile.meta_group_rank();
    if (row >= rows)
        return;
    int s = 0, m = -2147483647 - 1;
    for (int c = tile.thread_rank(); c < cols; c += TILE) {
        s += x[row * cols + c];
        m = max(m, x[row * cols + c]);
    }
    s = cg::reduce(tile, s, cg::plus<int>());
    m = cg::reduce(tile, m, cg::greater<int>());
    if (tile.thread_rank() == 0) {
        sum[row] = s;
        most[row] = m;
    }
}

extern "C" __global__ void row_sums_32(const int *x, int *sum, int *most, int rows, int cols) {
    row_sums<32>(x, sum, most, rows, cols);
}

extern "C" __global__ void row_sums_8(const int *x, int *sum, int *most, int rows, int cols) {
    row_sums<8>(x, sum, most, rows, cols);
}
