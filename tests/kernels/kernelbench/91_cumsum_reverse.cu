// One thread a row.
__global__ void cumsum_reverse(float *y, const float *x, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    size_t at = (size_t)row * n;
    float run = 0.f;
    for (int i = n - 1; i >= 0; i--) {
        run += x[at + i];
        y[at + i] = run;
    }
}
