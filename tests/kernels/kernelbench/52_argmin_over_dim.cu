// Along the middle dimension; one thread a result.
__global__ void argmin_over_dim(long long *y, const float *x, int b, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= b * m) return;
    x += (size_t)(i / m) * n * m + i % m;
    float best = x[0];
    int place = 0;
    for (int k = 1; k < n; k++) {
        if (x[k * m] < best) {
            best = x[k * m];
            place = k;
        }
    }
    y[i] = place;
}
