// Gradients of LayerNorm: of the input by row, of gain and bias over all rows.
__device__ float block_sum(float v, float *part) {
    for (int o = 16; o; o >>= 1)
        v += __shfl_down_sync(~0u, v, o);
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x >> 5] = v;
    __syncthreads();
    v = 0;
    for (int w = 0; w < blockDim.x >> 5; w++)
        v += part[w];
    __syncthreads();
    return v;
}

extern "C" __global__ void layernorm_backward(const float *dy, const float *x, const float *gain, float *dx,
                                              float *dgain, float *dbias, int cols, float eps) {
    __shared__ float part[32];
    const float *row = x + (size_t)blockIdx.x * cols, *drow = dy + (size_t)blockIdx.x * cols;
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        s += row[c];
    float mean = block_sum(s, part) / cols;
    s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        s += (row[c] - mean) * (row[c] - mean);
    float rstd = 1.f / sqrtf(block_sum(s, part) / cols + eps);
    float a = 0, b = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float g = drow[c] * gain[c], h = (row[c] - mean) * rstd;
        a += g;
        b += g * h;
        atomicAdd(&dgain[c], drow[c] * h);
        atomicAdd(&dbias[c], drow[c]);
    }
    a = block_sum(a, part) / cols;
    b = block_sum(b, part) / cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float g = drow[c] * gain[c], h = (row[c] - mean) * rstd;
        dx[(size_t)blockIdx.x * cols + c] = (g - a - h * b) * rstd;
    }
}
