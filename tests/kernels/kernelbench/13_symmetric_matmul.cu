// a a^T is symmetric: only the upper half is computed, the lower is its mirror.
__global__ void symmetric_matmul(float *c, const float *a, int n, int k) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int row = at / n, column = at % n;
    if (at >= n * n || column < row) return;
    float sum = 0.f;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * a[column * k + i];
    c[row * n + column] = sum;
    c[column * n + row] = sum;
}
