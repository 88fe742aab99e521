// b comes transposed.
__global__ void transposed_b_matmul(float *c, const float *a, const float *b, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.f;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[column * k + i];
    c[row * n + column] = sum;
}
