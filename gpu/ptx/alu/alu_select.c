/* Comparison and choice: setp, set, testp, selp, slct, mov, logic of predicates.
 *
 * A comparison makes one bit per lane. Of floats, eq ne lt le gt ge are false and their
 * unordered forms (equ …) true when an operand is NaN; num and nan ask just that. */
#include "gpu/ptx/alu/comparison.h"
#include "gpu/ptx/alu/lanes_half.h"

typedef uint32_t compare_run(struct warp *warp, const struct step *step);

#define COMPARE(name, T, LOAD, expr)                                                     \
    static uint32_t name(struct warp *warp, const struct step *step) {                   \
        const T *pa_ = SOURCE(T, 0);                                                     \
        const T *pb_ = SOURCE(T, 1);                                                     \
        LANES_TRUTH(truth);                                                              \
        LANES_FOR {                                                                      \
            const __auto_type a = LOAD(pa_[l]);                                          \
            const __auto_type b = LOAD(pb_[l]);                                          \
            truth[l] = (expr) ? UINT32_MAX : 0;                                          \
        }                                                                                \
        return lanes_bits_32(truth);                                                     \
    }
#define SAME(x) (x)
#define COMPARE_ORDER(s, T, LOAD)                                                        \
    COMPARE(eq_##s, T, LOAD, a == b)                                                     \
    COMPARE(ne_##s, T, LOAD, a != b)                                                     \
    COMPARE(lt_##s, T, LOAD, a < b)                                                      \
    COMPARE(le_##s, T, LOAD, a <= b)                                                     \
    COMPARE(gt_##s, T, LOAD, a > b)                                                      \
    COMPARE(ge_##s, T, LOAD, a >= b)
COMPARE_ORDER(u16, uint16_t, SAME)
COMPARE_ORDER(s16, int16_t, SAME)
COMPARE_ORDER(u32, uint32_t, SAME)
COMPARE_ORDER(s32, int32_t, SAME)
COMPARE_ORDER(u64, uint64_t, SAME)
COMPARE_ORDER(s64, int64_t, SAME)

#define COMPARE_FLOAT(s, T, LOAD)                                                        \
    COMPARE(eq_##s, T, LOAD, a == b)                                                     \
    COMPARE(ne_##s, T, LOAD, a<b || a> b)                                                \
    COMPARE(lt_##s, T, LOAD, a < b)                                                      \
    COMPARE(le_##s, T, LOAD, a <= b)                                                     \
    COMPARE(gt_##s, T, LOAD, a > b)                                                      \
    COMPARE(ge_##s, T, LOAD, a >= b)                                                     \
    COMPARE(equ_##s, T, LOAD, !(a < b || a > b))                                         \
    COMPARE(neu_##s, T, LOAD, !(a == b))                                                 \
    COMPARE(ltu_##s, T, LOAD, !(a >= b))                                                 \
    COMPARE(leu_##s, T, LOAD, !(a > b))                                                  \
    COMPARE(gtu_##s, T, LOAD, !(a <= b))                                                 \
    COMPARE(geu_##s, T, LOAD, !(a < b))                                                  \
    COMPARE(num_##s, T, LOAD, a == a && b == b)                                          \
    COMPARE(nan_##s, T, LOAD, a != a || b != b)
#define LOW_F16(x) f32_of_f16((uint16_t)(x))
#define HIGH_F16(x) f32_of_f16((uint16_t)((x) >> 16))
#define LOW_F16_FTZ(x) f32_of_f16_ftz((uint16_t)(x))
#define HIGH_F16_FTZ(x) f32_of_f16_ftz((uint16_t)((x) >> 16))
#define LOW_BF16(x) f32_of_bf16((uint16_t)(x))
#define HIGH_BF16(x) f32_of_bf16((uint16_t)((x) >> 16))
COMPARE_FLOAT(f32, float, SAME)
COMPARE_FLOAT(f32_ftz, float, flush_f32)
COMPARE_FLOAT(f64, double, SAME)
COMPARE_FLOAT(f16, uint16_t, f32_of_f16)
COMPARE_FLOAT(f16_ftz, uint16_t, f32_of_f16_ftz)
COMPARE_FLOAT(bf16, uint16_t, f32_of_bf16)
COMPARE_FLOAT(f16_low, uint32_t, LOW_F16)
COMPARE_FLOAT(f16_high, uint32_t, HIGH_F16)
COMPARE_FLOAT(f16_ftz_low, uint32_t, LOW_F16_FTZ)
COMPARE_FLOAT(f16_ftz_high, uint32_t, HIGH_F16_FTZ)
COMPARE_FLOAT(bf16_low, uint32_t, LOW_BF16)
COMPARE_FLOAT(bf16_high, uint32_t, HIGH_BF16)

#define ORDER_ROW(s)                                                                     \
    { eq_##s, ne_##s, lt_##s, le_##s, gt_##s, ge_##s }
#define FLOAT_ROW(s)                                                                     \
    {                                                                                    \
        eq_##s, ne_##s, lt_##s, le_##s, gt_##s, ge_##s, equ_##s, neu_##s, ltu_##s,       \
            leu_##s, gtu_##s, geu_##s, num_##s, nan_##s                                  \
    }
static compare_run *const compares[COMPARED][COMPARISONS] = {
    [C_U16] = ORDER_ROW(u16),
    [C_S16] = ORDER_ROW(s16),
    [C_U32] = ORDER_ROW(u32),
    [C_S32] = ORDER_ROW(s32),
    [C_U64] = ORDER_ROW(u64),
    [C_S64] = ORDER_ROW(s64),
    [C_F32] = FLOAT_ROW(f32),
    [C_F32_FTZ] = FLOAT_ROW(f32_ftz),
    [C_F64] = FLOAT_ROW(f64),
    [C_F16] = FLOAT_ROW(f16),
    [C_F16_FTZ] = FLOAT_ROW(f16_ftz),
    [C_BF16] = FLOAT_ROW(bf16),
    [C_F16_LOW] = FLOAT_ROW(f16_low),
    [C_F16_HIGH] = FLOAT_ROW(f16_high),
    [C_F16_FTZ_LOW] = FLOAT_ROW(f16_ftz_low),
    [C_F16_FTZ_HIGH] = FLOAT_ROW(f16_ftz_high),
    [C_BF16_LOW] = FLOAT_ROW(bf16_low),
    [C_BF16_HIGH] = FLOAT_ROW(bf16_high),
};

LANE_INLINE uint32_t combined(struct warp *warp, const struct step *step, uint32_t bits) {
    switch ((enum combine)AUX_COMBINE(step->aux)) {
    case WITH_AND:
        return bits & lanes_predicate(warp, step, 2);
    case WITH_OR:
        return bits | lanes_predicate(warp, step, 2);
    case WITH_XOR:
        return bits ^ lanes_predicate(warp, step, 2);
    default:
        return bits;
    }
}

/* Both results are made before either is written: a source may be a result. */
LANE_INLINE void write_pair(STEP_ARGS, uint32_t p, uint32_t q) {
    uint32_t first = combined(warp, step, p), second = combined(warp, step, q);
    lanes_set_predicate(warp, step->dst, mask, first);
    lanes_set_predicate(warp, step->dst2, mask, second);
}
static void run_setp(STEP_ARGS) {
    uint32_t bits = compares[AUX_WHAT(step->aux)][AUX_HOW(step->aux)](warp, step);
    write_pair(warp, step, mask, bits, ~bits);
}
/* Of f16x2: p|q are the low and the high halves. The high comparison follows the low. */
static void run_setp_halves(STEP_ARGS) {
    uint32_t what = AUX_WHAT(step->aux), how = AUX_HOW(step->aux);
    uint32_t low = compares[what][how](warp, step);
    write_pair(warp, step, mask, low, compares[what + 1][how](warp, step));
}

/* The comparisons that are frequent in loops have separate handlers. */
#define SETP_DIRECT(name)                                                                \
    static void setp_##name(STEP_ARGS) {                                                 \
        uint32_t bits = name(warp, step);                                                \
        lanes_set_predicate(warp, step->dst, mask, bits);                                \
        lanes_set_predicate(warp, step->dst2, mask, ~bits);                              \
    }
#define SETP_DIRECT_ORDER(s)                                                             \
    SETP_DIRECT(eq_##s)                                                                  \
    SETP_DIRECT(ne_##s)                                                                  \
    SETP_DIRECT(lt_##s) SETP_DIRECT(le_##s) SETP_DIRECT(gt_##s) SETP_DIRECT(ge_##s)
SETP_DIRECT_ORDER(u32)
SETP_DIRECT_ORDER(s32)
SETP_DIRECT_ORDER(f32)
#define SETP_ROW(s)                                                                      \
    { setp_eq_##s, setp_ne_##s, setp_lt_##s, setp_le_##s, setp_gt_##s, setp_ge_##s }
static step_run *const direct[COMPARED][COMPARISONS] = {
    [C_U32] = SETP_ROW(u32),
    [C_S32] = SETP_ROW(s32),
    [C_F32] = SETP_ROW(f32),
};

/* set: one of two constants. */
#define SET(name, D, yes)                                                                \
    static void name(STEP_ARGS) {                                                        \
        uint32_t bits = compares[AUX_WHAT(step->aux)][AUX_HOW(step->aux)](warp, step);   \
        bits = combined(warp, step, bits);                                               \
        LANES_EACH(D, { r = (bits & lane_bits[l]) ? (D)(yes) : (D)0; });                 \
    }
SET(set_b32, uint32_t, UINT32_MAX)
SET(set_f32, uint32_t, 0x3f800000)
SET(set_b16, uint16_t, UINT16_MAX)
SET(set_f16, uint16_t, 0x3c00)
SET(set_bf16, uint16_t, 0x3f80)
#define SET_HALVES(name, yes)                                                            \
    static void name(STEP_ARGS) {                                                        \
        uint32_t what = AUX_WHAT(step->aux), how = AUX_HOW(step->aux);                   \
        uint32_t low = combined(warp, step, compares[what][how](warp, step));            \
        uint32_t high = combined(warp, step, compares[what + 1][how](warp, step));       \
        LANES_EACH(uint32_t, {                                                           \
            r = ((low & lane_bits[l]) ? (uint32_t)(yes) : 0) |                           \
                ((high & lane_bits[l]) ? (uint32_t)(yes) << 16 : 0);                     \
        });                                                                              \
    }
SET_HALVES(set_f16x2, 0x3c00)
SET_HALVES(set_bf16x2, 0x3f80)
SET_HALVES(set_b16x2, 0xffff)

/* Which comparison a modifier names for signed or unsigned numbers, -1 = none. */
static int comparison_take(struct alu_modifiers *m, bool is_float) {
    static const struct {
        uint16_t modifier;
        uint8_t how;
        bool of_floats;
    } names[] = {
        {PTX_M_EQ, EQ, false},  {PTX_M_NE, NE, false},  {PTX_M_LT, LT, false},
        {PTX_M_LE, LE, false},  {PTX_M_GT, GT, false},  {PTX_M_GE, GE, false},
        {PTX_M_LO, LT, false},  {PTX_M_LS, LE, false},  {PTX_M_HI, GT, false},
        {PTX_M_HS, GE, false},  {PTX_M_EQU, EQU, true}, {PTX_M_NEU, NEU, true},
        {PTX_M_LTU, LTU, true}, {PTX_M_LEU, LEU, true}, {PTX_M_GTU, GTU, true},
        {PTX_M_GEU, GEU, true}, {PTX_M_NUM, NUM, true}, {PTX_M_IS_NAN, NAN_, true},
    };
    for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        if ((is_float || !names[k].of_floats) && alu_take(m, names[k].modifier)) {
            return names[k].how;
        }
    }
    return -1;
}
static enum combine combine_take(struct alu_modifiers *m) {
    return alu_take(m, PTX_M_AND)   ? WITH_AND
           : alu_take(m, PTX_M_OR)  ? WITH_OR
           : alu_take(m, PTX_M_XOR) ? WITH_XOR
                                    : ALONE;
}
static int compared_type(unsigned type, bool ftz) {
    switch (type) {
    case PTX_B16:
    case PTX_U16:
        return C_U16;
    case PTX_S16:
        return C_S16;
    case PTX_B32:
    case PTX_U32:
        return C_U32;
    case PTX_S32:
        return C_S32;
    case PTX_B64:
    case PTX_U64:
        return C_U64;
    case PTX_S64:
        return C_S64;
    case PTX_F32:
        return ftz ? C_F32_FTZ : C_F32;
    case PTX_F64:
        return C_F64;
    case PTX_F16:
        return ftz ? C_F16_FTZ : C_F16;
    case PTX_BF16:
        return C_BF16;
    case PTX_F16X2:
        return ftz ? C_F16_FTZ_LOW : C_F16_LOW;
    case PTX_BF16X2:
        return C_BF16_LOW;
    default:
        return -1;
    }
}

/* Fills aux for a comparison of `type`; false when it does not exist. */
static bool bind_comparison(const struct ptx_instruction *i, unsigned type,
                            struct step *step) {
    struct alu_modifiers m = alu_modifiers_of(i);
    bool ftz = alu_take(&m, PTX_M_FTZ);
    bool can_flush = type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2;
    bool only_bits = type == PTX_B16 || type == PTX_B32 || type == PTX_B64;
    int what = compared_type(type, ftz);
    int how = comparison_take(&m, ptx_type_float(type));
    enum combine combine = combine_take(&m);
    unsigned sources = combine == ALONE ? 2 : 3;
    if (what < 0 || how < 0 || (ftz && !can_flush) ||
        (only_bits && how != EQ && how != NE) || !alu_nothing_left(&m) ||
        alu_sources(i) != sources) {
        return false;
    }
    step->aux = AUX(what, how, combine);
    return true;
}

static step_run *bind_setp(const struct ptx_instruction *i, struct step *step) {
    if (i->type_count != 1 || !bind_comparison(i, i->types[0], step)) {
        return NULL;
    }
    if (i->types[0] == PTX_F16X2 || i->types[0] == PTX_BF16X2) {
        return run_setp_halves;
    }
    step_run *run = direct[AUX_WHAT(step->aux)][AUX_HOW(step->aux)];
    return run && AUX_COMBINE(step->aux) == ALONE ? run : run_setp;
}

static step_run *bind_set(const struct ptx_instruction *i, struct step *step) {
    if (i->type_count != 2 || !bind_comparison(i, i->types[1], step)) {
        return NULL;
    }
    bool halves = i->types[1] == PTX_F16X2 || i->types[1] == PTX_BF16X2;
    switch (i->types[0]) {
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
        return halves ? set_b16x2 : set_b32;
    case PTX_F32:
        return halves ? NULL : set_f32;
    case PTX_U16:
    case PTX_S16:
        return halves ? NULL : set_b16;
    case PTX_F16:
        return halves ? NULL : set_f16;
    case PTX_BF16:
        return halves ? NULL : set_bf16;
    case PTX_F16X2:
        return halves ? set_f16x2 : NULL;
    case PTX_BF16X2:
        return halves ? set_bf16x2 : NULL;
    default:
        return NULL;
    }
}

/* testp: a zero counts as normal. */
#define TESTP(name, U, expr)                                                             \
    static void name(STEP_ARGS) {                                                        \
        const U *pa = SOURCE(U, 0);                                                      \
        LANES_TRUTH(truth);                                                              \
        LANES_FOR {                                                                      \
            const U a = pa[l] << 1 >> 1;                                                 \
            truth[l] = (expr) ? UINT32_MAX : 0;                                          \
        }                                                                                \
        lanes_set_predicate(warp, step->dst, mask, lanes_bits_32(truth));                \
    }
#define TESTPS(s, U, infinity, smallest)                                                 \
    TESTP(testp_finite_##s, U, a < (infinity))                                           \
    TESTP(testp_infinite_##s, U, a == (infinity))                                        \
    TESTP(testp_number_##s, U, a <= (infinity))                                          \
    TESTP(testp_notanumber_##s, U, a > (infinity))                                       \
    TESTP(testp_normal_##s, U, a < (infinity) && (a >= (smallest) || a == 0))            \
    TESTP(testp_subnormal_##s, U, a < (smallest) && a != 0)
TESTPS(f32, uint32_t, 0x7f800000u, 0x00800000u)
TESTPS(f64, uint64_t, UINT64_C(0x7ff0000000000000), UINT64_C(0x0010000000000000))

#define SELP(n, U)                                                                       \
    static void selp_##n(STEP_ARGS) {                                                    \
        const U *pa = SOURCE(U, 0);                                                      \
        const U *pb = SOURCE(U, 1);                                                      \
        const uint32_t p = lanes_predicate(warp, step, 2);                               \
        LANES_EACH(U, {                                                                  \
            const U a = pa[l];                                                           \
            const U b = pb[l];                                                           \
            r = (p & lane_bits[l]) ? a : b;                                              \
        });                                                                              \
    }                                                                                    \
    TERNARY(slct_##n##_s32, U, U, U, int32_t, c >= 0 ? a : b)                            \
    TERNARY(slct_##n##_f32, U, U, U, float, c >= 0 ? a : b)                              \
    TERNARY(slct_##n##_f32_ftz, U, U, U, float, flush_f32(c) >= 0 ? a : b)               \
    UNARY(mov_##n, U, U, a)
SELP(16, uint16_t)
SELP(32, uint32_t)
SELP(64, uint64_t)
UNARY(mov_8, uint8_t, uint8_t, a)
typedef unsigned __int128 u128;
UNARY(mov_128, u128, u128, a)

/* Logic of predicates: one word for the warp. */
#define LOGIC(name, expr)                                                                \
    static void name(STEP_ARGS) {                                                        \
        const uint32_t a = lanes_predicate(warp, step, 0);                               \
        const uint32_t b = lanes_predicate(warp, step, 1);                               \
        lanes_set_predicate(warp, step->dst, mask, expr);                                \
    }
LOGIC(and_pred, a &b)
LOGIC(or_pred, a | b)
LOGIC(xor_pred, a ^ b)
static void not_pred(STEP_ARGS) {
    lanes_set_predicate(warp, step->dst, mask, ~lanes_predicate(warp, step, 0));
}
static void mov_pred(STEP_ARGS) {
    lanes_set_predicate(warp, step->dst, mask, lanes_predicate(warp, step, 0));
}

#define TESTP_ROWS(s, T)                                                                 \
    ALU_ROW(TESTP, 1, testp_finite_##s, T, PTX_M_FINITE),                                \
        ALU_ROW(TESTP, 1, testp_infinite_##s, T, PTX_M_INFINITE),                        \
        ALU_ROW(TESTP, 1, testp_number_##s, T, PTX_M_NUMBER),                            \
        ALU_ROW(TESTP, 1, testp_notanumber_##s, T, PTX_M_NOTANUMBER),                    \
        ALU_ROW(TESTP, 1, testp_normal_##s, T, PTX_M_NORMAL),                            \
        ALU_ROW(TESTP, 1, testp_subnormal_##s, T, PTX_M_SUBNORMAL)
#define MOVES(T, n)                                                                      \
    ALU_ROW(MOV, 1, mov_##n, T), ALU_ROW(SELP, 3, selp_##n, T),                          \
        ALU_ROW2(SLCT, 3, slct_##n##_s32, T, S32),                                       \
        ALU_ROW2(SLCT, 3, slct_##n##_f32, T, F32),                                       \
        ALU_ROW2(SLCT, 3, slct_##n##_f32_ftz, T, F32, PTX_M_FTZ)
static const struct alu_row rows[] = {
    MOVES(B16, 16),
    MOVES(U16, 16),
    MOVES(S16, 16),
    MOVES(B32, 32),
    MOVES(U32, 32),
    MOVES(S32, 32),
    MOVES(F32, 32),
    MOVES(B64, 64),
    MOVES(U64, 64),
    MOVES(S64, 64),
    MOVES(F64, 64),
    ALU_ROW(MOV, 1, mov_16, F16),
    ALU_ROW(MOV, 1, mov_16, BF16),
    ALU_ROW(MOV, 1, mov_32, F16X2),
    ALU_ROW(MOV, 1, mov_32, BF16X2),
    ALU_ROW(MOV, 1, mov_8, B8),
    ALU_ROW(MOV, 1, mov_8, U8),
    ALU_ROW(MOV, 1, mov_8, S8),
    ALU_ROW(MOV, 1, mov_128, B128),
    ALU_ROW(MOV, 1, mov_pred, PRED),
    ALU_ROW(NOT, 1, not_pred, PRED),
    ALU_ROW(AND, 2, and_pred, PRED),
    ALU_ROW(OR, 2, or_pred, PRED),
    ALU_ROW(XOR, 2, xor_pred, PRED),
    TESTP_ROWS(f32, F32),
    TESTP_ROWS(f64, F64),
};

step_run *LANES_NAME(bind_select)(const struct ptx_instruction *i, struct step *step) {
    switch (i->opcode) {
    case PTX_OP_SETP:
        return bind_setp(i, step);
    case PTX_OP_SET:
        return bind_set(i, step);
    default:
        return alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
    }
}
