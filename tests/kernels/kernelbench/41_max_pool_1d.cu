#include <math.h>

// One thread an output element.
__global__ void max_pool_1d(float *y, const float *x, int planes, int l, int ol, int k, int s, int p, int dil) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= planes * ol) return;
    int rest = at;
    int pl = rest % ol;
    rest /= ol;
    x += (size_t)rest * l;
    float best = -INFINITY;
    for (int kl = 0; kl < k; kl++) {
        int il = pl * s - p + kl * dil;
        if (il >= 0 && il < l) best = fmaxf(best, x[il]);
    }
    y[at] = best;
}
