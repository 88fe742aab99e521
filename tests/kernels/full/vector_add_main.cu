// The first program of every course: host and device in one file.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

static void fill(float *x, int n, float value) {
    for (int i = 0; i < n; i++) {
        x[i] = value * (i % 7);
    }
}

int main(void) {
    const int n = 1 << 20;
    size_t bytes = n * sizeof(float);
    float *ha = (float *)malloc(bytes), *hb = (float *)malloc(bytes), *hc = (float *)malloc(bytes);
    fill(ha, n, 1.0f);
    fill(hb, n, 2.0f);
    float *da, *db, *dc;
    cudaMalloc(&da, bytes);
    cudaMalloc(&db, bytes);
    cudaMalloc(&dc, bytes);
    cudaMemcpy(da, ha, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, hb, bytes, cudaMemcpyHostToDevice);
    vector_add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "launch failed: %s\n", cudaGetErrorString(status));
        return EXIT_FAILURE;
    }
    cudaMemcpy(hc, dc, bytes, cudaMemcpyDeviceToHost);
    printf("%f\n", hc[n - 1]);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    free(ha);
    free(hb);
    free(hc);
    return 0;
}
