// cuda::atomic_ref, compare-and-swap loops, atomics of every width.
#include <cuda/atomic>

extern "C" __global__ void with_atomic_ref(const int *x, int *sum, unsigned *largest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    cuda::atomic_ref<int, cuda::thread_scope_device> s(*sum);
    s.fetch_add(x[i], cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> m(*largest);
    m.fetch_max((unsigned)x[i]);
}

__device__ void multiply(unsigned *at, unsigned by) {
    unsigned seen = *at, expected;
    do {
        expected = seen;
        seen = atomicCAS(at, expected, expected * by);
    } while (seen != expected);
}

extern "C" __global__ void by_compare_and_swap(const unsigned *x, unsigned *product, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        multiply(product, x[i]);
}

extern "C" __global__ void widths(unsigned long long *sum, double *dsum, int *least, unsigned *bits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(sum, (unsigned long long)i << 33);
        atomicAdd(dsum, 0.5 * i);
        atomicMin(least, -i);
        atomicOr(&bits[0], 1u << (i & 31));
        atomicXor(&bits[1], i);
        atomicInc(&bits[2], 6);
    }
}
