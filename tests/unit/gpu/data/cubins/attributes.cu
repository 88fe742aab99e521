namespace { __global__ void hidden(int *x) { x[0] = 1; } }
namespace ns { namespace { template <class T, int N> __global__ void deep(T *x) { x[0] = N; } }
 template <typename T, int N, bool B, unsigned U> __global__ void tk(T *x) { x[0] = N + B + U; }
 template __global__ void tk<float, 4, true, 33u>(float *);
 struct Tag { struct In {}; };
 template <typename T> __global__ void pk(T *x, Tag::In t) {}
 template __global__ void pk<ns::Tag::In>(ns::Tag::In *, Tag::In);
 template <typename... Ts> __global__ void vk(Ts... xs) {}
 template __global__ void vk<int, float *, const char *>(int, float *, const char *);
}
__global__ void __launch_bounds__(256) lb1(int *x) { x[0] = 1; }
__global__ void __launch_bounds__(256, 2) lb2(int *x) { x[0] = 1; }
__global__ void __launch_bounds__(128, 2, 4) lb3(int *x) { x[0] = 1; }
__global__ void __cluster_dims__(2, 1, 1) cl(int *x) { x[0] = 1; }
__global__ void __cluster_dims__(2, 2, 1) __launch_bounds__(64) cl2(int *x) { x[0] = 1; }
__global__ void __block_size__((32, 4, 2)) bs(int *x) { x[0] = 1; }
__global__ void __block_size__((32, 4, 1), (4, 1, 1)) bsc(int *x) { x[0] = 1; }
__global__ void __maxnreg__(40) mr(int *x) { x[0] = 1; }
extern "C" __global__ void plainc(int a, char b, double c, int4 d) { if (a) asm volatile("bar.sync 3; bar.sync 7;"); }
__global__ void noparam() { __shared__ int s[7]; s[threadIdx.x] = 1; __syncthreads(); if (s[0] == 99) __trap(); }
extern __shared__ float dyn[];
__global__ void dynk(float *o) { dyn[threadIdx.x] = 1; __syncthreads(); o[0] = dyn[1]; }
struct Big { char c[5000]; };
__global__ void bigparam(Big b, int *x) { x[0] = b.c[threadIdx.x]; }
__global__ void over(int *x) { x[0] = 1; }
__global__ void over(float *x) { x[0] = 1; }
