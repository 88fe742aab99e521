// The device code of host_program.c. kernels.ptx is what nvcc 13.0 made of it, with
//   nvcc -arch=compute_90a -lineinfo --ptx kernels.cu -o kernels.ptx
#include <cstdio>

__device__ int total;
__constant__ int factor;

extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

extern "C" __global__ void past(float *a) {
    a[threadIdx.x + 1] = 1;
}

extern "C" __global__ void bump(int *a) {
    atomicAdd(&a[threadIdx.x], 1);
}

extern "C" __global__ void scale(int *a) {
    a[threadIdx.x] = threadIdx.x * factor;
    if (threadIdx.x == 0) {
        total = factor;
    }
}

extern "C" __global__ void wait_for(volatile int *flag, int *seen) {
    while (*flag == 0) {
    }
    *seen = *flag;
}

extern "C" __global__ void hello(int n) {
    printf("hello from %d\n", n);
}

// One thread misses the barrier.
extern "C" __global__ void bump_apart(int *a) {
    if (threadIdx.x > 0) {
        __syncthreads();
    }
    a[threadIdx.x] += 1;
}

extern "C" __global__ void decide(unsigned long long condition, int *from, int less) {
    *from -= less;
    cudaGraphSetConditional(condition, *from);
}
