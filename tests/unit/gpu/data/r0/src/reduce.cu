#include <cub/block/block_reduce.cuh>
struct NotANumber {};
__global__ void k(int *x) {
    using R = cub::BlockReduce<NotANumber, 128>;
    __shared__ typename R::TempStorage s;
    NotANumber n;
    R(s).Sum(n);
}
