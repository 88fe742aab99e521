/* Integer arithmetic: add, sub, mul, mad, mul24, sad, div, rem, abs, neg, min, max, dp4a,
 * dp2a. Carry chains are in alu_carry.c, logic and bit fields in alu_bits.c.
 *
 * Everything wraps modulo 2^width unless .sat says otherwise. Quotient and
 * remainder by zero, which PTX leaves to the machine, are all ones, as ptxas folds them.
 * The most negative number divided by -1 is itself, with remainder 0. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/lanes.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

LANE_INLINE int32_t clamp_s32(int64_t v) {
    v = v > INT32_MAX ? INT32_MAX : v;
    return (int32_t)(v < INT32_MIN ? INT32_MIN : v);
}

/* Both halves of a 32-bit word on their own. */
#define HALVES(low, high) ((uint32_t)(uint16_t)(low) | (uint32_t)(high) << 16)
#define LOW_S(x) ((int16_t)(x))
#define HIGH_S(x) ((int16_t)((x) >> 16))
#define LOW_U(x) ((uint16_t)(x))
#define HIGH_U(x) ((uint16_t)((x) >> 16))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define MAX3(x, y, z) MAX(MAX(x, y), z)

/* U, S: the types; W, WS: of twice the width. */
#define WRAPPING(n, U, S, W, WS)                                                         \
    BINARY(add_##n, U, U, U, a + b)                                                      \
    BINARY(sub_##n, U, U, U, a - b)                                                      \
    BINARY(mul_lo_##n, U, U, U, (W)a *b)                                                 \
    BINARY(mul_hi_u##n, U, U, U, (W)a *b >> n)                                           \
    BINARY(mul_hi_s##n, S, S, S, (WS)a *b >> n)                                          \
    TERNARY(mad_lo_##n, U, U, U, U, (W)a *b + c)                                         \
    TERNARY(mad_hi_u##n, U, U, U, U, ((W)a * b >> n) + c)                                \
    TERNARY(mad_hi_s##n, U, S, S, U, (U)((WS)a * b >> n) + c)                            \
    TERNARY(sad_u##n, U, U, U, U, c + (a < b ? b - a : a - b))                           \
    TERNARY(sad_s##n, U, S, S, U, c + (a < b ? (U)b - (U)a : (U)a - (U)b))               \
    UNARY(abs_##n, U, S, a < 0 ? (U)0 - (U)a : (U)a)                                     \
    UNARY(neg_##n, U, U, (U)0 - a)
WRAPPING(16, uint16_t, int16_t, uint32_t, int32_t)
WRAPPING(32, uint32_t, int32_t, uint64_t, int64_t)
WRAPPING(64, uint64_t, int64_t, u128, s128)

#define EXTREMES(n, U, S)                                                                \
    BINARY(min_u##n, U, U, U, MIN(a, b))                                                 \
    BINARY(min_s##n, S, S, S, MIN(a, b))                                                 \
    BINARY(max_u##n, U, U, U, MAX(a, b))                                                 \
    BINARY(max_s##n, S, S, S, MAX(a, b))
EXTREMES(32, uint32_t, int32_t)
EXTREMES(64, uint64_t, int64_t)
/* In two loops: gcc 12 has no instruction for a blended 16-bit maximum of AVX-512
 * (internal compiler error), and makes one of every other form of it. */
#define EXTREME_16(name, T, expr)                                                        \
    static void name(STEP_ARGS) {                                                        \
        const T *pa = SOURCE(T, 0);                                                      \
        const T *pb = SOURCE(T, 1);                                                      \
        T t[LANES_COUNT] __attribute__((aligned(64)));                                   \
        LANES_FOR {                                                                      \
            const T a = pa[l], b = pb[l];                                                \
            t[l] = expr;                                                                 \
        }                                                                                \
        __asm__ volatile("" : : "r"(t) : "memory");                                      \
        LANES_EACH(T, { r = t[l]; });                                                    \
    }
EXTREME_16(min_u16, uint16_t, MIN(a, b))
EXTREME_16(min_s16, int16_t, MIN(a, b))
EXTREME_16(max_u16, uint16_t, MAX(a, b))
EXTREME_16(max_s16, int16_t, MAX(a, b))

#define WIDENING(n, U, S, W, WS)                                                         \
    BINARY(mul_wide_u##n, W, U, U, (W)a *b)                                              \
    BINARY(mul_wide_s##n, WS, S, S, (WS)a *b)                                            \
    TERNARY(mad_wide_u##n, W, U, U, W, (W)a *b + c)                                      \
    TERNARY(mad_wide_s##n, W, S, S, W, (W)((WS)a * b) + c)
WIDENING(16, uint16_t, int16_t, uint32_t, int32_t)
WIDENING(32, uint32_t, int32_t, uint64_t, int64_t)

BINARY(add_sat_s32, int32_t, int32_t, int32_t, clamp_s32((int64_t)a + b))
BINARY(sub_sat_s32, int32_t, int32_t, int32_t, clamp_s32((int64_t)a - b))
TERNARY(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
        clamp_s32(((int64_t)a * b >> 32) + c))

/* The low 24 bits, signed ones sign-extended. */
#define U24(x) ((uint64_t)((x)&0xffffff))
#define S24(x) ((int64_t)((int32_t)((x) << 8) >> 8))
#define MUL24(sign, X24)                                                                 \
    BINARY(mul24_lo_##sign, uint32_t, uint32_t, uint32_t, X24(a) * X24(b))               \
    BINARY(mul24_hi_##sign, uint32_t, uint32_t, uint32_t, X24(a) * X24(b) >> 16)         \
    TERNARY(mad24_lo_##sign, uint32_t, uint32_t, uint32_t, uint32_t,                     \
            (uint64_t)(X24(a) * X24(b)) + c)                                             \
    TERNARY(mad24_hi_##sign, uint32_t, uint32_t, uint32_t, uint32_t,                     \
            (uint64_t)(X24(a) * X24(b) >> 16) + c)
MUL24(u32, U24)
MUL24(s32, S24)
TERNARY(mad24_hi_sat_s32, int32_t, uint32_t, uint32_t, int32_t,
        clamp_s32((int64_t)(int32_t)(S24(a) * S24(b) >> 16) + c))

/* Quotients of unsigned numbers, b never 0. Those of 32 bits go through binary64: a/b is
 * at least 1/b away from the next larger integer, far more than half an ulp of the
 * quotient, so rounding never reaches it, and truncation of the rounded one is exact. */
LANE_INLINE uint32_t quotient_32(uint32_t a, uint32_t b) {
    return (uint32_t)((double)a / (double)b);
}
LANE_INLINE uint64_t quotient_64(uint64_t a, uint64_t b) {
    return a / b;
}
LANE_INLINE uint16_t quotient_16(uint16_t a, uint16_t b) {
    return (uint16_t)((float)a / (float)b);
}
#define DIVIDING(n, U, S)                                                                \
    LANE_INLINE U div_u_##n(U a, U b) {                                                  \
        return b ? quotient_##n(a, b ? b : 1) : (U)-1;                                   \
    }                                                                                    \
    LANE_INLINE U magnitude_##n(S a) {                                                   \
        return a < 0 ? (U)((U)0 - (U)a) : (U)a;                                          \
    }                                                                                    \
    LANE_INLINE U div_s_##n(S a, S b) {                                                  \
        U q = quotient_##n(magnitude_##n(a), b ? magnitude_##n(b) : 1);                  \
        q = (a < 0) != (b < 0) ? (U)((U)0 - q) : q;                                      \
        return b ? q : (U)-1;                                                            \
    }                                                                                    \
    BINARY(div_u##n, U, U, U, div_u_##n(a, b))                                           \
    BINARY(div_s##n, U, S, S, div_s_##n(a, b))                                           \
    BINARY(rem_u##n, U, U, U, b ? a - div_u_##n(a, b) * (uint64_t)b : UINT64_MAX)        \
    BINARY(rem_s##n, U, S, S, b ? (U)a - div_s_##n(a, b) * (uint64_t)b : UINT64_MAX)
DIVIDING(16, uint16_t, int16_t)
DIVIDING(32, uint32_t, int32_t)
DIVIDING(64, uint64_t, int64_t)

BINARY(add_16x2, uint32_t, uint32_t, uint32_t,
       HALVES(a + b, (uint16_t)(HIGH_U(a) + HIGH_U(b))))
BINARY(min_u16x2, uint32_t, uint32_t, uint32_t,
       HALVES(MIN(LOW_U(a), LOW_U(b)), MIN(HIGH_U(a), HIGH_U(b))))
BINARY(max_u16x2, uint32_t, uint32_t, uint32_t,
       HALVES(MAX(LOW_U(a), LOW_U(b)), MAX(HIGH_U(a), HIGH_U(b))))
BINARY(min_s16x2, uint32_t, uint32_t, uint32_t,
       HALVES(MIN(LOW_S(a), LOW_S(b)), (uint16_t)MIN(HIGH_S(a), HIGH_S(b))))
BINARY(max_s16x2, uint32_t, uint32_t, uint32_t,
       HALVES(MAX(LOW_S(a), LOW_S(b)), (uint16_t)MAX(HIGH_S(a), HIGH_S(b))))
BINARY(min_relu_s16x2, uint32_t, uint32_t, uint32_t,
       HALVES(MAX(MIN(LOW_S(a), LOW_S(b)), 0),
              (uint16_t)MAX(MIN(HIGH_S(a), HIGH_S(b)), 0)))
BINARY(max_relu_s16x2, uint32_t, uint32_t, uint32_t,
       HALVES(MAX3(LOW_S(a), LOW_S(b), 0), (uint16_t)MAX3(HIGH_S(a), HIGH_S(b), 0)))
BINARY(min_relu_s32, int32_t, int32_t, int32_t, MAX(MIN(a, b), 0))
BINARY(max_relu_s32, int32_t, int32_t, int32_t, MAX3(a, b, 0))

/* Dot products of bytes (dp4a) and of halves with bytes (dp2a). */
#define BYTE_u32(x, k) ((uint32_t)(uint8_t)((x) >> (8 * (k))))
#define BYTE_s32(x, k) ((uint32_t)(int8_t)((x) >> (8 * (k))))
#define HALF_u32(x, k) ((uint32_t)(uint16_t)((x) >> (16 * (k))))
#define HALF_s32(x, k) ((uint32_t)(int16_t)((x) >> (16 * (k))))
#define DOT(ta, tb)                                                                      \
    TERNARY(dp4a_##ta##_##tb, uint32_t, uint32_t, uint32_t, uint32_t,                    \
            c + BYTE_##ta(a, 0) * BYTE_##tb(b, 0) + BYTE_##ta(a, 1) * BYTE_##tb(b, 1) +  \
                BYTE_##ta(a, 2) * BYTE_##tb(b, 2) + BYTE_##ta(a, 3) * BYTE_##tb(b, 3))   \
    TERNARY(dp2a_lo_##ta##_##tb, uint32_t, uint32_t, uint32_t, uint32_t,                 \
            c + HALF_##ta(a, 0) * BYTE_##tb(b, 0) + HALF_##ta(a, 1) * BYTE_##tb(b, 1))   \
    TERNARY(dp2a_hi_##ta##_##tb, uint32_t, uint32_t, uint32_t, uint32_t,                 \
            c + HALF_##ta(a, 0) * BYTE_##tb(b, 2) + HALF_##ta(a, 1) * BYTE_##tb(b, 3))
DOT(u32, u32)
DOT(u32, s32)
DOT(s32, u32)
DOT(s32, s32)

/* Rows of both signs with one handler, and with one each. */
#define SAME(op, sources, handler, n, ...)                                               \
    ALU_ROW(op, sources, handler##_##n, U##n, ##__VA_ARGS__),                            \
        ALU_ROW(op, sources, handler##_##n, S##n, ##__VA_ARGS__)
#define EACH(op, sources, handler, n, ...)                                               \
    ALU_ROW(op, sources, handler##_u##n, U##n, ##__VA_ARGS__),                           \
        ALU_ROW(op, sources, handler##_s##n, S##n, ##__VA_ARGS__)
#define SAME_ALL(op, sources, handler, ...)                                              \
    SAME(op, sources, handler, 16, ##__VA_ARGS__),                                       \
        SAME(op, sources, handler, 32, ##__VA_ARGS__),                                   \
        SAME(op, sources, handler, 64, ##__VA_ARGS__)
#define EACH_ALL(op, sources, handler, ...)                                              \
    EACH(op, sources, handler, 16, ##__VA_ARGS__),                                       \
        EACH(op, sources, handler, 32, ##__VA_ARGS__),                                   \
        EACH(op, sources, handler, 64, ##__VA_ARGS__)
#define DOT_ROWS(TA, TB, ta, tb)                                                         \
    ALU_ROW2(DP4A, 3, dp4a_##ta##_##tb, TA, TB),                                         \
        ALU_ROW2(DP2A, 3, dp2a_lo_##ta##_##tb, TA, TB, PTX_M_LO),                        \
        ALU_ROW2(DP2A, 3, dp2a_hi_##ta##_##tb, TA, TB, PTX_M_HI)

static const struct alu_row rows[] = {
    SAME_ALL(ADD, 2, add),
    SAME_ALL(SUB, 2, sub),
    SAME_ALL(MUL, 2, mul_lo, PTX_M_LO),
    EACH_ALL(MUL, 2, mul_hi, PTX_M_HI),
    EACH(MUL, 2, mul_wide, 16, PTX_M_WIDE),
    EACH(MUL, 2, mul_wide, 32, PTX_M_WIDE),
    SAME_ALL(MAD, 3, mad_lo, PTX_M_LO),
    EACH_ALL(MAD, 3, mad_hi, PTX_M_HI),
    EACH(MAD, 3, mad_wide, 16, PTX_M_WIDE),
    EACH(MAD, 3, mad_wide, 32, PTX_M_WIDE),
    ALU_ROW(ADD, 2, add_sat_s32, S32, PTX_M_SAT),
    ALU_ROW(SUB, 2, sub_sat_s32, S32, PTX_M_SAT),
    ALU_ROW(MAD, 3, mad_hi_sat_s32, S32, PTX_M_HI, PTX_M_SAT),
    EACH(MUL24, 2, mul24_lo, 32, PTX_M_LO),
    EACH(MUL24, 2, mul24_hi, 32, PTX_M_HI),
    EACH(MAD24, 3, mad24_lo, 32, PTX_M_LO),
    EACH(MAD24, 3, mad24_hi, 32, PTX_M_HI),
    ALU_ROW(MAD24, 3, mad24_hi_sat_s32, S32, PTX_M_HI, PTX_M_SAT),
    EACH_ALL(SAD, 3, sad),
    EACH_ALL(DIV, 2, div),
    EACH_ALL(REM, 2, rem),
    ALU_ROW(ABS, 1, abs_16, S16),
    ALU_ROW(ABS, 1, abs_32, S32),
    ALU_ROW(ABS, 1, abs_64, S64),
    ALU_ROW(NEG, 1, neg_16, S16),
    ALU_ROW(NEG, 1, neg_32, S32),
    ALU_ROW(NEG, 1, neg_64, S64),
    EACH_ALL(MIN, 2, min),
    EACH_ALL(MAX, 2, max),
    ALU_ROW(ADD, 2, add_16x2, U16X2),
    ALU_ROW(ADD, 2, add_16x2, S16X2),
    ALU_ROW(MIN, 2, min_u16x2, U16X2),
    ALU_ROW(MIN, 2, min_s16x2, S16X2),
    ALU_ROW(MAX, 2, max_u16x2, U16X2),
    ALU_ROW(MAX, 2, max_s16x2, S16X2),
    ALU_ROW(MIN, 2, min_relu_s16x2, S16X2, PTX_M_RELU),
    ALU_ROW(MAX, 2, max_relu_s16x2, S16X2, PTX_M_RELU),
    ALU_ROW(MIN, 2, min_relu_s32, S32, PTX_M_RELU),
    ALU_ROW(MAX, 2, max_relu_s32, S32, PTX_M_RELU),
    DOT_ROWS(U32, U32, u32, u32),
    DOT_ROWS(U32, S32, u32, s32),
    DOT_ROWS(S32, U32, s32, u32),
    DOT_ROWS(S32, S32, s32, s32),
};

step_run *LANES_NAME(bind_integer)(const struct ptx_instruction *i, struct step *) {
    return alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
}
