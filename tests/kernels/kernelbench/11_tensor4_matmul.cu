// einsum bijl, lk -> bijk
__global__ void tensor4_matmul(float *c, const float *a, const float *b, int rows, int n, int k) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= rows * n) return;
    int row = at / n, column = at % n;
    float sum = 0.f;
    for (int i = 0; i < k; i++) sum = fmaf(a[row * k + i], b[i * n + column], sum);
    c[at] = sum;
}
