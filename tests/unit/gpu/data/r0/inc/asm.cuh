__device__ __forceinline__ int inner_asm(int x) {
    asm volatile("wrong.u32 %0, %0;\n\tadd.u99 %0,%0,1;" : "+r"(x));
    return x;
}
