// PTX by hand: carries over 128 bits, three-input logic, fields, permutes, predicates.
extern "C" __global__ void add128(const uint4 *a, const uint4 *b, uint4 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 r;
    asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
        : "=&r"(r.x), "=&r"(r.y), "=&r"(r.z), "=r"(r.w)
        : "r"(a[i].x), "r"(a[i].y), "r"(a[i].z), "r"(a[i].w), "r"(b[i].x), "r"(b[i].y), "r"(b[i].z), "r"(b[i].w));
    y[i] = r;
}

extern "C" __global__ void fields(const unsigned *x, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = x[i], r, s, t, u;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(v), "r"(0x0f0f3355u), "r"(v >> 7));
    asm("bfe.s32 %0, %1, 5, 9;" : "=r"(s) : "r"(v));
    asm("bfi.b32 %0, %1, %2, 12, 6;" : "=r"(t) : "r"(v), "r"(0xffffffffu));
    asm("{ .reg .pred p; setp.gt.u32 p, %1, 0x7fffffff; selp.u32 %0, 1, 2, p; @p add.u32 %0, %0, 10; }" : "=r"(u) : "r"(v));
    y[4 * i] = r;
    y[4 * i + 1] = s;
    y[4 * i + 2] = t;
    y[4 * i + 3] = u;
}
