__device__ float block_sum(float v) {
    __shared__ float partial[4], total;
    for (int off = 16; off; off /= 2) v += __shfl_down_sync(~0u, v, off);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) total = partial[0] + partial[1] + partial[2] + partial[3];
    __syncthreads();
    float ret = total;
    __syncthreads();
    return ret;
}

// One block a channel, over all samples and places (training).
__global__ void batch_norm(float *y, const float *x, const float *weight, const float *bias, int n, int c, int hw, float eps) {
    int channel = blockIdx.x, count = n * hw;
    float sum = 0.f, squares = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += x[(i / hw * c + channel) * hw + i % hw];
    float mean = block_sum(sum) / count;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float d = x[(i / hw * c + channel) * hw + i % hw] - mean;
        squares += d * d;
    }
    float scale = weight[channel] * rsqrtf(block_sum(squares) / count + eps);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int at = (i / hw * c + channel) * hw + i % hw;
        y[at] = (x[at] - mean) * scale + bias[channel];
    }
}
