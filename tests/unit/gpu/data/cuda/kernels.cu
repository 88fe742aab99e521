// What test_cuda_worker.c runs. kernels.ptx is NVRTC 13.0.88's PTX of it:
//   -arch=sm_90a -std=c++17 -lineinfo, with the name r0/kernels.cu
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void twice(float *y, const float *x, int n) {
    INDEX;
    if (i < n) y[i] = 2 * x[i];
}
extern "C" __global__ void beyond(float *y, const float *x, int n) {
    INDEX;
    if (i < n + 3) y[i] = i < n ? 2 * x[i] : 1;
}
extern "C" __global__ void before(float *y, const float *x, int n) {
    INDEX;
    if (i < n) y[i] = 2 * x[i];
    if (i == 0) y[-2] = 1;
}
extern "C" __global__ void half_done(float *y, const float *x, int n) {
    INDEX;
    if (i < n - 10) y[i] = 2 * x[i];
}
extern "C" __global__ void spoils(float *y, float *x, int n) {
    INDEX;
    if (i < n) y[i] = 2 * x[i];
    if (i == 5) x[7] += 1;
}
extern "C" __global__ void far(float *y, const float *x, int n) {
    INDEX;
    y[i + (1ull << 40)] = 2 * x[i % n];
}
extern "C" __global__ void checks(float *y, const float *x, int n) {
    INDEX;
    assert(i < 5);
    if (i < n) y[i] = 2 * x[i];
}
extern "C" __global__ void talks(float *y, const float *x, int n) {
    INDEX;
    if (i < n) y[i] = 2 * x[i];
    if (i == 3) printf("thread %d of %d\n", i, n);
}
extern "C" __global__ void traps(float *y, const float *x, int n) {
    INDEX;
    if (i < n) y[i] = 2 * x[i];
    if (i == 3) __trap();
}
extern "C" __global__ void through_shared(float *y, const float *x, int n) {
    extern __shared__ float s[];
    INDEX;
    s[threadIdx.x + 15000] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = 2 * s[threadIdx.x + 15000];
}
