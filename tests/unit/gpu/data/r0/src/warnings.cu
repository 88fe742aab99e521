__device__ int noret(int a) { if (a) return 1; }
__global__ void k(int *x, unsigned n) {
    int unused = 5;
    if (n >= 0) x[0] = noret(1);
    x[1] = 1 << 40;
    switch (n) { case 1: x[2] = 3; default: ; }
    return;
    x[3] = 4;
}
__device__ static int never() { return 3; }
