__device__ __forceinline__ int helper(int x) {
    int r;
    asm("mov.u33 %0, %1;" : "=r"(r) : "r"(x));
    return r;
}
__global__ void k(int *x) {
    x[0] = helper(x[1]);
    asm("add.f32 %0, %0, 1;" : "+r"(x[2]));
    asm("junk");
}
