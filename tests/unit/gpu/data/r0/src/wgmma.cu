__global__ void other(int *x) { x[0] = 1; }
__global__ void k(int *x) {
    x[0] = 2;
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
