/* f16, f16x2, bf16, bf16x2: add, sub, mul, fma, neg, abs, min, max. Bit-exact: every
 * result is rounded once.
 *
 * Sums and differences go through f32, whose 24 bits are at least twice those of the
 * format plus two, so that rounding twice is rounding once; products of f16 are exact
 * there. Products of bf16 may be subnormal in f32 and go through f64. fma keeps what its
 * sum loses by rounding to odd. NaN results are 0x7fff. */
#define LANES_TWO_LOOPS
#include "gpu/ptx/alu/lanes_half.h"
#include "gpu/ptx/state/tensor_blob.h"

#define F16_INFINITY 0x7c00u
#define BF16_INFINITY 0x7f80u

LANE_INLINE uint16_t f16_add(uint16_t a, uint16_t b) {
    return f16_of_f32(f32_of_f16(a) + f32_of_f16(b));
}
LANE_INLINE uint16_t f16_sub(uint16_t a, uint16_t b) {
    return f16_of_f32(f32_of_f16(a) - f32_of_f16(b));
}
LANE_INLINE uint16_t f16_mul(uint16_t a, uint16_t b) {
    return f16_of_f32(f32_of_f16(a) * f32_of_f16(b));
}
/* The product is exact in f32; two-sum and rounding to odd as in odd_sum. */
LANE_INLINE uint16_t f16_fma(uint16_t a, uint16_t b, uint16_t c) {
    float product = f32_of_f16(a) * f32_of_f16(b), addend = f32_of_f16(c);
    float sum = product + addend, part = sum - product;
    float error = (product - (sum - part)) + (addend - part);
    uint32_t bits = bits_of_f32(sum);
    uint32_t toward = (error > 0) == (sum > 0) ? 1u : UINT32_MAX;
    bool inexact = error > 0 || error < 0;
    return f16_of_f32(f32_of_bits(inexact && !(bits & 1) ? bits + toward : bits));
}
LANE_INLINE uint16_t bf16_add(uint16_t a, uint16_t b) {
    return bf16_of_f32(f32_of_bf16(a) + f32_of_bf16(b));
}
LANE_INLINE uint16_t bf16_sub(uint16_t a, uint16_t b) {
    return bf16_of_f32(f32_of_bf16(a) - f32_of_bf16(b));
}
LANE_INLINE uint16_t bf16_mul(uint16_t a, uint16_t b) {
    return bf16_of_f32(odd_f32((double)f32_of_bf16(a) * (double)f32_of_bf16(b)));
}
LANE_INLINE uint16_t bf16_fma(uint16_t a, uint16_t b, uint16_t c) {
    double product = (double)f32_of_bf16(a) * (double)f32_of_bf16(b);
    return bf16_of_f32(odd_f32(odd_sum(product, (double)f32_of_bf16(c))));
}

/* Applied to sources and results. */
#define KEEP(x) (x)
LANE_INLINE uint16_t saturate_f16(uint16_t h) {
    return (h & 0x8000) || h > F16_INFINITY ? 0 : h > 0x3c00 ? 0x3c00 : h;
}
#define SAT_FTZ(x) saturate_f16(flush_f16(x))
#define RELU(x) relu_half(x, F16_INFINITY)
#define RELU_FTZ(x) relu_half(flush_f16(x), F16_INFINITY)
#define BF16_RELU(x) relu_half(x, BF16_INFINITY)

