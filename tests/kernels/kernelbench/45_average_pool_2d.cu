// One thread an output element.
__global__ void average_pool_2d(float *y, const float *x, int planes, int h, int w, int oh, int ow, int k, int s, int p) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= planes * oh * ow) return;
    int rest = at;
    int pw = rest % ow;
    rest /= ow;
    int ph = rest % oh;
    rest /= oh;
    x += (size_t)rest * h * w;
    float sum = 0.f;
    for (int kh = 0; kh < k; kh++)
        for (int kw = 0; kw < k; kw++) {
            int ih = ph * s - p + kh;
            int iw = pw * s - p + kw;
            if (ih >= 0 && ih < h && iw >= 0 && iw < w) sum += x[ih * w + iw];
        }
    y[at] = sum / (k * k);
}
