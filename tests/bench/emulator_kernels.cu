// What bench_emulator runs: one kernel for each way in which code is easy or hard for a machine of 32 lanes.
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy4(const float4 *x, float4 *y, int n4) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        float4 u = x[i], v = y[i];
        v.x = fmaf(1.5f, u.x, v.x);
        v.y = fmaf(1.5f, u.y, v.y);
        v.z = fmaf(1.5f, u.z, v.z);
        v.w = fmaf(1.5f, u.w, v.w);
        y[i] = v;
    }
}

extern "C" __global__ void polynomial(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i], s = 0;
    for (int k = 0; k < 64; k++)
        s = fmaf(s, v, 0.25f);
    y[i] = s;
}

extern "C" __global__ void collatz(const int *x, int *length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = 0;
    for (unsigned v = x[i]; v > 1; k++)
        v = v % 2 ? 3 * v + 1 : v / 2;
    length[i] = k;
}

extern "C" __global__ void gather(const float *x, const int *index, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
    for (int k = 0; k < 16; k++)
        s += x[index[(i + k * 977) % n]];
    y[i] = s;
}

extern "C" __global__ void transpose(const float *in, float *out, int w) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * w + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void gemm_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, q = blockIdx.x * 16 + x;
    float s = 0;
    for (int k = 0; k < n; k += 16) {
        ta[y][x] = a[r * n + k + x];
        tb[y][x] = b[(k + y) * n + q];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            s += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    c[r * n + q] = s;
}

extern "C" __global__ void block_reduce(const float *x, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int o = 128; o; o >>= 1) {
        if (t < o)
            s[t] += s[t + o];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// What a block costs that does nothing, and what a barrier does.
extern "C" __global__ void empty_block(float *y, int n) {
    if (n < 0)
        y[0] = 1;
}

extern "C" __global__ void barrier_only(float *y, int n) {
    for (int i = 0; i < n; i++)
        __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

extern "C" __global__ void gemm_naive(const float *a, const float *b, float *c, int n) {
    int q = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += a[r * n + k] * b[k * n + q];
    c[r * n + q] = s;
}

extern "C" __global__ void gemm_tiled_32(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[32][32], tb[32][32];
    int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 32 + y, q = blockIdx.x * 32 + x;
    float s = 0;
    for (int k = 0; k < n; k += 32) {
        ta[y][x] = a[r * n + k + x];
        tb[y][x] = b[(k + y) * n + q];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            s += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    c[r * n + q] = s;
}
