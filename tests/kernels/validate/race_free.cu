// Kernels that look as if they raced, and do not.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

// The last warp's tail of a reduction as it was written before __syncwarp().
extern "C" __global__ void volatile_tail(const float *x, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int o = 128; o > 32; o >>= 1) {
        if (t < o)
            s[t] += s[t + o];
        __syncthreads();
    }
    if (t < 32) {
        volatile float *v = s;
        for (int o = 32; o; o >>= 1)
            v[t] = v[t] + v[t + o];
    }
    if (t == 0)
        out[0] = s[0];
}

// Threads of a tile meet; tiles do not.
extern "C" __global__ void tiles(const int *x, int *y) {
    __shared__ int s[128];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, base = t / 8 * 8;
    s[t] = x[t];
    tile.sync();
    int v = s[base + (t + 1) % 8];
    tile.sync();
    s[t] = v * 2;
    tile.sync();
    y[t] = s[base + (t + 7) % 8];
}

// The sum of all by the last block that is done: fence, counter.
extern "C" __global__ void last_block(const float *x, float *part, unsigned *count, float *out) {
    __shared__ bool last;
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int o = 32; o; o >>= 1) {
        if (t < o)
            s[t] += s[t + o];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        s[t] = t < gridDim.x ? part[t] : 0;
        __syncthreads();
        if (t == 0) {
            float sum = 0;
            for (int b = 0; b < 64; b++)
                sum += s[b];
            *out = sum;
            *count = 0;
        }
    }
}

// Every thread fences what it wrote; one counts for all.
extern "C" __global__ void last_block_all_fence(const float *x, float *part, unsigned *count, float *out) {
    __shared__ unsigned n;
    int t = threadIdx.x;
    part[blockIdx.x * 64 + t] = x[blockIdx.x * 64 + t];
    __threadfence();
    __syncthreads();
    if (t == 0)
        n = atomicInc(count, gridDim.x - 1);
    __syncthreads();
    if (n == gridDim.x - 1) {
        float sum = 0;
        for (int k = 0; k < gridDim.x; k++)
            sum += part[k * 64 + t];
        out[t] = sum;
    }
}

// Split-K with a semaphore: blocks of one tile add in turn (stream-K's fix-up).
extern "C" __global__ void in_turn(const float *x, float *y, int *turn, int splits) {
    int t = threadIdx.x, split = blockIdx.x % splits, tile = blockIdx.x / splits, seen = 0;
    if (t == 0) {
        do
            asm volatile("ld.global.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(turn + tile));
        while (seen != split);
    }
    __syncthreads();
    int i = tile * 64 + t;
    y[i] = (split ? y[i] : 0) + x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0)
        asm volatile("st.global.release.gpu.s32 [%0], %1;" ::"l"(turn + tile), "r"(split + 1));
}

// Two buffers by turns, one barrier a step.
extern "C" __global__ void scan_two_buffers(const float *x, float *y) {
    __shared__ float s[2][128];
    int t = threadIdx.x, in = 0;
    s[0][t] = x[t];
    __syncthreads();
    for (int o = 1; o < 128; o *= 2, in ^= 1) {
        s[in ^ 1][t] = s[in][t] + (t >= o ? s[in][t - o] : 0);
        __syncthreads();
    }
    y[t] = s[in][t];
}

// Bytes and halves beside each other; an old lock; a bounded queue.
extern "C" __global__ void small_pieces(const unsigned char *x, unsigned char *y, __half *h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] + 1;
        h[i] = __float2half(x[i]);
    }
}

extern "C" __global__ void locked(int *lock, int *value) {
    for (int l = 0; l < 32; l++) { // lane after lane
        if (threadIdx.x % 32 == l) {
            while (atomicCAS(lock, 0, 1)) {}
            __threadfence();
            *value = *value * 3 % 1009 + 1;
            __threadfence();
            atomicExch(lock, 0);
        }
    }
}

extern "C" __global__ void queue(const int *x, int *items, unsigned *ready, int *out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) { // produces
        items[t] = x[t] * 2;
        __threadfence();
        *(volatile unsigned *)(ready + t) = 1;
    } else if (t < 2 * n) { // consumes
        while (*(volatile unsigned *)(ready + t - n) == 0) {}
        __threadfence();
        out[t - n] = items[t - n] + 1;
    }
}

// Producer and consumer warps with two named barriers.
extern "C" __global__ void named(const int *x, int *y, int steps) {
    __shared__ int s[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < steps; k++) {
            if (k)
                asm volatile("bar.sync 2, 64;" ::: "memory"); // empty
            s[lane] = x[k * 32 + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory"); // full
        }
    } else {
        for (int k = 0; k < steps; k++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            y[k * 32 + lane] = s[31 - lane];
            if (k + 1 < steps)
                asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}

// atomicMax of floats begins with a guess.
extern "C" __global__ void float_max(const float *x, float *out) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int *p = (int *)out, old = *p, seen;
    while (__int_as_float(old) < v) {
        seen = old;
        old = atomicCAS(p, seen, __float_as_int(v));
        if (old == seen)
            break;
    }
}

// Each block adds its sums to those of all, the last one rounds them and leaves the counter as it was.
extern "C" __global__ void add_up(const float *x, float *sum, unsigned *count, float *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    atomicAdd(&sum[t], x[blockIdx.x * blockDim.x + t]);
    __threadfence();
    __syncthreads();
    if (t == 0)
        last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        out[t] = rintf(sum[t]);
        if (t == 0)
            *count = 0;
    }
}
