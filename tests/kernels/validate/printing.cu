// printf with everything that a format can hold.
extern "C" __global__ void say(const int *x, int *y) {
    int i = threadIdx.x;
    y[i] = x[i] + 1;
    if (i == 2)
        printf("%d %u %5.2f|%-4d|%s %c %llx %%\n", x[i], 7u, 2.5, 42, "text", 'z', 0x1234567890ull);
}
