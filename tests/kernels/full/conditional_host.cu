// Host parts behind conditionals, and functions that begin in one branch and end in another.
#include <cuda_runtime.h>
#ifndef __CUDACC_RTC__
#include <cassert>
#include <cstdio>
#include <vector>
#endif

#define TILE 16

#if defined(USE_DOUBLE)
typedef double real;
#else
typedef float real;
#endif

__global__ void matmul(const real *a, const real *b, real *c, int n) {
    __shared__ real ta[TILE][TILE], tb[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    real sum = 0;
    for (int t = 0; t < n; t += TILE) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + col] = sum;
}

#ifdef WITH_STREAM
int run(int n, cudaStream_t stream) {
#else
int run(int n) {
    cudaStream_t stream = 0;
#endif
    dim3 block(TILE, TILE), grid(n / TILE, n / TILE);
    if (n % TILE) {
        return 1;
    }
    matmul<<<grid, block, 0, stream>>>(nullptr, nullptr, nullptr, n);
#ifdef CHECK_ERRORS
    if (cudaGetLastError() != cudaSuccess) {
        return 2;
    }
#endif
#if 1
    return 0;
}
#else
    return 3;
}
#endif

__global__ void after(real *x) { x[threadIdx.x] = threadIdx.x; }

#ifndef __CUDACC_RTC__
int main() {
    std::vector<int> sizes{16, 32};
    for (int n : sizes) {
        printf("%d\n", run(n));
    }
    after<<<1, 32>>>(nullptr);
}
#endif
