// Four blocks of a cluster read each other's shared memory: y[b] = the sum of its cluster's 4 x 128 numbers.
__device__ int remote(const int *p, unsigned block) {
    unsigned here = (unsigned)__cvta_generic_to_shared(p), there;
    int v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(block));
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
    return v;
}
__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
extern "C" __global__ void cluster_sum(int *y, const int *x) {
    __shared__ int part;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    atomicAdd(&part, x[blockIdx.x * 128 + threadIdx.x]);
    cluster_sync();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned b = 0; b < 4; b++) sum += remote(&part, b);
        y[blockIdx.x] = sum;
    }
    cluster_sync(); // nobody leaves while its memory is read
}
