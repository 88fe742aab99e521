__global__ void __launch_bounds__(1024, 2) spill(float *x) {
    float v[64];
#pragma unroll
    for (int i = 0; i < 64; i++) v[i] = x[i * 32 + threadIdx.x];
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
    for (int i = 0; i < 64; i++) v[i] = v[i] * v[(i * 7 + 3) % 64] + v[(i * 5 + j) % 64];
#pragma unroll
    for (int i = 0; i < 64; i++) x[i * 32 + threadIdx.x] = v[i];
}
