// mma.sp of every shape: a warp takes its registers as they lie in the buffers, and writes 16 x 8 sums.
template <class T> __device__ void give(T *d, const T (&s)[4]) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = s[i];
}
#define SPARSE(name, sum, letter, kind, words, a_words, b_words, a_list, b_list, selector)                                                      \
  extern "C" __global__ void name(const unsigned *as, const unsigned *bs, const unsigned *es, sum *d) {                                         \
    unsigned a[4], b[4], e = es[threadIdx.x];                                                                                                   \
    for (int i = 0; i < words; i++) { a[i] = as[threadIdx.x * words + i]; b[i] = bs[threadIdx.x * words + i]; }                                 \
    sum s[4] = {};                                                                                                                              \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." kind " {%0, %1, %2, %3}, " a_list ", " b_list ", {%0, %1, %2, %3}, %4, " #selector ";" \
                 : "+" letter(s[0]), "+" letter(s[1]), "+" letter(s[2]), "+" letter(s[3]) : "r"(e), a_words, b_words);                          \
    give(d, s);                                                                                                                                 \
  }
#define TWO(x) "r"(x[0]), "r"(x[1])
#define FOUR(x) TWO(x), "r"(x[2]), "r"(x[3])
#define NARROW(name, sum, letter, kind, selector) SPARSE(name, sum, letter, kind, 2, TWO(a), TWO(b), "{%5, %6}", "{%7, %8}", selector)
#define WIDE(name, sum, letter, kind, selector) SPARSE(name, sum, letter, kind, 4, FOUR(a), FOUR(b), "{%5, %6, %7, %8}", "{%9, %10, %11, %12}", selector)

NARROW(f16_k16_0, float, "f", "m16n8k16.row.col.f32.f16.f16.f32", 0)
NARROW(f16_k16_3, float, "f", "m16n8k16.row.col.f32.f16.f16.f32", 3)
NARROW(bf16_k16_1, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32", 1)
WIDE(f16_k32_1, float, "f", "m16n8k32.row.col.f32.f16.f16.f32", 1)
NARROW(tf32_k8_2, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32", 2)
WIDE(tf32_k16_0, float, "f", "m16n8k16.row.col.f32.tf32.tf32.f32", 0)
NARROW(s8_k32_0, int, "r", "m16n8k32.row.col.s32.s8.s8.s32", 0)
NARROW(s8_k32_1, int, "r", "m16n8k32.row.col.s32.s8.s8.s32", 1)
WIDE(s8_k64_0, int, "r", "m16n8k64.row.col.s32.s8.s8.s32", 0)
NARROW(s4_k64_1, int, "r", "m16n8k64.row.col.s32.s4.s4.s32", 1)
WIDE(s4_k128_0, int, "r", "m16n8k128.row.col.s32.s4.s4.s32", 0)
