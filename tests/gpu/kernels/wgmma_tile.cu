// C (64 x 8) = A (64 x 16) B^T (8 x 16) by one wgmma, no swizzle: 8 x 8 core matrices of 128 bytes, those of A's rows side by
// side, then those of the next 8 columns.
#include <cuda_bf16.h>
__device__ unsigned long long describe(const void *p, unsigned leading, unsigned stride) {
    unsigned long long at = __cvta_generic_to_shared(p);
    return (at & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32;
}
extern "C" __global__ __launch_bounds__(128) void wgmma_tile(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) {
    __shared__ __align__(128) __nv_bfloat16 a[64 * 16], b[8 * 16];
    float d[4] = {};
    for (int i = threadIdx.x; i < 1024; i += 128) {
        int row = i / 16, k = i % 16;
        a[(k / 8 * 8 + row / 8) * 64 + row % 8 * 8 + k % 8] = A[i];
    }
    if (threadIdx.x < 128) {
        int row = threadIdx.x / 16, k = threadIdx.x % 16;
        b[k / 8 * 64 + row * 8 + k % 8] = B[threadIdx.x];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(describe(a, 1024, 128)), "l"(describe(b, 128, 128)), "r"(0));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float *c = C + (warp * 16 + lane / 4) * 8 + lane % 4 * 2;
    c[0] = d[0], c[1] = d[1], c[64] = d[2], c[65] = d[3];
}
