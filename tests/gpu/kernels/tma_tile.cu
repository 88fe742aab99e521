// A tile of 32 x 32 floats comes by the tensor memory accelerator; what lies beyond the tensor's edge is zeros.
struct __align__(64) tensor_map { unsigned char bytes[128]; };
extern "C" __global__ void tma_tile(float *y, const __grid_constant__ tensor_map map, int rows, int columns) {
    __shared__ __align__(128) float tile[32][32];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(4096) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(to), "l"(&map), "r"(blockIdx.x * 32), "r"(blockIdx.y * 32), "r"(bar) : "memory");
    }
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(bar) : "memory");
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
        int row = blockIdx.y * 32 + k / 32, column = blockIdx.x * 32 + k % 32;
        if (row < rows + 32 && column < columns) y[row * columns + column] = tile[k / 32][k % 32] * 2;
    }
}
