// One warp a row; its lanes' sums meet by shuffles.
__global__ void matrix_vector(float *y, const float *a, const float *x, int m, int k) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    float sum = 0.f;
    for (int i = lane; i < k; i += 32) sum += a[row * k + i] * x[i];
    for (int off = 16; off; off /= 2) sum += __shfl_down_sync(0xffffffffu, sum, off);
    if (lane == 0) y[row] = sum;
}
