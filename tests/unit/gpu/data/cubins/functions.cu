struct Big { char c[5000]; };
__device__ __noinline__ int called(int x) { return x * 3; }
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void k2(int *x) { x[0] = called(x[1]) + fib(x[2]); }
__global__ void bigparam(Big b, int *x, char c) { x[0] = b.c[threadIdx.x] + c; __shared__ int s[10]; s[threadIdx.x] = x[2]; __syncthreads(); x[1] = s[9]; }
__global__ void framed(int *x, int n) { int a[100]; for (int i = 0; i < n; i++) a[x[i] & 63] = i; x[0] = a[x[n] & 63]; }
