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

// One block; the mean of all.
__global__ void triplet_margin_loss(float *y, const float *a, const float *p, const float *q, int rows, int n, float margin) {
    float sum = 0.f;
    for (int i = threadIdx.x; i < rows; i += blockDim.x) {
        float near = 0.f, far = 0.f;
        for (int k = 0; k < n; k++) {
            float d = a[i * n + k] - p[i * n + k] + 1e-6f, e = a[i * n + k] - q[i * n + k] + 1e-6f;
            near += d * d;
            far += e * e;
        }
        sum += fmaxf(sqrtf(near) - sqrtf(far) + margin, 0.f);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) y[0] = sum / rows;
}
