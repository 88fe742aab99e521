// One thread an output element; every input place that reaches it is looked for.
__global__ void conv_transposed_3d_dilated(float *y, const float *x, const float *weight, int n, int ci, int co, int d, int h, int w, int od, int oh, int ow, int kd, int kh, int kw, int s, int p, int dil, int groups) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * co * od * oh * ow) return;
    int rest = at;
    int pw = rest % ow;
    rest /= ow;
    int ph = rest % oh;
    rest /= oh;
    int pd = rest % od;
    rest /= od;
    int channel = rest % co, sample = rest / co, own = ci / groups, of = co / groups;
    int group = channel / of;
    float sum = 0.f;
    for (int td = 0; td < kd; td++)
        for (int th = 0; th < kh; th++)
            for (int tw = 0; tw < kw; tw++) {
                int id = pd + p - td * dil;
                int ih = ph + p - th * dil;
                int iw = pw + p - tw * dil;
                if (id < 0 || id % s || ih < 0 || ih % s || iw < 0 || iw % s) continue;
                id /= s;
                ih /= s;
                iw /= s;
                if (id >= d || ih >= h || iw >= w) continue;
                for (int c = 0; c < own; c++)
                    sum += x[((size_t)sample * ci + group * own + c) * d * h * w + (id * h + ih) * w + iw] * weight[((size_t)(group * own + c) * of + channel % of) * kd * kh * kw + ((td) * kh + th) * kw + tw];
            }
    y[at] = sum;
}
