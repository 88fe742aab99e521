__global__ void __launch_bounds__(64) k(float *x, int n) { __shared__ float s[64]; s[threadIdx.x] = n; __syncthreads(); x[0] = s[63 - threadIdx.x]; }
extern "C" __global__ void bars(int a) { if (a) asm volatile("bar.sync 3; bar.sync 7;"); }
