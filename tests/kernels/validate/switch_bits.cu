// A switch table and bit tricks.
extern "C" __global__ void interpret(const unsigned char *code, const int *a, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = a[i];
    for (int k = 0; k < 3; k++) {
        switch (code[(i + k) % n]) {
        case 0: v += 17; break;
        case 1: v ^= 0x5a5a; break;
        case 2: v = v << 3 | (unsigned)v >> 29; break;
        case 3: v *= 31; break;
        case 4: v = -v;
        case 5: v = ~v; break;
        case 6: v = abs(v % 1000); break;
        case 7: v -= code[i]; break;
        case 8: v = max(v, -5) >> 1; break;
        default: v = 0;
        }
    }
    y[i] = v;
}

extern "C" __global__ void bits(const unsigned *x, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned v = x[i];
        y[4 * i] = __brev(v) ^ (v & (v - 1));
        y[4 * i + 1] = __popc(v) | __clz(v) << 8 | __ffs(v) << 16;
        y[4 * i + 2] = __funnelshift_l(v, ~v, v & 31);
        y[4 * i + 3] = __vadd4(v, 0x01ff7f80u);
    }
}
