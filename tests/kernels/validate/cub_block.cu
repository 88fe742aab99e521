// cub inside a block: reduction, inclusive scan, warp reduction.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

extern "C" __global__ void block_sums(const int *x, int *sums, int n) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage temp;
    int i = blockIdx.x * 128 + threadIdx.x;
    int total = Reduce(temp).Sum(i < n ? x[i] : 0);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

extern "C" __global__ void block_scan(const int *x, int *y, int n) {
    using Scan = cub::BlockScan<int, 64>;
    __shared__ typename Scan::TempStorage temp;
    int carry = 0;
    for (int base = 0; base < n; base += 64) {
        int i = base + threadIdx.x, v = i < n ? x[i] : 0, total;
        Scan(temp).InclusiveSum(v, v, total);
        if (i < n)
            y[i] = v + carry;
        carry += total;
        __syncthreads();
    }
}

extern "C" __global__ void warp_sums(const int *x, int *sums, int n) {
    using Reduce = cub::WarpReduce<int>;
    __shared__ typename Reduce::TempStorage temp[4];
    int i = blockIdx.x * 128 + threadIdx.x, warp = threadIdx.x / 32;
    int total = Reduce(temp[warp]).Sum(i < n ? x[i] : 0);
    if (threadIdx.x % 32 == 0 && i < n)
        sums[i / 32] = total;
}
