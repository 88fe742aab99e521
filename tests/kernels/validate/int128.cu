// Division of 128 bits, which NVRTC writes as chains of carries behind subtractions.
extern "C" __global__ void wide_division(const long long* high, const long long* low, const long long* by_high,
                                         const long long* by_low, long long* quotient, long long* rest,
                                         long long* signed_quotient, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned __int128 a = (unsigned __int128)high[i] << 64 | (unsigned long long)low[i];
  unsigned __int128 b = (unsigned __int128)by_high[i] << 64 | (unsigned long long)by_low[i];
  unsigned __int128 q = a / b, r = a % b;
  __int128 s = (__int128)a / (__int128)b;
  quotient[2 * i] = (long long)q;
  quotient[2 * i + 1] = (long long)(q >> 64);
  rest[2 * i] = (long long)r;
  rest[2 * i + 1] = (long long)(r >> 64);
  signed_quotient[2 * i] = (long long)s;
  signed_quotient[2 * i + 1] = (long long)(s >> 64);
}
