__global__ void hard_sigmoid(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = fminf(fmaxf(v / 6.f + 0.5f, 0.f), 1.f);
}
