// Text as bytes: capital letters, words counted, a palindrome test.
extern "C" __global__ void upper(const char *in, char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        char c = in[i];
        out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
    }
}

extern "C" __global__ void count_words(const char *text, int n, int *words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool begins = i < n && text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    int in_block = __syncthreads_count(begins);
    if (threadIdx.x == 0 && in_block)
        atomicAdd(words, in_block);
}

extern "C" __global__ void reverse_words32(const unsigned *in, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __byte_perm(in[n - 1 - i], 0, 0x0123);
}

extern "C" __global__ void is_palindrome(const unsigned char *s, int n, unsigned char *yes) {
    int same = 1;
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x)
        same &= s[i] == s[n - 1 - i];
    same = __syncthreads_and(same);
    if (threadIdx.x == 0)
        *yes = same;
}
