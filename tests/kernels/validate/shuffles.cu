// Warp operations: every shuffle with a width, votes, matches.
extern "C" __global__ void shuffles(const int *x, int *out) {
    int l = threadIdx.x & 31, v = x[blockIdx.x * 32 + l];
    int *to = out + blockIdx.x * 256 + l;
    to[0] = __shfl_sync(~0u, v, (l * 7) & 31);
    to[32] = __shfl_up_sync(~0u, v, 3, 8);
    to[64] = __shfl_down_sync(~0u, v, 5, 16);
    to[96] = __shfl_xor_sync(~0u, v, 9);
    to[128] = __ballot_sync(~0u, v & 1);
    to[160] = __popc(__match_any_sync(~0u, v % 5));
    to[192] = __reduce_add_sync(~0u, v) ^ __reduce_max_sync(~0u, v);
    int half = 0;
    if (l < 16)
        half = __shfl_sync(0xffffu, v, 15 - l) + __any_sync(0xffffu, v == 3) + __all_sync(0xffffu, v >= 0);
    to[224] = half;
}
