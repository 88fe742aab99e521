// Square matrix product, in tiles of shared memory.
#define TILE 16
__global__ void square_matmul(float *c, const float *a, const float *b, int n) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.f;
    for (int start = 0; start < n; start += TILE) {
        int i = start + threadIdx.x, j = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < n && i < n ? a[row * n + i] : 0.f;
        right[threadIdx.y][threadIdx.x] = j < n && column < n ? b[j * n + column] : 0.f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
