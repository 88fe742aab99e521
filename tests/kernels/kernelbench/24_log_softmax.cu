#include <math.h>

// One block a row: its largest element, the sum of exponentials, then the elements.
__global__ void log_softmax(float *y, const float *x, int n) {
    __shared__ float partial[4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < n; i += blockDim.x) largest = fmaxf(largest, x[i]);
    for (int off = 16; off; off /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, off));
    if (lane == 0) partial[warp] = largest;
    __syncthreads();
    largest = fmaxf(fmaxf(partial[0], partial[1]), fmaxf(partial[2], partial[3]));
    __syncthreads();
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i] - largest);
    for (int off = 16; off; off /= 2) sum += __shfl_xor_sync(~0u, sum, off);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = partial[0] + partial[1] + partial[2] + partial[3];
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - largest - logf(sum);
}
