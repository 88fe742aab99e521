// 64-bit whole numbers: division, high products, bits, greatest common divisor.
extern "C" __global__ void int64_ops(const long long *a, const long long *b, long long *quotient, long long *rest,
                                     unsigned long long *high, int *bits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    quotient[i] = a[i] / b[i];
    rest[i] = a[i] % b[i];
    high[i] = __umul64hi((unsigned long long)a[i], (unsigned long long)b[i]);
    bits[i] = __popcll(a[i]) * 10000 + __clzll(b[i]) * 100 + __ffsll(a[i]);
}

__device__ unsigned long long gcd(unsigned long long a, unsigned long long b) {
    while (b) {
        unsigned long long t = a % b;
        a = b;
        b = t;
    }
    return a;
}

extern "C" __global__ void gcds(const unsigned long long *a, const unsigned long long *b, unsigned long long *g, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        g[i] = gcd(a[i], b[i]);
}

extern "C" __global__ void squares(const long long *a, long long *square, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        square[i] = a[i] * a[i];
}

extern "C" __global__ void remainders(const int *a, int *rest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        rest[i] = a[i] * 4294967296 % 1000;
}
