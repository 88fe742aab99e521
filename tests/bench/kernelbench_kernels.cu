// Plain kernels for bench_kernelbench.py where those of tests/kernels/kernelbench are made for small sizes alone: one
// block sums a billion terms there, in float, which loses most of them.

// Of a block's 256 threads, in thread 0.
__device__ float block_sum(float x) {
    __shared__ float warps[8];
    for (int d = 16; d; d /= 2) x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < 8 ? warps[threadIdx.x] : 0.f;
    for (int d = 4; d; d /= 2) x += __shfl_down_sync(~0u, x, d);
    __syncthreads();
    return x;
}

// part[block]: a grid's blocks take rows in turn, each at most some thousand terms a thread.
#define ROWS_SUMMED(NAME, TERM, ...)                                                                   \
    extern "C" __global__ void NAME(float *part, __VA_ARGS__, int rows, int n) {                      \
        float all = 0.f;                                                                              \
        for (int r = blockIdx.x; r < rows; r += gridDim.x) {                                          \
            float sum = 0.f;                                                                          \
            for (int k = threadIdx.x; k < n; k += 256) {                                              \
                size_t i = (size_t)r * n + k;                                                         \
                sum += (TERM);                                                                        \
            }                                                                                         \
            all += sum;                                                                               \
        }                                                                                             \
        all = block_sum(all);                                                                         \
        if (threadIdx.x == 0) part[blockIdx.x] = all;                                                 \
    }

__device__ float squared(float x) { return x * x; }
__device__ float huber(float d) { return fabsf(d) < 1.f ? 0.5f * d * d : fabsf(d) - 0.5f; }

ROWS_SUMMED(mse, squared(p[i] - t[i]), const float *p, const float *t)
ROWS_SUMMED(smooth, huber(p[i] - t[i]), const float *p, const float *t)
ROWS_SUMMED(hinge, fmaxf(0.f, 1.f - p[i] * t[k]), const float *p, const float *t)
ROWS_SUMMED(divergence, t[i] * (logf(t[i]) - logf(p[i])), const float *p, const float *t)
ROWS_SUMMED(squares, squared(x[i]), const float *x)

// y = the parts' sum, over `divisor`.
extern "C" __global__ void finish(float *y, const float *part, int parts, float divisor) {
    float sum = 0.f;
    for (int i = threadIdx.x; i < parts; i += 256) sum += part[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *y = sum / divisor;
}

// y = x over the root of the parts' sum.
extern "C" __global__ void over_root(float *y, const float *x, const float *part, int parts, int rows, int n) {
    __shared__ float length;
    float sum = 0.f;
    for (int i = threadIdx.x; i < parts; i += 256) sum += part[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) length = sqrtf(sum);
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += 256) {
        size_t i = (size_t)blockIdx.x * n + k;
        y[i] = x[i] / length;
    }
}

// A block for each pair of rows' distances; part[block] is its loss.
extern "C" __global__ void triplet(float *part, const float *a, const float *p, const float *q, int rows, int n, float margin) {
    float all = 0.f;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        float near = 0.f, far = 0.f;
        for (int k = threadIdx.x; k < n; k += 256) {
            size_t i = (size_t)r * n + k;
            near += squared(a[i] - p[i] + 1e-6f);
            far += squared(a[i] - q[i] + 1e-6f);
        }
        near = block_sum(near);
        far = block_sum(far);
        if (threadIdx.x == 0) all += fmaxf(0.f, margin + sqrtf(near) - sqrtf(far));
    }
    if (threadIdx.x == 0) part[blockIdx.x] = all;
}

// Batch norm by chunks: sums of values and of squares by channel and sample, then y.
extern "C" __global__ void plane_sums(float *sums, float *squares, const float *x, int hw) {
    float sum = 0.f, square = 0.f;
    for (int k = threadIdx.x; k < hw; k += 256) {
        float v = x[(size_t)blockIdx.x * hw + k];
        sum += v;
        square += v * v;
    }
    sum = block_sum(sum);
    square = block_sum(square);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum, squares[blockIdx.x] = square;
}

extern "C" __global__ void batch_norm(float *y, const float *x, const float *sums, const float *squares, const float *weight,
                                      const float *bias, int n, int c, int hw, float eps) {
    int channel = blockIdx.x % c;
    float sum = 0.f, square = 0.f, count = (float)n * (float)hw;
    for (int i = 0; i < n; i++) sum += sums[i * c + channel], square += squares[i * c + channel];
    float mean = sum / count, scale = weight[channel] * rsqrtf(square / count - mean * mean + eps);
    for (int k = threadIdx.x; k < hw; k += 256) {
        size_t i = (size_t)blockIdx.x * hw + k;
        y[i] = (x[i] - mean) * scale + bias[channel];
    }
}
