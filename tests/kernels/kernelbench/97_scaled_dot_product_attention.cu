#include <math.h>

// One thread a query: the weights are made twice, so that no memory is needed for them.
__global__ void scaled_dot_product_attention(float *y, const float *q, const float *k, const float *v, int heads, int l, int e, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= heads * l) return;
    const float *keys = k + (size_t)(i / l) * l * e, *values = v + (size_t)(i / l) * l * e, *query = q + (size_t)i * e;
    float largest = -INFINITY, total = 0.f;
    for (int c = 0; c < e; c++) y[(size_t)i * e + c] = 0.f;
    for (int j = 0; j < l; j++) {
        float score = 0.f;
        for (int c = 0; c < e; c++) score += query[c] * keys[j * e + c];
        largest = fmaxf(largest, score * scale);
    }
    for (int j = 0; j < l; j++) {
        float score = 0.f;
        for (int c = 0; c < e; c++) score += query[c] * keys[j * e + c];
        float weight = expf(score * scale - largest);
        total += weight;
        for (int c = 0; c < e; c++) y[(size_t)i * e + c] += weight * values[j * e + c];
    }
    for (int c = 0; c < e; c++) y[(size_t)i * e + c] /= total;
}
