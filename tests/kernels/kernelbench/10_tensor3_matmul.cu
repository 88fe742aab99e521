// [batch, m, k] times one matrix: the rows of all batches are one matrix's.
__global__ void tensor3_matmul(float *c, const float *a, const float *b, int rows, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= n) return;
    float sum = 0.f;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
