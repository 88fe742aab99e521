// 3 x 3 convolution, the filter in constant memory, edges clamped.
__constant__ float filter[9];

extern "C" __global__ void conv3x3(const float *__restrict__ in, float *__restrict__ out, int W, int H) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    float s = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int px = min(max(x + dx, 0), W - 1), py = min(max(y + dy, 0), H - 1);
            s = fmaf(filter[(dy + 1) * 3 + dx + 1], in[py * W + px], s);
        }
    out[y * W + x] = s;
}
