struct P { char c[40000]; };
__global__ void k(P p, char *x) { x[0] = p.c[threadIdx.x]; }
