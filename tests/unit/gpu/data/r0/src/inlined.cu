#include "../inc/asm.cuh"
template <class T> __device__ __forceinline__ T mid(T x) { return inner_asm(x) + 1; }
__global__ void k(int *x) {
    x[0] = mid(x[1]);
    x[3] = mid(x[2]);
}
__device__ __noinline__ int called(int x) { asm("bad.op %0;" : "+r"(x)); return x; }
__global__ void k2(int *x) { x[0] = called(x[1]); }
