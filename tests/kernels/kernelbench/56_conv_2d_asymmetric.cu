// One thread an output element.
__global__ void conv_2d_asymmetric(float *y, const float *x, const float *weight, int n, int ci, int co, int h, int w, int oh, int ow, int kh, int kw, int s, int p, int dil, int groups) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * co * oh * ow) return;
    int rest = at;
    int pw = rest % ow;
    rest /= ow;
    int ph = rest % oh;
    rest /= oh;
    int channel = rest % co, sample = rest / co, own = ci / groups, of = co / groups;
    int group = channel / of;
    float sum = 0.f;
    for (int th = 0; th < kh; th++)
        for (int tw = 0; tw < kw; tw++) {
            int ih = ph * s - p + th * dil;
            int iw = pw * s - p + tw * dil;
            if (ih < 0 || ih >= h || iw < 0 || iw >= w) continue;
            for (int c = 0; c < own; c++)
                sum += x[((size_t)sample * ci + group * own + c) * h * w + ih * w + iw] * weight[((size_t)channel * own + c) * kh * kw + (th) * kw + tw];
        }
    y[at] = sum;
}
