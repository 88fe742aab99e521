// One thread an output element.
__global__ void average_pool_1d(float *y, const float *x, int planes, int l, int ol, int k, int s, int p) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= planes * ol) return;
    int rest = at;
    int pl = rest % ol;
    rest /= ol;
    x += (size_t)rest * l;
    float sum = 0.f;
    for (int kl = 0; kl < k; kl++) {
        int il = pl * s - p + kl;
        if (il >= 0 && il < l) sum += x[il];
    }
    y[at] = sum / (k);
}
