// Along the middle dimension; one thread a result.
__global__ void min_over_dim(float *y, const float *x, int b, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= b * m) return;
    x += (size_t)(i / m) * n * m + i % m;
    float best = x[0];
    for (int k = 1; k < n; k++) best = fminf(best, x[k * m]);
    y[i] = best;
}
