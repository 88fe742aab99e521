__global__ void hard_tanh(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = fminf(fmaxf(v, -1.f), 1.f);
}
