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

// One block a sample and group of channels, which lie side by side.
__global__ void group_norm(float *y, const float *x, const float *weight, const float *bias, int c, int hw, int groups, float eps) {
    int channels = c / groups, count = channels * hw, first = blockIdx.x % groups * channels;
    x += (size_t)blockIdx.x * count;
    y += (size_t)blockIdx.x * count;
    float sum = 0.f, squares = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += x[i];
    float mean = block_sum(sum) / count;
    for (int i = threadIdx.x; i < count; i += blockDim.x) squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(block_sum(squares) / count + eps);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        y[i] = (x[i] - mean) * scale * weight[first + i / hw] + bias[first + i / hw];
}
