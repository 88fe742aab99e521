#include "../inc/tmpl.cuh"
template <typename T>
__device__ T outer(T x) {
    int never_used;
    return middle(x);
}
__global__ void k(int *x, float *y) {
    x[0] = outer(x[0]);
    y[0] = outer(y[0]);
    Holder<int>::get();
    Holder<int>::type z;
}
