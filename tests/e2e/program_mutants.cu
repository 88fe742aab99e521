// program_mutants: ten programs, and faults in them that an argument switches on. programs_mutants.py says what each must be
// told as; the finding stands at the line with its number in a comment.
#include <cstdio>
#include <cstdlib>
#include <vector>
#define M(n) (m == (n))
static int m; // the fault; kernels get it as their last argument
static const int N = 1000;

static float *upload(int n) {
    std::vector<float> host(n, 1.f);
    float *p;
    cudaMalloc(&p, n * sizeof *p);
    cudaMemcpy(p, host.data(), n * sizeof *p, cudaMemcpyHostToDevice);
    return p;
}
static float *room(int n) {
    float *p;
    cudaMalloc(&p, n * sizeof *p);
    return p;
}

// ---- 1: a x + y in managed memory
__global__ void saxpy(float a, const float *x, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (M(1) ? i <= n : M(3) || i < n) {
        y[i] = a * x[i] + y[i]; // 1 3
    }
}
static void one() {
    float *x, *y, s = 0;
    cudaMallocManaged(&x, N * sizeof *x);
    cudaMallocManaged(&y, N * sizeof *y);
    for (int i = 0; i < N; i++) x[i] = y[i] = i;
    saxpy<<<(N + 255) / 256, 256>>>(2, x, y, N, m);
    if (!M(2)) cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) s += y[i]; // 2
    printf("%g\n", s);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}

// ---- 2: a sum in shared memory
__global__ void sum(const float *x, float *out, int n, int m) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (!M(5) || i < n) s[t] = i < n ? x[i] : 0; // 6
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k; k /= 2) {
        if (t < k) s[t] += s[t + k]; // 4 5
        if (!M(4)) __syncthreads();
    }
    if (!t) out[blockIdx.x] = s[0];
}
static void two() {
    float *x = upload(N), *out = room(4), h[4];
    sum<<<4, 256, M(6) ? 255 * 4 : 256 * 4>>>(x, out, N, m);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g\n", h[0]);
    cudaFree(x), cudaFree(out);
}

