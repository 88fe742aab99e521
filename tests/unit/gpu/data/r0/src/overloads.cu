struct S { int a; };
__device__ void over(int);
__device__ void over(float);
template <typename T> __device__ void tover(T *, T);
__global__ void k(float *x) {
	over(S());
    unsigned u = -1;
    int unused;
    tover(x, 1);
    undefined_thing = 3; another();
    x[0] = "héllo"; int y = missing + 1;
}
