// NaN, infinities, signed zeros, denormals and conversions out of range.
extern "C" __global__ void extremes(const float *a, const float *b, float *low, float *high, float *sum, int *whole,
                                    unsigned *kind, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    low[i] = fminf(a[i], b[i]);
    high[i] = fmaxf(a[i], b[i]);
    sum[i] = a[i] + b[i];
    whole[i] = __float2int_rn(a[i]);
    kind[i] = isnan(a[i]) | isinf(a[i]) << 1 | (a[i] < b[i]) << 2 | (a[i] != b[i]) << 3 | signbit(a[i]) << 4;
}
