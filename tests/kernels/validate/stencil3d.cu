// Seven-point stencil in three dimensions, the plane in shared memory.
extern "C" __global__ void stencil7(const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float plane[6][10];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z;
    bool inside = x < nx && y < ny;
    size_t at = ((size_t)z * ny + y) * nx + x;
    auto get = [&](int gx, int gy) {
        return gx >= 0 && gx < nx && gy >= 0 && gy < ny ? in[((size_t)z * ny + gy) * nx + gx] : 0.f;
    };
    plane[ty][tx] = get(x, y);
    if (threadIdx.x == 0)
        plane[ty][0] = get(x - 1, y);
    if (threadIdx.x == 7)
        plane[ty][9] = get(x + 1, y);
    if (threadIdx.y == 0)
        plane[0][tx] = get(x, y - 1);
    if (threadIdx.y == 3)
        plane[5][tx] = get(x, y + 1);
    __syncthreads();
    if (!inside)
        return;
    float below = z > 0 ? in[at - (size_t)nx * ny] : 0.f;
    float above = z < nz - 1 ? in[at + (size_t)nx * ny] : 0.f;
    float sides = __fadd_rn(__fadd_rn(plane[ty][tx - 1], plane[ty][tx + 1]), __fadd_rn(plane[ty - 1][tx], plane[ty + 1][tx]));
    out[at] = __fsub_rn(__fadd_rn(sides, __fadd_rn(below, above)), __fmul_rn(6.f, plane[ty][tx]));
}
