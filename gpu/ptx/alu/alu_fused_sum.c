/* fused_sum.h on vectors of rows: all rows of a against one column at a time.
 *
 * The product of two factors is exact in binary32 unless it leaves its range. Scaled by
 * 2^(fraction - E) a term is below 2^27, and converting it to an integer cuts it towards
 * zero; eight of them and c fit 32 bits. That holds from E = -100 on: what then is too
 * small for binary32 is cut to zero anyway. Columns with a smaller E, an infinity or a
 * NaN are made term by term in binary64, where every scaled term is exact. */
#include "gpu/ptx/alu/half_bits.h"
#include "gpu/ptx/alu/matrix_decode.h"
#include "gpu/ptx/alu/matrix_product.h"

#include <math.h>

#if defined __AVX512F__ && defined __AVX512BW__
#include <immintrin.h>
#define WIDE 16
#elif defined __AVX2__
#include <immintrin.h>
#define WIDE 8
#else
#define WIDE 4
#endif
#define COLUMNS 16        /* of b that are decoded at a time */
#define SIDE 4            /* columns side by side */
#define NO_EXPONENT -4096 /* of zero */
#define LEAST_FAST -100
#define INFINITE 128 /* exponent of an infinity or NaN */

typedef float vfloat __attribute__((vector_size(4 * WIDE)));
typedef int32_t vint __attribute__((vector_size(4 * WIDE)));
typedef int16_t vshort __attribute__((vector_size(4 * WIDE)));
typedef float hfloat __attribute__((vector_size(2 * WIDE)));
typedef int32_t hint __attribute__((vector_size(2 * WIDE)));
typedef double hdouble __attribute__((vector_size(4 * WIDE)));
typedef int64_t hlong __attribute__((vector_size(4 * WIDE)));

/* ---- factors ---- */

MATRIX_DECODE(decode, float)

/* The rows of a as vectors: element k of WIDE rows; exponents of two k in each lane. */
struct sum_rows {
    float values[FUSED_MAX_M * FUSED_MAX_ROW] __attribute__((aligned(64)));
    int16_t exponents[FUSED_MAX_M * FUSED_MAX_ROW] __attribute__((aligned(64)));
    uint64_t present[FUSED_MAX_M]; /* by k */
    unsigned k;
    int greatest;
};
struct columns {
    float values[COLUMNS * FUSED_MAX_ROW] __attribute__((aligned(64)));
    int16_t exponents[COLUMNS * FUSED_MAX_ROW] __attribute__((aligned(64)));
    int greatest;
};

static int least_exponent(enum ptx_type t) {
    return t == PTX_F16 || t == PTX_E5M2 ? -14 : t == PTX_E4M3 ? -6 : -126;
}

/* Words of WIDE rows side by side. */
static void words_turn(const uint8_t *a, unsigned rows, unsigned count, uint32_t *to) {
    for (unsigned first = 0; first < rows; first += WIDE) {
        for (unsigned lane = 0; lane < WIDE; lane++) {
            const uint8_t *row = a + (size_t)(first + lane) * count * 4;
            for (unsigned k = 0; k < count; k++) {
                memcpy(&to[((size_t)first * count) + (size_t)k * WIDE + lane],
                       row + (size_t)k * 4, 4);
            }
        }
    }
}

/* Vectors of words to vectors of their elements, the lowest first. */
#define ROWS_DECODE(name, bits, convert)                                                 \
    static void name(const uint32_t *words, unsigned vectors, float *to) {               \
        for (unsigned v = 0; v < vectors * (32 / (bits)); v++) {                         \
            const uint32_t *from = words + (size_t)(v / (32 / (bits))) * WIDE;           \
            unsigned shift = v % (32 / (bits)) * (bits);                                 \
            LANES_IVDEP for (unsigned l = 0; l < WIDE; l++) {                            \
                uint32_t x = from[l] >> shift & (UINT32_MAX >> (32 - (bits)));           \
                to[(size_t)v * WIDE + l] = convert(x);                                   \
            }                                                                            \
        }                                                                                \
    }
ROWS_DECODE(rows_f16, 16, real_f16)
ROWS_DECODE(rows_bf16, 16, real_bf16)
ROWS_DECODE(rows_tf32, 32, real_tf32)
ROWS_DECODE(rows_e4m3, 8, real_e4m3)
ROWS_DECODE(rows_e5m2, 8, real_e5m2)

static void rows_dense(struct sum_rows *r, const struct fused_sum *f, const uint8_t *a) {
    uint32_t words[FUSED_MAX_M * FUSED_MAX_K];
    enum ptx_type t = (enum ptx_type)f->a;
    unsigned count = matrix_bytes(t, f->k) / 4;
    words_turn(a, f->m, count, words);
    (t == PTX_F16    ? rows_f16
     : t == PTX_BF16 ? rows_bf16
     : t == PTX_TF32 ? rows_tf32
     : t == PTX_E4M3 ? rows_e4m3
                     : rows_e5m2)(words, f->m / WIDE * count, r->values);
    for (unsigned row = 0; row < f->m; row++) {
        r->present[row] = UINT64_MAX;
    }
}

