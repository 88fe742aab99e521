// One-dimensional convolution of packed 8-bit numbers.
extern "C" __global__ void conv_dp4a(const int *x, const int *w, int *y, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int s = 0;
    for (int k = 0; k < taps; k++)
        if (i + k < n)
            s = __dp4a(x[i + k], w[k], s);
    y[i] = s;
}
