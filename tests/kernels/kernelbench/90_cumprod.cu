// One thread a row.
__global__ void cumprod(float *y, const float *x, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    size_t at = (size_t)row * n;
    float run = 1.f;
    for (int i = 0; i < n; i++) {
        run *= x[at + i];
        y[at + i] = run;
    }
}
