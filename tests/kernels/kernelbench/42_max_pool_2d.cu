#include <math.h>

// One thread an output element.
__global__ void max_pool_2d(float *y, const float *x, int planes, int h, int w, int oh, int ow, int k, int s, int p, int dil) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= planes * oh * ow) return;
    int rest = at;
    int pw = rest % ow;
    rest /= ow;
    int ph = rest % oh;
    rest /= oh;
    x += (size_t)rest * h * w;
    float best = -INFINITY;
    for (int kh = 0; kh < k; kh++)
        for (int kw = 0; kw < k; kw++) {
            int ih = ph * s - p + kh * dil;
            int iw = pw * s - p + kw * dil;
            if (ih >= 0 && ih < h && iw >= 0 && iw < w) best = fmaxf(best, x[ih * w + iw]);
        }
    y[at] = best;
}
