// Softmax of a row in dynamic shared memory beside static partial results.
extern "C" __global__ void softmax_rows(const float *x, float *y, int cols) {
    extern __shared__ float row[];
    __shared__ float part[32];
    const float *from = x + (size_t)blockIdx.x * cols;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    float m = -3.402823466e38f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        row[c] = from[c];
        m = fmaxf(m, row[c]);
    }
    for (int o = 16; o; o >>= 1)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (lane == 0)
        part[warp] = m;
    __syncthreads();
    for (int w = 0; w < warps; w++)
        m = fmaxf(m, part[w]);
    __syncthreads();
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        row[c] = expf(row[c] - m);
        s += row[c];
    }
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0)
        part[warp] = s;
    __syncthreads();
    s = 0;
    for (int w = 0; w < warps; w++)
        s += part[w];
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[(size_t)blockIdx.x * cols + c] = row[c] / s;
}