/* A function of halves as a handler of one and of two of them. */
#define HALF1(name, f)                                                                   \
    UNARY(name, uint16_t, uint16_t, f(a))                                                \
    UNARY(name##_x2, uint32_t, uint32_t, HALVES(f(LOW_HALF(a)), f(HIGH_HALF(a))))
#define HALF2(name, f)                                                                   \
    BINARY(name, uint16_t, uint16_t, uint16_t, f(a, b))                                  \
    BINARY(name##_x2, uint32_t, uint32_t, uint32_t,                                      \
           HALVES(f(LOW_HALF(a), LOW_HALF(b)), f(HIGH_HALF(a), HIGH_HALF(b))))
#define HALF3(name, f)                                                                   \
    TERNARY(name, uint16_t, uint16_t, uint16_t, uint16_t, f(a, b, c))                    \
    TERNARY(name##_x2, uint32_t, uint32_t, uint32_t, uint32_t,                           \
            HALVES(f(LOW_HALF(a), LOW_HALF(b), LOW_HALF(c)),                             \
                   f(HIGH_HALF(a), HIGH_HALF(b), HIGH_HALF(c))))

#define OPERATION2(op, type, suffix, IN, OUT)                                            \
    LANE_INLINE uint16_t type##_##op##suffix(uint16_t a, uint16_t b) {                   \
        return OUT(type##_##op(IN(a), IN(b)));                                           \
    }                                                                                    \
    HALF2(op##_##type##suffix, type##_##op##suffix)
#define OPERATION3(type, suffix, IN, OUT)                                                \
    LANE_INLINE uint16_t type##_fma##suffix(uint16_t a, uint16_t b, uint16_t c) {        \
        return OUT(type##_fma(IN(a), IN(b), IN(c)));                                     \
    }                                                                                    \
    HALF3(fma_##type##suffix, type##_fma##suffix)
#define F16_OPERATION(op)                                                                \
    OPERATION2(op, f16, _keep, KEEP, KEEP)                                               \
    OPERATION2(op, f16, _ftz, flush_f16, flush_f16)                                      \
    OPERATION2(op, f16, _sat, KEEP, saturate_f16)                                        \
    OPERATION2(op, f16, _ftz_sat, flush_f16, SAT_FTZ)                                    \
    OPERATION2(op, bf16, _keep, KEEP, KEEP)
F16_OPERATION(add)
F16_OPERATION(sub)
F16_OPERATION(mul)
OPERATION3(f16, _keep, KEEP, KEEP)
OPERATION3(f16, _ftz, flush_f16, flush_f16)
OPERATION3(f16, _sat, KEEP, saturate_f16)
OPERATION3(f16, _ftz_sat, flush_f16, SAT_FTZ)
OPERATION3(f16, _relu, KEEP, RELU)
OPERATION3(f16, _ftz_relu, flush_f16, RELU_FTZ)
OPERATION3(bf16, _keep, KEEP, KEEP)
OPERATION3(bf16, _relu, KEEP, BF16_RELU)
/* .oob: nothing where a factor is what tensor copies fill with, whatever its sign. */
LANE_INLINE bool is_filled(uint16_t h) {
    return (h & 0x7fff) == TENSOR_NAN;
}
#define FILLED3(type, suffix)                                                            \
    LANE_INLINE uint16_t type##_fma##suffix##_oob(uint16_t a, uint16_t b, uint16_t c) {  \
        return is_filled(a) || is_filled(b) ? 0 : type##_fma##suffix(a, b, c);           \
    }                                                                                    \
    HALF3(fma_##type##suffix##_oob, type##_fma##suffix##_oob)
FILLED3(f16, _keep)
FILLED3(f16, _relu)
FILLED3(bf16, _keep)
FILLED3(bf16, _relu)

/* Extremes: the operand that is a number; .NaN: NaN when one is; .xorsign.abs: of the
 * magnitudes, with the sign of the product. */
LANE_INLINE bool is_nan_half(uint16_t h, uint32_t infinity) {
    return (h & 0x7fffu) > infinity;
}
LANE_INLINE uint16_t extreme_half(uint16_t a, uint16_t b, uint32_t infinity, bool least,
                                  bool nan, bool xorsign) {
    uint16_t sign = xorsign ? (a ^ b) & 0x8000 : 0;
    a = xorsign ? a & 0x7fff : a;
    b = xorsign ? b & 0x7fff : b;
    bool first = least ? order_half(a) < order_half(b) : order_half(a) > order_half(b);
    bool a_nan = is_nan_half(a, infinity), b_nan = is_nan_half(b, infinity);
    uint16_t r = b_nan || (first && !a_nan) ? a : b;
    bool is_nan = nan ? a_nan || b_nan : a_nan && b_nan;
    return is_nan ? HALF_NAN : r | sign;
}
#define EXTREME(op, type, suffix, IN, infinity, least, nan, xorsign)                     \
    LANE_INLINE uint16_t type##_##op##suffix(uint16_t a, uint16_t b) {                   \
        return extreme_half(IN(a), IN(b), infinity, least, nan, xorsign);                \
    }                                                                                    \
    HALF2(op##_##type##suffix, type##_##op##suffix)
#define EXTREMES(op, type, ftz, IN, infinity, least)                                     \
    EXTREME(op, type, ftz, IN, infinity, least, false, false)                            \
    EXTREME(op, type, ftz##_nan, IN, infinity, least, true, false)                       \
    EXTREME(op, type, ftz##_xorsign, IN, infinity, least, false, true)                   \
    EXTREME(op, type, ftz##_nan_xorsign, IN, infinity, least, true, true)
EXTREMES(min, f16, _keep, KEEP, F16_INFINITY, true)
EXTREMES(min, f16, _ftz, flush_f16, F16_INFINITY, true)
EXTREMES(min, bf16, _keep, KEEP, BF16_INFINITY, true)
EXTREMES(max, f16, _keep, KEEP, F16_INFINITY, false)
EXTREMES(max, f16, _ftz, flush_f16, F16_INFINITY, false)
EXTREMES(max, bf16, _keep, KEEP, BF16_INFINITY, false)

/* NaN becomes the one NaN; but of pairs without .ftz ptxas makes plain logic. */
#define SIGN_OF(type, suffix, IN, infinity)                                              \
    LANE_INLINE uint16_t type##_neg##suffix(uint16_t a) {                                \
        return is_nan_half(a, infinity) ? HALF_NAN : IN(a) ^ 0x8000;                     \
    }                                                                                    \
    LANE_INLINE uint16_t type##_abs##suffix(uint16_t a) {                                \
        return is_nan_half(a, infinity) ? HALF_NAN : IN(a) & 0x7fff;                     \
    }
SIGN_OF(f16, _keep, KEEP, F16_INFINITY)
SIGN_OF(f16, _ftz, flush_f16, F16_INFINITY)
SIGN_OF(bf16, _keep, KEEP, BF16_INFINITY)
UNARY(neg_f16_keep, uint16_t, uint16_t, f16_neg_keep(a))
UNARY(abs_f16_keep, uint16_t, uint16_t, f16_abs_keep(a))
UNARY(neg_bf16_keep, uint16_t, uint16_t, bf16_neg_keep(a))
UNARY(abs_bf16_keep, uint16_t, uint16_t, bf16_abs_keep(a))
HALF1(neg_f16_ftz, f16_neg_ftz)
HALF1(abs_f16_ftz, f16_abs_ftz)
UNARY(neg_x2, uint32_t, uint32_t, a ^ 0x80008000)
UNARY(abs_x2, uint32_t, uint32_t, a & 0x7fff7fff)

/* One row each for the scalar and the pair. */
#define BOTH(op, sources, handler, ...)                                                  \
    ALU_ROW(op, sources, handler, F16, ##__VA_ARGS__),                                   \
        ALU_ROW(op, sources, handler##_x2, F16X2, ##__VA_ARGS__)
#define BOTH_B(op, sources, handler, ...)                                                \
    ALU_ROW(op, sources, handler, BF16, ##__VA_ARGS__),                                  \
        ALU_ROW(op, sources, handler##_x2, BF16X2, ##__VA_ARGS__)
#define ARITHMETIC_ROWS(OP, op)                                                          \
    BOTH(OP, 2, op##_f16_keep), BOTH(OP, 2, op##_f16_keep, PTX_M_RN),                    \
        BOTH(OP, 2, op##_f16_ftz, PTX_M_FTZ),                                            \
        BOTH(OP, 2, op##_f16_ftz, PTX_M_RN, PTX_M_FTZ),                                  \
        BOTH(OP, 2, op##_f16_sat, PTX_M_SAT),                                            \
        BOTH(OP, 2, op##_f16_sat, PTX_M_RN, PTX_M_SAT),                                  \
        BOTH(OP, 2, op##_f16_ftz_sat, PTX_M_FTZ, PTX_M_SAT),                             \
        BOTH(OP, 2, op##_f16_ftz_sat, PTX_M_RN, PTX_M_FTZ, PTX_M_SAT),                   \
        BOTH_B(OP, 2, op##_bf16_keep), BOTH_B(OP, 2, op##_bf16_keep, PTX_M_RN)
#define EXTREME_ROWS(OP, op, ROWS, type, ...)                                            \
    ROWS(OP, 2, op##_##type, ##__VA_ARGS__),                                             \
        ROWS(OP, 2, op##_##type##_nan, PTX_M_NAN, ##__VA_ARGS__),                        \
        ROWS(OP, 2, op##_##type##_xorsign, PTX_M_XORSIGN, PTX_M_ABS, ##__VA_ARGS__),     \
        ROWS(OP, 2, op##_##type##_nan_xorsign, PTX_M_NAN, PTX_M_XORSIGN, PTX_M_ABS,      \
             ##__VA_ARGS__)
static const struct alu_row rows[] = {
    ARITHMETIC_ROWS(ADD, add),
    ARITHMETIC_ROWS(SUB, sub),
    ARITHMETIC_ROWS(MUL, mul),
    BOTH(FMA, 3, fma_f16_keep, PTX_M_RN),
    BOTH(FMA, 3, fma_f16_ftz, PTX_M_RN, PTX_M_FTZ),
    BOTH(FMA, 3, fma_f16_sat, PTX_M_RN, PTX_M_SAT),
    BOTH(FMA, 3, fma_f16_ftz_sat, PTX_M_RN, PTX_M_FTZ, PTX_M_SAT),
    BOTH(FMA, 3, fma_f16_relu, PTX_M_RN, PTX_M_RELU),
    BOTH(FMA, 3, fma_f16_ftz_relu, PTX_M_RN, PTX_M_FTZ, PTX_M_RELU),
    BOTH_B(FMA, 3, fma_bf16_keep, PTX_M_RN),
    BOTH_B(FMA, 3, fma_bf16_relu, PTX_M_RN, PTX_M_RELU),
    BOTH(FMA, 3, fma_f16_keep_oob, PTX_M_RN, PTX_M_OOB),
    BOTH(FMA, 3, fma_f16_relu_oob, PTX_M_RN, PTX_M_OOB, PTX_M_RELU),
    BOTH_B(FMA, 3, fma_bf16_keep_oob, PTX_M_RN, PTX_M_OOB),
    BOTH_B(FMA, 3, fma_bf16_relu_oob, PTX_M_RN, PTX_M_OOB, PTX_M_RELU),
    EXTREME_ROWS(MIN, min, BOTH, f16_keep),
    EXTREME_ROWS(MIN, min, BOTH, f16_ftz, PTX_M_FTZ),
    EXTREME_ROWS(MIN, min, BOTH_B, bf16_keep),
    EXTREME_ROWS(MAX, max, BOTH, f16_keep),
    EXTREME_ROWS(MAX, max, BOTH, f16_ftz, PTX_M_FTZ),
    EXTREME_ROWS(MAX, max, BOTH_B, bf16_keep),
    ALU_ROW(NEG, 1, neg_f16_keep, F16),
    ALU_ROW(NEG, 1, neg_bf16_keep, BF16),
    ALU_ROW(NEG, 1, neg_x2, F16X2),
    ALU_ROW(NEG, 1, neg_x2, BF16X2),
    BOTH(NEG, 1, neg_f16_ftz, PTX_M_FTZ),
    ALU_ROW(ABS, 1, abs_f16_keep, F16),
    ALU_ROW(ABS, 1, abs_bf16_keep, BF16),
    ALU_ROW(ABS, 1, abs_x2, F16X2),
    ALU_ROW(ABS, 1, abs_x2, BF16X2),
    BOTH(ABS, 1, abs_f16_ftz, PTX_M_FTZ),
};

step_run *LANES_NAME(bind_half)(const struct ptx_instruction *i, struct step *) {
    return alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
}
