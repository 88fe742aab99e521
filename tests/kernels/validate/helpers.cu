// Helpers that the compiler inlines, wrong at some of their calls: which ones has to be told.
static __device__ __forceinline__ float take(const float *x, int i) {
    return x[i];
}
static __device__ __forceinline__ float pair(const float *x, int i) {
    return take(x, i) + take(x, i + 1);
}

extern "C" __global__ void reads_beyond(const float *x, float *y, int n) {
    int i = threadIdx.x;
    float a = take(x, i);
    float b = take(x, i + n);
    y[i] = a + b + pair(x, i - 1);
}

static __device__ __forceinline__ void put(float *s, int i, float v) {
    ((volatile float *)s)[i] = v;
}

extern "C" __global__ void tile_reused(const float *x, float *y) {
    __shared__ float s[64];
    int i = threadIdx.x;
    put(s, i, x[i]);
    __syncthreads();
    float a = take(s, (i + 32) % 64);
    // missing: __syncthreads();
    put(s, i, 2 * a);
    __syncthreads();
    y[i] = take(s, (i + 32) % 64);
}
