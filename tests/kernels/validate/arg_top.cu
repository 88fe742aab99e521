// Argmax of each row (the first of equals), and its K largest values in order.
extern "C" __global__ void argmax_rows(const float *x, int *where, int cols) {
    const float *row = x + (size_t)blockIdx.x * cols;
    float best = __int_as_float(0xff800000);
    int at = cols;
    for (int c = threadIdx.x; c < cols; c += 32)
        if (row[c] > best) {
            best = row[c];
            at = c;
        }
    for (int o = 16; o; o >>= 1) {
        float b = __shfl_down_sync(~0u, best, o);
        int a = __shfl_down_sync(~0u, at, o);
        if (b > best || (b == best && a < at)) {
            best = b;
            at = a;
        }
    }
    if (threadIdx.x == 0)
        where[blockIdx.x] = at;
}

template <int K> __global__ void top_k(const int *x, int *y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int best[K];
    for (int k = 0; k < K; k++)
        best[k] = -2147483647 - 1;
    for (int c = 0; c < cols; c++) {
        int v = x[row * cols + c];
        for (int k = 0; k < K; k++)
            if (v > best[k]) {
                int t = best[k];
                best[k] = v;
                v = t;
            }
    }
    for (int k = 0; k < K; k++)
        y[row * K + k] = best[k];
}
template __global__ void top_k<4>(const int *, int *, int, int);
template __global__ void top_k<7>(const int *, int *, int, int);
