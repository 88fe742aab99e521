// One warp a row: 32 elements at a time by shuffles, with what came before carried on.
__global__ void cumsum(float *y, const float *x, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float before = 0.f;
    for (int start = 0; start < n; start += 32) {
        int i = start + lane;
        float v = i < n ? x[row * n + i] : 0.f;
        for (int off = 1; off < 32; off *= 2) {
            float left = __shfl_up_sync(~0u, v, off);
            if (lane >= off) v += left;
        }
        v += before;
        if (i < n) y[row * n + i] = v;
        before = __shfl_sync(~0u, v, 31);
    }
}