static void rows_sparse(struct sum_rows *r, const struct fused_sum *f, const uint8_t *a,
                        const uint8_t *places) {
    float values[FUSED_MAX_M * FUSED_MAX_K];
    decode((enum ptx_type)f->a, a, (unsigned)f->m * f->k, values);
    memset(r->values, 0, (size_t)f->m * r->k * sizeof *r->values);
    for (unsigned row = 0; row < f->m; row++) {
        float *block = r->values + (size_t)(row / WIDE) * WIDE * r->k + row % WIDE;
        r->present[row] = 0;
        for (unsigned k = 0; k < f->k; k++) {
            unsigned at = places[row * f->k + k];
            block[(size_t)at * WIDE] = values[row * f->k + k];
            r->present[row] |= UINT64_C(1) << at;
        }
    }
}

/* ---- vectors ---- */

LANE_INLINE vshort max_short(vshort a, vshort b) {
#if WIDE == 16
    return (vshort)_mm512_max_epi16((__m512i)a, (__m512i)b);
#elif WIDE == 8
    return (vshort)_mm256_max_epi16((__m256i)a, (__m256i)b);
#else
    vshort greater = a > b;
    return (a & greater) | (b & ~greater);
#endif
}
LANE_INLINE vint max_int(vint a, vint b) {
#if WIDE == 16
    return (vint)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif WIDE == 8
    return (vint)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    vint greater = a > b;
    return (a & greater) | (b & ~greater);
#endif
}
LANE_INLINE bool any(vint x) {
#if WIDE == 16
    return _mm512_test_epi32_mask((__m512i)x, (__m512i)x) != 0;
#elif WIDE == 8
    return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#else
    return (x[0] | x[1] | x[2] | x[3]) != 0;
#endif
}
LANE_INLINE vint splat(int32_t x) {
    return x - (vint){0};
}

LANE_INLINE vint exponent(vfloat x, int least) {
    vint bits = (vint)x & 0x7fffffff, zero = bits == 0;
    vint e = max_int((bits >> 23) - 127, splat(least));
    return (e & ~zero) | (zero & NO_EXPONENT);
}

static int greatest_of(vint x) {
    int32_t all[WIDE], most = NO_EXPONENT;
    memcpy(all, &x, sizeof all);
    for (unsigned l = 0; l < WIDE; l++) {
        most = most < all[l] ? all[l] : most;
    }
    return most;
}

static void rows_decode(struct sum_rows *r, const struct fused_sum *f, const uint8_t *a,
                        const uint8_t *places) {
    int least = least_exponent((enum ptx_type)f->a);
    vint most = splat(NO_EXPONENT), sign = splat(f->negated ? INT32_MIN : 0);
    r->k = f->row;
    if (places) {
        rows_sparse(r, f, a, places);
    } else {
        rows_dense(r, f, a);
    }
    for (unsigned at = 0; at < f->m * r->k; at += 2 * WIDE) {
        vfloat x[2];
        memcpy(x, r->values + at, sizeof x);
        vint e = exponent(x[0], least), next = exponent(x[1], least);
        most = max_int(most, max_int(e, next));
        e = (e & 0xffff) | next << 16;
        memcpy(r->exponents + at, &e, sizeof e);
        x[0] = (vfloat)((vint)x[0] ^ sign);
        x[1] = (vfloat)((vint)x[1] ^ sign);
        memcpy(r->values + at, x, sizeof x);
    }
    r->greatest = greatest_of(most);
}

/* Exponents; the greatest one. */
static int exponents_of(const float *values, unsigned count, int least, int16_t *to) {
    int greatest = NO_EXPONENT;
    LANES_IVDEP for (unsigned k = 0; k < count; k++) {
        uint32_t bits;
        memcpy(&bits, &values[k], sizeof bits);
        int e = (int)(bits >> 23 & 255) - 127;
        e = e < least ? least : e;
        e = (bits & 0x7fffffff) == 0 ? NO_EXPONENT : e;
        greatest = greatest < e ? e : greatest;
        to[k] = (int16_t)e;
    }
    return greatest;
}

static void columns_decode(struct columns *c, const struct fused_sum *f, const uint8_t *b,
                           unsigned count) {
    decode((enum ptx_type)f->b, b, count, c->values);
    c->greatest =
        exponents_of(c->values, count, least_exponent((enum ptx_type)f->b), c->exponents);
}

/* ---- term by term ---- */

