// One thread an output element.
__global__ void conv_1d(float *y, const float *x, const float *weight, const float *bias, int n, int ci, int co, int l, int ol, int kl, int s, int p, int dil, int groups) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * co * ol) return;
    int rest = at;
    int pl = rest % ol;
    rest /= ol;
    int channel = rest % co, sample = rest / co, own = ci / groups, of = co / groups;
    int group = channel / of;
    float sum = bias[channel];
    for (int tl = 0; tl < kl; tl++) {
        int il = pl * s - p + tl * dil;
        if (il < 0 || il >= l) continue;
        for (int c = 0; c < own; c++)
            sum += x[((size_t)sample * ci + group * own + c) * l + il] * weight[((size_t)channel * own + c) * kl + tl];
    }
    y[at] = sum;
}
