// Plain kernels for bench_kernelbench.py where those of tests/kernels/kernelbench are made for small sizes alone: one
// block sums a billion terms there, in float, which loses most of them, and a thread makes one element of a convolution or
// product where those who want it fast let it make several.

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

// C = A B of a batch: a block makes a tile of 64 x 32, a thread eight rows of a column.
template <bool BY_ROWS>
__device__ void multiply(float *c, const float *a, const float *b, int m, int n, int k) {
    enum { DEPTH = 16, ROWS = 8 };
    __shared__ float as[DEPTH][8 * ROWS], bs[DEPTH][32];
    int thread = threadIdx.y * 32 + threadIdx.x, column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 64 + threadIdx.y * ROWS;
    a += (size_t)blockIdx.z * m * k, b += (size_t)blockIdx.z * k * n, c += (size_t)blockIdx.z * m * n;
    float sum[ROWS] = {};
    for (int first = 0; first < k; first += DEPTH) {
        for (int t = thread; t < DEPTH * 64; t += 256) {
            int i = first + t % DEPTH, r = blockIdx.y * 64 + t / DEPTH;
            as[t % DEPTH][t / DEPTH] = r < m && i < k ? a[(size_t)r * k + i] : 0.f;
        }
        for (int t = thread; t < DEPTH * 32; t += 256) {
            int depth = BY_ROWS ? t % DEPTH : t / 32, at = BY_ROWS ? t / DEPTH : t % 32;
            int i = first + depth, j = blockIdx.x * 32 + at;
            bs[depth][at] = i < k && j < n ? b[BY_ROWS ? (size_t)j * k + i : (size_t)i * n + j] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; i++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) sum[r] += as[i][threadIdx.y * ROWS + r] * bs[i][threadIdx.x];
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (row + r < m && column < n) c[(size_t)(row + r) * n + column] = sum[r];
}

extern "C" __global__ void matmul(float *c, const float *a, const float *b, int m, int n, int k) { multiply<false>(c, a, b, m, n, k); }

// The rows of b are its columns: scores of queries and keys.
extern "C" __global__ void matmul_by_rows(float *c, const float *a, const float *b, int m, int n, int k) { multiply<true>(c, a, b, m, n, k); }

// Each block a row, in place.
extern "C" __global__ void softmax_rows(float *x, int n, float scale) {
    __shared__ float whole, most[256];
    x += (size_t)blockIdx.x * n;
    float largest = -INFINITY, sum = 0.f;
    for (int i = threadIdx.x; i < n; i += 256) largest = fmaxf(largest, x[i]);
    most[threadIdx.x] = largest;
    for (int d = 128; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + d]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) sum += x[i] = expf((x[i] - most[0]) * scale);
    sum = block_sum(sum);
    if (threadIdx.x == 0) whole = sum;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) x[i] /= whole;
}

// Where a tap of a convolution reads the input, along one dimension; false: nowhere.
template <bool TRANSPOSED>
__device__ bool reads(int out, int tap, int extent, int stride, int padding, int dilation, int *in) {
    *in = TRANSPOSED ? out + padding - tap * dilation : out * stride - padding + tap * dilation;
    if (TRANSPOSED) {
        if (*in < 0 || *in % stride) return false;
        *in /= stride;
    }
    return *in >= 0 && *in < extent;
}

// A thread makes eight channels of a place. Their weights, of as many taps as there is room for, are kept in shared memory.
template <bool TRANSPOSED>
__device__ void convolve(float *y, const float *x, const float *weight, const float *bias, int has_bias, int ci, int co, int groups,
                         int d, int h, int w, int kd, int kh, int kw, int sd, int sh, int sw, int pd, int ph, int pw, int dd,
                         int dh, int dw, int od, int oh, int ow) {
    enum { CHANNELS = 8, MOST = 1024 };
    __shared__ __align__(16) float weights[MOST][CHANNELS];
    int place = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * CHANNELS;
    int own = ci / groups, of = co / groups, from = first / of * own, taps = kd * kh * kw, places = od * oh * ow;
    int oz = place / (oh * ow), oy = place / ow % oh, ox = place % ow;
    size_t volume = (size_t)d * h * w;
    x += ((size_t)blockIdx.z * ci + from) * volume;
    float sum[CHANNELS];
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) sum[k] = has_bias ? bias[first + k] : 0.f;
    for (int stage = 0, some = MOST / own; stage < taps; stage += some) {
        int end = min(stage + some, taps);
        __syncthreads();
        for (int i = threadIdx.x; i < (end - stage) * own * CHANNELS; i += blockDim.x) {
            int c = i / CHANNELS % own, channel = first + i % CHANNELS, tap = stage + i / CHANNELS / own;
            size_t row = TRANSPOSED ? (size_t)(from + c) * of + channel % of : (size_t)channel * own + c;
            weights[i / CHANNELS][i % CHANNELS] = weight[row * taps + tap];
        }
        __syncthreads();
        for (int tap = stage; tap < end; tap++) {
            int iz, iy, ix;
            if (place >= places || !reads<TRANSPOSED>(oz, tap / (kh * kw), d, sd, pd, dd, &iz) ||
                !reads<TRANSPOSED>(oy, tap / kw % kh, h, sh, ph, dh, &iy) || !reads<TRANSPOSED>(ox, tap % kw, w, sw, pw, dw, &ix))
                continue;
            const float *at = x + ((size_t)iz * h + iy) * w + ix;
            for (int c = 0; c < own; c++, at += volume)
#pragma unroll
                for (int k = 0; k < CHANNELS; k++) sum[k] += *at * weights[(tap - stage) * own + c][k];
        }
    }
    if (place >= places) return;
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) y[((size_t)blockIdx.z * co + first + k) * places + place] = sum[k];
}

#define CONVOLUTION(NAME, TRANSPOSED)                                                                                          \
    extern "C" __global__ void NAME(float *y, const float *x, const float *weight, const float *bias, int has_bias, int ci,    \
                                    int co, int groups, int d, int h, int w, int kd, int kh, int kw, int sd, int sh, int sw,   \
                                    int pd, int ph, int pw, int dd, int dh, int dw, int od, int oh, int ow) {                  \
        convolve<TRANSPOSED>(y, x, weight, bias, has_bias, ci, co, groups, d, h, w, kd, kh, kw, sd, sh, sw, pd, ph, pw, dd,    \
                             dh, dw, od, oh, ow);                                                                              \
    }
CONVOLUTION(conv, false)
CONVOLUTION(conv_transposed, true)