static float float_towards_zero(double x) {
    float f = (float)x;
    if (x == 0 || fabs(x) >= 0x1p128) {
        return f;
    }
    if (fabs((double)f) > fabs(x)) {
        f = nextafterf(f, 0.0f);
    }
    return f == 0 ? 0.0f : f;
}

static float float_narrow(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~UINT32_C(0x3ff);
    memcpy(&x, &bits, sizeof x);
    return x == 0 ? 0.0f : x;
}

static float result_of(const struct fused_sum *f, double sum) {
    if (sum != sum) {
        uint32_t bits = 0x7fffffff;
        float nan;
        memcpy(&nan, &bits, sizeof nan);
        return nan;
    }
    if (f->type_d == PTX_F16) {
        return half_to_float(half_of_double(sum)) + 0.0f;
    }
    float x = float_towards_zero(sum);
    return f->narrow ? float_narrow(x) : x;
}

static int exponent_of_c(const struct fused_sum *f, float c) {
    int16_t e;
    exponents_of(&c, 1, least_exponent((enum ptx_type)f->type_c), &e);
    return e;
}

static int least_e(const struct fused_sum *f) {
    return f->type_d == PTX_F16 ? -21 : -133;
}

/* 2^e, |e| < 1022. */
static double power_of_two(int e) {
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float element_slow(const struct fused_sum *f, const struct sum_rows *r,
                          unsigned row, const float *b, const int16_t *eb, float c) {
    const float *a = r->values + (size_t)(row / WIDE) * WIDE * r->k + row % WIDE;
    const int16_t *ea =
        r->exponents + (size_t)(row / WIDE) * WIDE * r->k + (size_t)(row % WIDE) * 2;
    double terms[FUSED_MAX_K + 1] = {c}, plain = c;
    unsigned count = 1;
    int e = exponent_of_c(f, c);
    for (unsigned k = 0; k < r->k; k++) {
        int x = ea[(size_t)(k / 2) * 2 * WIDE + k % 2];
        if (r->present[row] >> k & 1) {
            terms[count] = (double)a[(size_t)k * WIDE] * b[k];
            plain += terms[count++];
            e = e < x + eb[k] ? x + eb[k] : e;
        }
    }
    if (plain - plain != 0) { /* an infinity or NaN: finite terms do not overflow */
        return result_of(f, plain);
    }
    e = e < least_e(f) ? least_e(f) : e;
    double scale = power_of_two(f->fraction - e);
    int64_t sum = 0;
    for (unsigned k = 0; k < count; k++) {
        sum += (int64_t)(terms[k] * scale);
    }
    return result_of(f, (double)sum / scale);
}

/* WIDE rows from `first` on against SIDE columns. */
static void block_slow(const struct fused_sum *f, const struct sum_rows *r,
                       unsigned first, const float *b, const int16_t *eb, float *sums) {
    for (unsigned s = 0; s < SIDE; s++) {
        for (unsigned row = first; row < first + WIDE; row++) {
            float *at = sums + (size_t)s * f->m + row;
            *at = element_slow(f, r, row, b + s * r->k, eb + s * r->k, *at);
        }
    }
}

/* ---- vectors against columns ---- */

/* Of WIDE rows and one column, the greatest exponent of a product. a: exponents of two k
 * side by side; pairs: of b. */
LANE_INLINE vint greatest_exponent(const int16_t *a, const int16_t *pairs, unsigned k) {
    vshort most = (vshort)splat(0x80008000);
    for (unsigned i = 0; i < k; i += 2) {
        vshort x;
        int32_t pair;
        memcpy(&x, a + (size_t)i * WIDE, sizeof x);
        memcpy(&pair, pairs + i, sizeof pair);
        most = max_short(most, x + (vshort)splat(pair));
    }
    return max_int((vint)most >> 16, (vint)most << 16 >> 16);
}

/* E of products with c; *ret_slow: lanes that are not zero where it cannot be used. */
LANE_INLINE vint common_exponent(const struct fused_sum *f, vint products, vfloat c,
                                 vint *ret_slow) {
    vint e = max_int(products, exponent(c, least_exponent((enum ptx_type)f->type_c)));
    int least = f->type_d == PTX_F16 ? least_e(f) : LEAST_FAST;
    vint small = (e < LEAST_FAST) & (e > NO_EXPONENT / 2) & -(least == LEAST_FAST);
    *ret_slow = small | (e >= INFINITE);
    return max_int(e, splat(least));
}

/* The bits of a sum behind the first 24 are cut off, or (odd) or-ed into the 24th. */
LANE_INLINE hfloat half_to_24(hdouble x, bool odd) {
    hlong bits = (hlong)x;
    hlong low = bits & 0x1fffffff;
    hlong kept = bits - low;
    if (odd) {
        kept |= (low + 0x1fffffff) & 0x20000000;
    }
    return __builtin_convertvector((hdouble)kept, hfloat);
}

union halves {
    vint whole;
    hint part[2];
};
union half_floats {
    vfloat whole;
    hfloat part[2];
};

LANE_INLINE vfloat to_24_bits(vint x, vint y, bool odd) {
    union halves a = {.whole = x}, b = {.whole = y};
    union half_floats out;
    for (unsigned h = 0; h < 2; h++) {
        hdouble sum = __builtin_convertvector(a.part[h], hdouble) +
                      __builtin_convertvector(b.part[h], hdouble);
        out.part[h] = half_to_24(sum, odd);
    }
    return out.whole;
}

/* To the nearest f16; -0 to +0. */
LANE_INLINE vfloat round_to_half(vfloat x) {
#if WIDE == 16
    __m256i h = _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT);
    return (vfloat)_mm512_cvtph_ps(h) + 0.0f;
#elif WIDE == 8
    __m128i h = _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
    return (vfloat)_mm256_cvtph_ps(h) + 0.0f;
#else
    for (unsigned k = 0; k < WIDE; k++) {
        x[k] = half_to_float(half_of_double(x[k]));
    }
    return x + 0.0f;
#endif
}

