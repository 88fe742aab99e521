// #if in the middle of everything.
#include <cstdio>
#if 0
it's not code { { { "
int main() {
#endif

#ifdef NEVER
namespace other {
#else
namespace mine {
#endif

__global__
#if defined(BOUNDS)
__launch_bounds__(BOUNDS)
#else
__launch_bounds__(96)
#endif
void branchy(int *p
#ifdef EXTRA
             , int extra
#endif
) {
#if __CUDA_ARCH__ >= 900
    p[0] = 90;
    if (p[1]) {
#else
    {
#endif
        p[2] = 3;
    }
}

struct Both {
    int a;
#ifndef __CUDA_ARCH__
    void show() const { printf("%d\n", a); }
#endif
    __device__ int get() const
#if 1
    { return a; }
#else
    { return 0; }
#endif
    Both(int x)
#ifdef NEVER
        : a(0) {
#else
        : a(x) {
#endif
    }
    __host__ __device__ Both() : a(1) {}
};

static int helper(int x) {
    if (x) {
#ifdef NEVER
        return 1;
    } else {
#endif
        return 2;
    }
#ifdef NEVER
}
int helper2() {
#endif
    return 0;
}

#ifdef __CUDACC__
__global__ void last(Both *b, int *out) { *out = b->get(); }
#endif
}

#if !defined(NO_MAIN)
int main() {
    mine::branchy<<<1, 1>>>(nullptr);
#   if 1
    mine::last<<<1, 1>>>(nullptr, nullptr);
#   endif
    return 0;
}
#endif
