#define __device__ 5
#include <cuda_fp16.h>
__global__ void k(int *x) {}
