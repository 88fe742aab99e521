// A batch of matrix products; the batch is the grid's z.
__global__ void batched_matmul(float *c, const float *a, const float *b, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    a += (size_t)blockIdx.z * m * k;
    b += (size_t)blockIdx.z * k * n;
    float sum = 0.f;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[((size_t)blockIdx.z * m + row) * n + column] = sum;
}