// ---- 3: a transposition by tiles of 16, of 48 x 80
__global__ void transpose(const float *in, float *out, int w, int h, int m) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * w + x]; // 9
    if (!M(8)) __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    out[y * (M(7) ? w : h) + x] = tile[threadIdx.x][threadIdx.y]; // 7 8
}
static void three() {
    std::vector<float> h(48 * 80, 1.f);
    float *in = room(48 * 80), *out = room(48 * 80);
    cudaMemcpy(in, h.data(), M(9) ? h.size() : h.size() * sizeof(float), cudaMemcpyHostToDevice);
    transpose<<<dim3(5, 3), dim3(16, 16)>>>(in, out, 80, 48, m);
    cudaMemcpy(h.data(), out, h.size() * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g\n", h[0]);
    cudaFree(in), cudaFree(out);
}

// ---- 4: a product of matrices, 40 x 40
__global__ void product(const float *a, const float *b, float *c, int n, int m) {
    __shared__ float s[16][16], t[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float v = 0;
    for (int k = 0; k < n; k += 16) {
        bool in = M(12) || (row < n && k + threadIdx.x < n), on = k + threadIdx.y < n && col < n;
        s[threadIdx.y][threadIdx.x] = in ? a[row * n + k + threadIdx.x] : 0; // 12
        t[threadIdx.y][threadIdx.x] = on ? b[(k + threadIdx.y) * n + col] : 0; // 11
        __syncthreads();
        for (int j = 0; j < 16; j++) v += s[threadIdx.y][j] * t[j][threadIdx.x];
        if (!M(11)) __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = v;
}
static void four() {
    std::vector<float> h(1600, 1.f);
    float *a = upload(1600), *b = room(1600), *c = room(1600);
    cudaMemcpy(b, h.data(), 6400, M(10) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice); // 10
    product<<<dim3(3, 3), dim3(16, 16)>>>(a, b, c, 40, m);
    cudaMemcpy(h.data(), c, 6400, cudaMemcpyDeviceToHost);
    printf("%g\n", h[0]);
    cudaFree(a), cudaFree(b), cudaFree(c);
}

// ---- 5: a histogram
__global__ void histogram(const unsigned char *x, unsigned *bins, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned bin = M(15) ? x[i] + 200 : x[i];
    if (M(13)) bins[bin]++; // 13
    else atomicAdd(&bins[bin], 1); // 14 15
}
static void five() {
    std::vector<unsigned char> h(N, 99);
    unsigned char *x;
    unsigned *bins, out[256];
    cudaMalloc(&x, N), cudaMalloc(&bins, sizeof out);
    cudaMemcpy(x, h.data(), N, cudaMemcpyHostToDevice);
    if (!M(14)) cudaMemset(bins, 0, sizeof out);
    histogram<<<4, 256>>>(x, bins, N, m);
    cudaMemcpy(out, bins, sizeof out, cudaMemcpyDeviceToHost);
    printf("%u\n", out[99]);
    cudaFree(x), cudaFree(bins);
}

// ---- 6: a stencil
__global__ void stencil(const float *in, float *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < (M(16) ? n : n - 1)) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3; // 16 17 18
}
static void six() {
    std::vector<float> h(N, 1.f);
    float *in = upload(N), *out = upload(N);
    stencil<<<4, 256>>>(M(17) ? out : M(18) ? h.data() : in, out, N, m);
    cudaMemcpy(h.data(), out, N * 4, cudaMemcpyDeviceToHost);
    printf("%g\n", h[1]);
    cudaFree(in), cudaFree(out);
}

// ---- 7: two streams and pinned memory
static void seven() {
    float *host, *x = room(4096), *y = upload(4096), *z = room(4096);
    cudaMallocHost(&host, 4096 * sizeof *host);
    for (int i = 0; i < 4096; i++) host[i] = i;
    cudaStream_t a, b;
    cudaStreamCreate(&a), cudaStreamCreate(&b);
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaMemcpyAsync(x, host, 16384, cudaMemcpyHostToDevice, a);
    if (M(21)) host[7] = 1; // 21
    saxpy<<<16, 256, 0, a>>>(2, x, y, 4096, 0);
    cudaEventRecord(e, a);
    if (!M(20)) cudaStreamWaitEvent(b, e, 0);
    cudaMemcpyAsync(z, y, 16384, cudaMemcpyDeviceToDevice, b); // 20
    cudaMemcpyAsync(host, z, 16384, cudaMemcpyDeviceToHost, b);
    if (!M(19)) cudaStreamSynchronize(b);
    printf("%g\n", host[3]); // 19
    cudaDeviceSynchronize();
    cudaFreeHost(host), cudaFree(x), cudaFree(y), cudaFree(z);
    cudaStreamDestroy(a), cudaStreamDestroy(b), cudaEventDestroy(e);
}

// ---- 8: a list
struct node { float value; node *next; };
__global__ void walk(const node *first, float *out) {
    float v = 0;
    for (const node *n = first; n; n = n->next) v += n->value; // 22
    *out = v;
}
static void eight() {
    node *list, h[3];
    float *out, v;
    cudaMalloc(&out, sizeof v); // 25
    cudaMalloc(&list, sizeof h);
    for (int i = 0; i < 3; i++) h[i] = {1.f, i < 2 ? list + i + 1 : nullptr};
    cudaMemcpy(list, h, sizeof h, cudaMemcpyHostToDevice);
    if (M(24)) printf("%g\n", list[1].value); // 24
    if (M(22)) cudaFree(list);
    walk<<<1, 1>>>(list, out);
    cudaMemcpy(&v, out, 4, cudaMemcpyDeviceToHost);
    printf("%g\n", v);
    if (M(23)) cudaFree(out);
    if (!M(25)) cudaFree(out); // 23
    if (!M(22)) cudaFree(list);
}

// ---- 9: a scan by warps
__global__ void scan(float *x, int n, int m) {
    __shared__ float last[8];
    unsigned t = threadIdx.x, lane = t % 32;
    float v = x[t];
    for (int d = 1; d < 32; d *= 2) {
        if (!M(26) || lane < 31) {
            float o = __shfl_up_sync(0xffffffff, v, d); // 26
            v += lane >= d ? o : 0;
        }
    }
    if (lane == 31) {
        last[t / 32] = v;
        if (M(27)) __syncthreads(); // 27
    }
    __syncthreads();
    for (unsigned w = 0; w < t / 32; w++) v += last[w];
    x[t] = v;
}
static void nine() {
    float *x = upload(256), h[256];
    scan<<<1, 256>>>(x, 256, m);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g\n", h[255]);
    cudaFree(x);
}

// ---- 10: vectors and constants
__constant__ float factor[4];
__global__ void scale(float *x, int m) {
    float4 *v = reinterpret_cast<float4 *>(x + (M(30) ? 1 : 0)) + threadIdx.x;
    float4 f = *v; // 30
    *v = {f.x * factor[0], f.y * factor[1], f.z * factor[2], f.w * factor[3]};
}
static void ten() {
    float f[8] = {1, 2, 3, 4}, *x = upload(1024), h[1024];
    cudaMemcpyToSymbol(factor, f, M(29) ? sizeof f : sizeof factor); // 29
    scale<<<1, M(28) ? 2048 : 255>>>(x, m); // 28
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g\n", h[3]);
    cudaFree(x);
}

int main(int argc, char **argv) {
    static void (*const programs[])() = {one, two, three, four, five, six, seven, eight, nine, ten};
    m = argc > 2 ? atoi(argv[2]) : 0;
    programs[atoi(argv[1]) - 1]();
    return 0;
}
