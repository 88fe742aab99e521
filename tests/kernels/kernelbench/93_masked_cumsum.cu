// One thread a row.
__global__ void masked_cumsum(float *y, const float *x, const bool *mask, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    size_t at = (size_t)row * n;
    float run = 0.f;
    for (int i = 0; i < n; i++) {
        if (mask[at + i]) run += x[at + i];
        y[at + i] = run;
    }
}
