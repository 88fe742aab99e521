__global__ void k(int *x) { static_assert(sizeof(int)==5, "a\n\nb"); asm("a" "b": : "r"(5.0)); __shared__ int s[100000]; s[0]=x[0]; x[1]=s[3]; extern __shared__ char c[]; }
#pragma unroll 3 4
#pragma nope
__device__ void f(int a,) {}
