// A depthwise convolution into a buffer of its own, then a pointwise one.
__global__ void depthwise(float *t, const float *x, const float *deep, int n, int c, int h, int w, int k, int p) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * c * h * w) return;
    int px = at % w, py = at / w % h, plane = at / w / h;
    float sum = 0.f;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            int y = py + i - p, x_ = px + j - p;
            if (y >= 0 && y < h && x_ >= 0 && x_ < w) sum += x[(plane * h + y) * w + x_] * deep[(plane % c * k + i) * k + j];
        }
    t[at] = sum;
}

__global__ void pointwise(float *y, const float *t, const float *point, int n, int c, int co, int hw) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * co * hw) return;
    int place = at % hw, channel = at / hw % co, sample = at / hw / co;
    float sum = 0.f;
    for (int i = 0; i < c; i++) sum += t[(sample * c + i) * hw + place] * point[channel * c + i];
    y[at] = sum;
}
