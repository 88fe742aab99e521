// y = A x, A sparse by rows, a warp per row, in double precision.
extern "C" __global__ void spmv_warp(const int *start, const int *col, const double *val, const double *__restrict__ x,
                                     double *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    double s = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        s += val[k] * __ldg(&x[col[k]]);
    for (int o = 16; o; o >>= 1)
        s += __shfl_down_sync(0xffffffffu, s, o);
    if (lane == 0)
        y[row] = s;
}
