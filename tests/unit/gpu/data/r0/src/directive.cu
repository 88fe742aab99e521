#error "this must not be built"
__global__ void k() {}
