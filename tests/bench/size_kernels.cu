/* Plain kernels for bench_sizes.py. */
extern "C" __global__ void relu(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
extern "C" __global__ void add(const float *a, const float *b, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}
__device__ float sum_all(float v, float *part) {
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0;
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    return v;
}
__device__ float max_all(float v, float *part) {
    for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : part[0];
    for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
    return v;
}
extern "C" __global__ void softmax(const float *x, float *y, int cols) {
    __shared__ float part[32];
    const float *row = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols, m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
    m = max_all(m, part);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += __expf(row[i] - m);
    s = 1 / sum_all(s, part);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) out[i] = __expf(row[i] - m) * s;
}
extern "C" __global__ void layernorm(const float *x, const float *w, const float *b, float *y, int cols) {
    __shared__ float part[32];
    const float *row = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols, s = 0, q = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += row[i];
    float mean = sum_all(s, part) / cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) q += (row[i] - mean) * (row[i] - mean);
    float r = rsqrtf(sum_all(q, part) / cols + 1e-5f);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) out[i] = (row[i] - mean) * r * w[i] + b[i];
}

#define T 32
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float s = 0;
    for (int t = 0; t < n; t += T) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; k++) s += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = s;
}

#define D 64
extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *o, int s) {
    __shared__ float ks[32][D], vs[32][D];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t head = (size_t)blockIdx.y * s * D;
    float qr[D], acc[D], m = -INFINITY, l = 0;
    for (int d = 0; d < D; d++) { qr[d] = q[head + (size_t)i * D + d] * 0.125f; acc[d] = 0; }
    for (int t = 0; t < s; t += 32) {
        __syncthreads();
        for (int e = threadIdx.x; e < 32 * D; e += blockDim.x) {
            ks[e / D][e % D] = k[head + (size_t)t * D + e];
            vs[e / D][e % D] = v[head + (size_t)t * D + e];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float x = 0;
            for (int d = 0; d < D; d++) x += qr[d] * ks[j][d];
            float mn = fmaxf(m, x), c = __expf(m - mn), p = __expf(x - mn);
            l = l * c + p;
            for (int d = 0; d < D; d++) acc[d] = acc[d] * c + p * vs[j][d];
            m = mn;
        }
    }
    for (int d = 0; d < D; d++) o[head + (size_t)i * D + d] = acc[d] / l;
}
