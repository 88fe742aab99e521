// Counter-based and state-based random numbers.
__device__ void philox_round(unsigned c[4], const unsigned k[2]) {
    unsigned h0 = __umulhi(0xD2511F53u, c[0]), l0 = 0xD2511F53u * c[0];
    unsigned h1 = __umulhi(0xCD9E8D57u, c[2]), l1 = 0xCD9E8D57u * c[2];
    c[0] = h1 ^ c[1] ^ k[0];
    c[1] = l1;
    c[2] = h0 ^ c[3] ^ k[1];
    c[3] = l0;
}

extern "C" __global__ void philox(unsigned *out, unsigned seed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned c[4] = {(unsigned)i, 0, 0, 0}, k[2] = {seed, 0};
    for (int r = 0; r < 10; r++) {
        philox_round(c, k);
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int j = 0; j < 4; j++)
        out[4 * i + j] = c[j];
}

extern "C" __global__ void xorshift64(unsigned long long *state, float *unit, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long s = state[i];
    for (int k = 0; k < steps; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
    }
    state[i] = s;
    unit[i] = (float)(s >> 40) * 5.9604644775390625e-8f;
}
