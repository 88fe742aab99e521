// Kernels that race. Each is right on most days; "first" and "then" mark the two sides.
#include <cuda_fp16.h>

extern "C" __global__ void tile_gemm(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, q = blockIdx.x * 16 + x;
    float s = 0;
    for (int k = 0; k < n; k += 16) {
        ta[y][x] = a[r * n + k + x]; // then
        tb[y][x] = b[(k + y) * n + q];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            s += ta[y][i] * tb[i][x]; // first
        // missing: __syncthreads();
    }
    c[r * n + q] = s;
}

extern "C" __global__ void reduce(const float *x, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int o = 128; o; o >>= 1) {
        if (t < o)
            s[t] += s[t + o]; // missing behind it: __syncthreads();
    }
    if (t == 0)
        out[0] = s[0];
}

extern "C" __global__ void scan(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int o = 1; o < 128; o *= 2) {
        float v = t >= o ? s[t - o] : 0; // reads
        s[t] += v;                       // writes: one buffer does not do
        __syncthreads();
    }
    y[t] = s[t];
}

extern "C" __global__ void smooth_in_place(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        x[i] = x[i - 1] + x[i] + x[i + 1];
}

extern "C" __global__ void plain_sum(const float *x, float *sum) {
    __shared__ float s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&s, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0)
        *sum += s;
}

extern "C" __global__ void last_block(const float *x, float *part, unsigned *count, float *out) {
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x] * 2;
        // missing: __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            float s = 0;
            for (int b = 0; b < gridDim.x; b++)
                s += ((volatile float *)part)[b];
            *out = s;
        }
    }
}

extern "C" __global__ void warp_tail(const float *x, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    s[t + 32] = x[t + 32];
    for (int o = 32; o; o >>= 1)
        s[t] += s[t + o]; // missing behind it: __syncwarp();
    if (t == 0)
        out[0] = s[0];
}

extern "C" __global__ void copied_by_others(const float4 *x, float *y) {
    __shared__ float4 s[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + t));
    asm volatile("cp.async.wait_all;");
    // missing: __syncthreads();
    y[t] = s[(t + 32) % 64].x;
}

extern "C" __global__ void count_then_read(const int *x, int *out) {
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0)
        atomicAdd(&n, 1);
    // missing: __syncthreads();
    out[threadIdx.x] = n;
}

// Each block adds its sums to those of all, the last one rounds them: its own additions are the last ones to
// each sum, and say nothing of the others'.
extern "C" __global__ void add_up(const float *x, float *sum, unsigned *count, float *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    atomicAdd(&sum[t], x[blockIdx.x * blockDim.x + t]);
    // missing: __threadfence();
    __syncthreads();
    if (t == 0)
        last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last)
        out[t] = rintf(sum[t]);
}

// Who clears the sum adds to it as well: an atomic operation after it does not excuse the plain store.
extern "C" __global__ void clear_and_add(const float *x, float *sum) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *sum = 0;
    // missing: a barrier of the grid
    if (threadIdx.x == 0)
        atomicAdd(sum, x[blockIdx.x]);
}

extern "C" __global__ void clear_and_count(int *out) {
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0;
    // missing: __syncthreads();
    if (threadIdx.x % 32 == 0)
        atomicAdd(&n, 1);
    __syncthreads();
    out[threadIdx.x] = n;
}

// The same twice, with the barriers: right.
extern "C" __global__ void count_twice(int *out) {
    __shared__ int n;
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x == 0)
            n = 0;
        __syncthreads();
        if (threadIdx.x % 32 == 0)
            atomicAdd(&n, 1);
        __syncthreads();
        out[threadIdx.x] = n;
        __syncthreads();
    }
}

// volatile sums under a lock that is tried.
extern "C" __global__ void locked_sum(const float *x, int *lock, volatile float *sum) {
    bool done = threadIdx.x != 0;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *sum = *sum + x[blockIdx.x];
            // missing: __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
