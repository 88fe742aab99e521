__global__ void diagonal_matmul(float *c, const float *d, const float *b, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * m) c[i] = d[i / m] * b[i];
}
