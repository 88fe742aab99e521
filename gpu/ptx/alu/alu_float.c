/* f32 and f64 arithmetic of IEEE 754: add, sub, mul, fma, mad, div, rcp, sqrt in all four
 * roundings, .ftz and .sat; min, max, abs, neg, copysign. Bit-exact.
 *
 * NaN results are the one NaN that the hardware makes: 0x7fffffff, and for f64, where PTX
 * leaves the payload open, 0xfff8000000000000 (CUDART_NAN), whatever went in; so results
 * do not depend on the order in which a compiler puts operands. .ftz flushes a result
 * that is subnormal after rounding. Subnormals are never flushed without it. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/lanes_float.h"

#define KEEP(x) (x)
#define SETTLE_FTZ(x) flush_f32(settle_f32(x))
#define SAT(x) saturate_f32(x)
#define SAT_FTZ(x) saturate_f32(flush_f32(x))

/* One operation in one of the four forms: IN prepares sources, OUT the result. */
#define FORM(suffix, IN, OUT)                                                            \
    LANES_APART BINARY(add##suffix, float, float, float, OUT(IN(a) + IN(b))) LANES_APART \
    BINARY(sub##suffix, float, float, float, OUT(IN(a) - IN(b))) LANES_APART             \
    BINARY(mul##suffix, float, float, float, OUT(IN(a) * IN(b))) LANES_APART             \
    TERNARY(fma##suffix, float, float, float, float,                                     \
            OUT(__builtin_fmaf(IN(a), IN(b), IN(c)))) DIRECTED(add##suffix)              \
        DIRECTED(sub##suffix) DIRECTED(mul##suffix) DIRECTED(fma##suffix)
FORM(_f32, KEEP, settle_f32)
FORM(_f32_ftz, flush_f32, SETTLE_FTZ)
FORM(_f32_sat, KEEP, SAT)
FORM(_f32_ftz_sat, flush_f32, SAT_FTZ)

#define QUOTIENTS(suffix, IN, OUT)                                                       \
    LANES_APART BINARY(div##suffix, float, float, float, OUT(IN(a) / IN(b))) LANES_APART \
    UNARY(rcp##suffix, float, float, OUT(1.0f / IN(a))) LANES_APART                      \
    UNARY(sqrt##suffix, float, float, OUT(__builtin_sqrtf(IN(a)))) DIRECTED(div##suffix) \
        DIRECTED(rcp##suffix) DIRECTED(sqrt##suffix)
QUOTIENTS(_f32, KEEP, settle_f32)
QUOTIENTS(_f32_ftz, flush_f32, SETTLE_FTZ)

LANES_APART BINARY(add_f64, double, double, double, settle_f64(a + b)) LANES_APART
    BINARY(sub_f64, double, double, double, settle_f64(a - b)) LANES_APART
    BINARY(mul_f64, double, double, double, settle_f64(a *b)) LANES_APART
    TERNARY(fma_f64, double, double, double, double,
            settle_f64(__builtin_fma(a, b, c))) LANES_APART
    BINARY(div_f64, double, double, double, settle_f64(a / b)) LANES_APART
    UNARY(rcp_f64, double, double, settle_f64(1.0 / a)) LANES_APART
    UNARY(sqrt_f64, double, double, settle_f64(__builtin_sqrt(a))) DIRECTED(add_f64)
        DIRECTED(sub_f64) DIRECTED(mul_f64) DIRECTED(fma_f64) DIRECTED(div_f64)
            DIRECTED(rcp_f64) DIRECTED(sqrt_f64)

    /* The operand that is a number; NaN only when both are none. */
    LANE_INLINE float min_f32(float a, float b) {
    float low = order_f32(a) < order_f32(b) ? a : b;
    low = a != a ? b : low;
    return settle_f32(b != b ? a : low);
}
LANE_INLINE float max_f32(float a, float b) {
    float high = order_f32(a) > order_f32(b) ? a : b;
    high = a != a ? b : high;
    return settle_f32(b != b ? a : high);
}
LANE_INLINE double min_f64(double a, double b) {
    double low = order_f64(a) < order_f64(b) ? a : b;
    low = a != a ? b : low;
    return settle_f64(b != b ? a : low);
}
LANE_INLINE double max_f64(double a, double b) {
    double high = order_f64(a) > order_f64(b) ? a : b;
    high = a != a ? b : high;
    return settle_f64(b != b ? a : high);
}
/* .NaN: NaN when one is. */
LANE_INLINE float either_nan_f32(float a, float b, float r) {
    return f32_of_bits(a != a || b != b ? F32_NAN : bits_of_f32(r));
}
LANE_INLINE float abs_f32(float x) {
    return f32_of_bits(bits_of_f32(x) & 0x7fffffff);
}
/* .xorsign: the sign is that of the product; a NaN keeps none. */
LANE_INLINE float xorsign_f32(float a, float b, float r) {
    uint32_t sign = (bits_of_f32(a) ^ bits_of_f32(b)) & 0x80000000;
    return f32_of_bits(r != r ? F32_NAN : bits_of_f32(r) | sign);
}
#define EXTREMES(op, suffix, IN)                                                         \
    BINARY(op##suffix, float, float, float, op##_f32(IN(a), IN(b)))                      \
    BINARY(op##_nan##suffix, float, float, float,                                        \
           either_nan_f32(a, b, op##_f32(IN(a), IN(b))))                                 \
    BINARY(op##_xorsign##suffix, float, float, float,                                    \
           xorsign_f32(a, b, op##_f32(abs_f32(IN(a)), abs_f32(IN(b)))))                  \
    BINARY(op##_nan_xorsign##suffix, float, float, float,                                \
           xorsign_f32(a, b,                                                             \
                       either_nan_f32(a, b, op##_f32(abs_f32(IN(a)), abs_f32(IN(b))))))
EXTREMES(min, _keep, KEEP)
EXTREMES(min, _ftz, flush_f32)
EXTREMES(max, _keep, KEEP)
EXTREMES(max, _ftz, flush_f32)
BINARY(min_double, double, double, double, min_f64(a, b))
BINARY(max_double, double, double, double, max_f64(a, b))

/* Signs are bits: NaNs keep their payload, as ptxas has it. */
#define FLIP_F32(x) f32_of_bits(bits_of_f32(x) ^ 0x80000000)
UNARY(abs_keep, float, float, abs_f32(a))
UNARY(abs_ftz, float, float, abs_f32(flush_f32(a)))
UNARY(neg_keep, float, float, FLIP_F32(a))
UNARY(neg_ftz, float, float, FLIP_F32(flush_f32(a)))
UNARY(abs_double, uint64_t, uint64_t, a &INT64_MAX)
UNARY(neg_double, uint64_t, uint64_t, a ^ (uint64_t)INT64_MIN)
/* The sign of a on the magnitude of b. */
BINARY(copysign_float, uint32_t, uint32_t, uint32_t, (a & 0x80000000) | (b & 0x7fffffff))
BINARY(copysign_double, uint64_t, uint64_t, uint64_t,
       (a & (uint64_t)INT64_MIN) | (b & INT64_MAX))

enum arithmetic { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, ARITHMETICS };
#define ROW5(suffix)                                                                     \
    [ADD] = DIRECTED_ROW(add##suffix), [SUB] = DIRECTED_ROW(sub##suffix),                \
    [MUL] = DIRECTED_ROW(mul##suffix), [FMA] = DIRECTED_ROW(fma##suffix)
#define ROW3(suffix)                                                                     \
    [DIV] = DIRECTED_ROW(div##suffix), [RCP] = DIRECTED_ROW(rcp##suffix),                \
    [SQRT] = DIRECTED_ROW(sqrt##suffix)
/* [ftz + 2 sat][operation][rounding] */
static step_run *const f32_table[4][ARITHMETICS][4] = {
    {ROW5(_f32), ROW3(_f32)},
    {ROW5(_f32_ftz), ROW3(_f32_ftz)},
    {ROW5(_f32_sat)},
    {ROW5(_f32_ftz_sat)},
};
static step_run *const f64_table[ARITHMETICS][4] = {ROW5(_f64), ROW3(_f64)};

/* Which operation, how many sources, and whether a rounding must be written. */
static const struct {
    uint16_t opcode;
    uint8_t operation, sources;
    bool rounding;
} operations[] = {
    {PTX_OP_ADD, ADD, 2, false}, {PTX_OP_SUB, SUB, 2, false},
    {PTX_OP_MUL, MUL, 2, false}, {PTX_OP_FMA, FMA, 3, true},
    {PTX_OP_MAD, FMA, 3, true},  {PTX_OP_DIV, DIV, 2, true},
    {PTX_OP_RCP, RCP, 1, true},  {PTX_OP_SQRT, SQRT, 1, true},
};

static step_run *bind_arithmetic(const struct ptx_instruction *i) {
    struct alu_modifiers m = alu_modifiers_of(i);
    enum alu_rounding rounding = alu_take_rounding(&m);
    bool ftz = alu_take(&m, PTX_M_FTZ), sat = alu_take(&m, PTX_M_SAT);
    if (!alu_nothing_left(&m)) {
        return NULL;
    }
    for (unsigned k = 0; k < sizeof(operations) / sizeof(operations[0]); k++) {
        if (operations[k].opcode != i->opcode) {
            continue;
        }
        if (operations[k].sources != alu_sources(i) ||
            (operations[k].rounding && rounding == ALU_ROUND_NONE)) {
            return NULL;
        }
        rounding = rounding == ALU_ROUND_NONE ? ALU_RN : rounding;
        if (i->types[0] == PTX_F64) {
            return ftz || sat ? NULL : f64_table[operations[k].operation][rounding];
        }
        return f32_table[ftz + 2 * sat][operations[k].operation][rounding];
    }
    return NULL;
}

#define EXTREME_ROWS(OP, op)                                                             \
    ALU_ROW(OP, 2, op##_keep, F32), ALU_ROW(OP, 2, op##_ftz, F32, PTX_M_FTZ),            \
        ALU_ROW(OP, 2, op##_nan_keep, F32, PTX_M_NAN),                                   \
        ALU_ROW(OP, 2, op##_nan_ftz, F32, PTX_M_NAN, PTX_M_FTZ),                         \
        ALU_ROW(OP, 2, op##_xorsign_keep, F32, PTX_M_XORSIGN, PTX_M_ABS),                \
        ALU_ROW(OP, 2, op##_xorsign_ftz, F32, PTX_M_XORSIGN, PTX_M_ABS, PTX_M_FTZ),      \
        ALU_ROW(OP, 2, op##_nan_xorsign_keep, F32, PTX_M_NAN, PTX_M_XORSIGN, PTX_M_ABS), \
        ALU_ROW(OP, 2, op##_nan_xorsign_ftz, F32, PTX_M_NAN, PTX_M_XORSIGN, PTX_M_ABS,   \
                PTX_M_FTZ),                                                              \
        ALU_ROW(OP, 2, op##_double, F64)
static const struct alu_row rows[] = {
    EXTREME_ROWS(MIN, min),
    EXTREME_ROWS(MAX, max),
    ALU_ROW(ABS, 1, abs_keep, F32),
    ALU_ROW(ABS, 1, abs_ftz, F32, PTX_M_FTZ),
    ALU_ROW(ABS, 1, abs_double, F64),
    ALU_ROW(NEG, 1, neg_keep, F32),
    ALU_ROW(NEG, 1, neg_ftz, F32, PTX_M_FTZ),
    ALU_ROW(NEG, 1, neg_double, F64),
    ALU_ROW(COPYSIGN, 2, copysign_float, F32),
    ALU_ROW(COPYSIGN, 2, copysign_double, F64),
};

step_run *LANES_NAME(bind_float)(const struct ptx_instruction *i, struct step *) {
    if (i->type_count != 1 || (i->types[0] != PTX_F32 && i->types[0] != PTX_F64)) {
        return NULL;
    }
    step_run *run = alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
    return run ? run : bind_arithmetic(i);
}
