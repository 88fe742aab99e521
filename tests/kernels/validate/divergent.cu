// Lanes that go their own ways: escape times, Collatz lengths, binary search.
extern "C" __global__ void mandelbrot(int *steps, int W, int H, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= W || py >= H)
        return;
    // Fixed point with 12 bits, so that every step is exact.
    int cx = -8192 + px * 12288 / W, cy = -4096 + py * 8192 / H, x = 0, y = 0, k = 0;
    while (k < limit && x * x + y * y <= 4 << 24) {
        int t = ((x * x - y * y) >> 12) + cx;
        y = ((2 * x * y) >> 12) + cy;
        x = t;
        k++;
    }
    steps[py * W + px] = k;
}

extern "C" __global__ void collatz(const unsigned *x, int *length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = x[i];
    int k = 0;
    while (v > 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        k++;
    }
    length[i] = k;
}

extern "C" __global__ void lower_bound(const int *sorted, int n, const int *keys, int *where, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < keys[i])
            low = middle + 1;
        else
            high = middle;
    }
    where[i] = low;
}
