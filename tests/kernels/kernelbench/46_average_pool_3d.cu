// One thread an output element.
__global__ void average_pool_3d(float *y, const float *x, int planes, int d, int h, int w, int od, int oh, int ow, int k, int s, int p) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= planes * od * oh * ow) return;
    int rest = at;
    int pw = rest % ow;
    rest /= ow;
    int ph = rest % oh;
    rest /= oh;
    int pd = rest % od;
    rest /= od;
    x += (size_t)rest * d * h * w;
    float sum = 0.f;
    for (int kd = 0; kd < k; kd++)
        for (int kh = 0; kh < k; kh++)
            for (int kw = 0; kw < k; kw++) {
                int id = pd * s - p + kd;
                int ih = ph * s - p + kh;
                int iw = pw * s - p + kw;
                if (id >= 0 && id < d && ih >= 0 && ih < h && iw >= 0 && iw < w) sum += x[(id * h + ih) * w + iw];
            }
    y[at] = sum / (k * k * k);
}
