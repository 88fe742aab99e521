// Both factors are read as triangular: what lies on the other side counts as 0.
__global__ void lower_triangular_matmul(float *c, const float *a, const float *b, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * n) return;
    int row = at / n, column = at % n;
    float sum = 0.f;
    if (column <= row)
        for (int i = column; i < row + 1; i++) sum += a[row * n + i] * b[i * n + column];
    c[at] = sum;
}
