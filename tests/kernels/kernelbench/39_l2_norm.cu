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

__global__ void l2_norm(float *y, const float *x, int n) {
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    float squares = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) squares += x[i] * x[i];
    float length = fmaxf(sqrtf(block_sum(squares)), 1e-12f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] / length;
}
