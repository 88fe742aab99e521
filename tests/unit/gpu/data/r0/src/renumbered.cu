#line 500 "/etc/other.cu"
__global__ void k(int *x) { x[0] = nope; }