/* WIDE rows against SIDE columns. false: some element has to be made term by term. */
LANE_INLINE bool block_fused(const struct fused_sum *f, const float *a, const int16_t *ea,
                             const float *b, const int16_t *eb, unsigned k, float *sums) {
    vfloat scale[SIDE], back[SIDE];
    vint low[SIDE], high[SIDE], slow = {0};
    for (unsigned s = 0; s < SIDE; s++) {
        vfloat c;
        vint not_here;
        memcpy(&c, sums + (size_t)s * f->m, sizeof c);
        vint e = greatest_exponent(ea, eb + (size_t)s * k, k);
        e = common_exponent(f, e, c, &not_here);
        slow |= not_here;
        scale[s] = (vfloat)((127 + f->fraction - e) << 23);
        back[s] = (vfloat)((127 - f->fraction + e) << 23);
        low[s] = __builtin_convertvector(c * scale[s], vint);
        high[s] = (vint){0};
    }
    if (any(slow)) {
        return false;
    }
    for (unsigned i = 0; i < k / 2; i++) {
        vfloat x, y;
        memcpy(&x, a + (size_t)i * WIDE, sizeof x);
        memcpy(&y, a + (size_t)(i + k / 2) * WIDE, sizeof y);
        for (unsigned s = 0; s < SIDE; s++) {
            const float *column = b + (size_t)s * k;
            low[s] += __builtin_convertvector(x * column[i] * scale[s], vint);
            high[s] += __builtin_convertvector(y * column[i + k / 2] * scale[s], vint);
        }
    }
    bool half = f->type_d == PTX_F16;
    for (unsigned s = 0; s < SIDE; s++) {
        vfloat d = to_24_bits(low[s], high[s], half) * back[s];
        d = half ? round_to_half(d) : d;
        d = f->narrow ? (vfloat)((vint)d & ~0x3ff) : d;
        memcpy(sums + (size_t)s * f->m, &d, sizeof d);
    }
    return true;
}

static void columns_sum(const struct fused_sum *f, const struct sum_rows *r,
                        const struct columns *c, unsigned count, float *sums) {
    unsigned k = r->k;
    bool wild = r->greatest >= INFINITE || c->greatest >= INFINITE ||
                r->greatest + c->greatest > 126;
    for (unsigned n = 0; n < count; n += SIDE) {
        const float *b = c->values + (size_t)n * k;
        const int16_t *eb = c->exponents + (size_t)n * k;
        float *at = sums + (size_t)n * f->m;
        for (unsigned m = 0; m < f->m; m += WIDE) {
            if (wild || !block_fused(f, r->values + (size_t)m * k,
                                     r->exponents + (size_t)m * k, b, eb, k, at + m)) {
                block_slow(f, r, m, b, eb, at);
            }
        }
    }
}

fused_sum_run LANES_NAME(fused_sum);
void LANES_NAME(fused_sum)(const struct fused_sum *f, const uint8_t *a,
                           const uint8_t *places, const uint8_t *b, float *sums) {
    struct sum_rows r;
    struct columns c;
    rows_decode(&r, f, a, places);
    size_t row_bytes = matrix_bytes((enum ptx_type)f->b, r.k);
    for (unsigned n = 0; n < f->n; n += COLUMNS) {
        unsigned count = f->n - n < COLUMNS ? f->n - n : COLUMNS;
        columns_decode(&c, f, b + n * row_bytes, count * r.k);
        columns_sum(f, &r, &c, count, sums + (size_t)n * f->m);
    }
}
