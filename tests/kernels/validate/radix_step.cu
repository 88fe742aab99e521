// A radix sort's step of four bits in three launches: count, scan, scatter (stable).
extern "C" __global__ void radix_count(const unsigned *keys, int *count, int n, int shift) {
    __shared__ int bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        count[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void radix_scan(int *count, int m) {
    int sum = 0;
    for (int k = 0; k < m; k++) {
        int c = count[k];
        count[k] = sum;
        sum += c;
    }
}

extern "C" __global__ void radix_scatter(const unsigned *keys, const int *start, unsigned *out, int n, int shift) {
    __shared__ unsigned char digit[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = i < n ? keys[i] >> shift & 15 : 255;
    digit[threadIdx.x] = mine;
    __syncthreads();
    if (i >= n)
        return;
    int rank = 0;
    for (int t = 0; t < threadIdx.x; t++)
        rank += digit[t] == mine;
    out[start[mine * gridDim.x + blockIdx.x] + rank] = keys[i];
}
