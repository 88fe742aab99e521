/* cvt between integers, f32 and f64; f16, bf16, tf32 and fp8 are in alu_convert_small.c.
 *
 * Integers to floats and f64 to f32 are rounded by the CPU in the direction asked for.
 * Floats to integers are rounded to an integral value, then clamped to the range. NaN
 * gives, as PTX ISA 9.0 has it, 0 when the source is not f64 and the destination not 64
 * bits wide, otherwise the top bit alone. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/lanes_float.h"

/* In the order of enum ptx_type from PTX_U8 on: name, type, least, greatest value. */
#define INTEGERS(X)                                                                      \
    X(u8, uint8_t, 0, UINT8_MAX)                                                         \
    X(u16, uint16_t, 0, UINT16_MAX)                                                      \
    X(u32, uint32_t, 0, UINT32_MAX)                                                      \
    X(u64, uint64_t, 0, UINT64_MAX)                                                      \
    X(s8, int8_t, INT8_MIN, INT8_MAX)                                                    \
    X(s16, int16_t, INT16_MIN, INT16_MAX)                                                \
    X(s32, int32_t, INT32_MIN, INT32_MAX)                                                \
    X(s64, int64_t, INT64_MIN, INT64_MAX)
#define INTEGER_TYPES 8
_Static_assert(PTX_U64 == PTX_U8 + 3 && PTX_S8 == PTX_U8 + 4 && PTX_S64 == PTX_U8 + 7,
               "");

/* From unsigned and signed sources into [least, greatest]. */
LANE_INLINE uint64_t clamp_unsigned(uint64_t v, uint64_t greatest) {
    return v > greatest ? greatest : v;
}
LANE_INLINE int64_t clamp_signed(int64_t v, int64_t least, uint64_t greatest) {
    uint64_t high = greatest > INT64_MAX ? INT64_MAX : greatest;
    v = v < least ? least : v;
    return v > (int64_t)high ? (int64_t)high : v;
}
#define CLAMP(S, a, least, greatest)                                                     \
    ((S)-1 < (S)1 ? (uint64_t)clamp_signed((int64_t)(a), least, greatest)                \
                  : clamp_unsigned((uint64_t)(a), greatest))

/* To each integer type from each. */
#define FROM_EACH(X, d, D, least, greatest)                                              \
    X(d, D, least, greatest, u8, uint8_t)                                                \
    X(d, D, least, greatest, u16, uint16_t)                                              \
    X(d, D, least, greatest, u32, uint32_t)                                              \
    X(d, D, least, greatest, u64, uint64_t)                                              \
    X(d, D, least, greatest, s8, int8_t)                                                 \
    X(d, D, least, greatest, s16, int16_t)                                               \
    X(d, D, least, greatest, s32, int32_t)                                               \
    X(d, D, least, greatest, s64, int64_t)
#define INTEGER_PAIR(d, D, least, greatest, s, S)                                        \
    UNARY(d##_of_##s, D, S, a)                                                           \
    UNARY(d##_sat_of_##s, D, S, CLAMP(S, a, least, greatest))
#define INTEGER_PAIRS(d, D, least, greatest)                                             \
    FROM_EACH(INTEGER_PAIR, d, D, least, greatest)
INTEGERS(INTEGER_PAIRS)

#define PAIR_ENTRY(d, D, least, greatest, s, S) {d##_of_##s, d##_sat_of_##s},
#define PAIR_ROW(d, D, least, greatest) {FROM_EACH(PAIR_ENTRY, d, D, least, greatest)},
static step_run *const integer_table[INTEGER_TYPES][INTEGER_TYPES][2] = {
    INTEGERS(PAIR_ROW)};

/* Integers to floats. */
LANE_INLINE double saturate_f64(double x) {
    double low = x > 0 ? x : 0.0;
    return low < 1 ? low : 1.0;
}
#define FLOATS_OF(s, S, least, greatest)                                                 \
    LANES_APART UNARY(f32_of_##s, float, S, (float)a) LANES_APART UNARY(                 \
        f32_sat_of_##s, float, S, saturate_f32((float)a)) LANES_APART                    \
    UNARY(f64_of_##s, double, S, (double)a) LANES_APART                                  \
    UNARY(f64_sat_of_##s, double, S, saturate_f64((double)a)) DIRECTED(f32_of_##s)       \
        DIRECTED(f32_sat_of_##s) DIRECTED(f64_of_##s) DIRECTED(f64_sat_of_##s)
INTEGERS(FLOATS_OF)
/* Unsigned results round down toward zero, where a conversion that subtracts a magic
 * number (clang's) gives +0 for 0 and not -0. */
#define FLOAT_DIRECTIONS(name, S)                                                        \
    { name, name##_rz, (S)-1 > 0 ? name##_rz : name##_rm, name##_rp }
#define FLOAT_ROW(s, S, least, greatest)                                                 \
    {{FLOAT_DIRECTIONS(f32_of_##s, S), FLOAT_DIRECTIONS(f32_sat_of_##s, S)},             \
     {FLOAT_DIRECTIONS(f64_of_##s, S), FLOAT_DIRECTIONS(f64_sat_of_##s, S)}},
/* [source][f64][sat][rounding] */
static step_run *const float_table[INTEGER_TYPES][2][2][4] = {INTEGERS(FLOAT_ROW)};

/* Floats to integers: the handler rounds in the current direction. `end` is the first
 * integral value past the greatest. */
#define TOP_BIT(D) ((D)((uint64_t)1 << (8 * sizeof(D) - 1)))
#define INTEGER_OF(D, T, x, least, greatest, nan)                                        \
    ({                                                                                   \
        const T x_ = (x), end_ = (T)(greatest / 2 + 1) * 2, low_ = (T)(least);           \
        const T safe_ = x_ >= low_ && x_ < end_ ? x_ : 0;                                \
        D d_ = (D)safe_;                                                                 \
        d_ = x_ >= end_ ? (D)(greatest) : d_;                                            \
        d_ = x_ < low_ ? (D)(least) : d_;                                                \
        x_ != x_ ? (D)(nan) : d_;                                                        \
    })
#define NAN_OF_F32(D) (sizeof(D) == 8 ? TOP_BIT(D) : (D)0)
#define INTEGERS_OF_FLOATS(d, D, least, greatest)                                        \
    LANES_APART UNARY(d##_of_f32, D, float,                                              \
                      INTEGER_OF(D, float, integral_f32(a), least, greatest,             \
                                 NAN_OF_F32(D))) LANES_APART                             \
    UNARY(d##_of_f32_ftz, D, float,                                                      \
          INTEGER_OF(D, float, integral_f32(flush_f32(a)), least, greatest,              \
                     NAN_OF_F32(D))) LANES_APART                                         \
    UNARY(d##_of_f64, D, double,                                                         \
          INTEGER_OF(D, double, integral_f64(a), least, greatest, TOP_BIT(D)))           \
        DIRECTED(d##_of_f32) DIRECTED(d##_of_f32_ftz) DIRECTED(d##_of_f64)
INTEGERS(INTEGERS_OF_FLOATS)
#define ROUNDED_ROW(d, D, least, greatest)                                               \
    {DIRECTED_ROW(d##_of_f32), DIRECTED_ROW(d##_of_f32_ftz), DIRECTED_ROW(d##_of_f64)},
/* [destination][f32, f32.ftz, f64][rounding] */
static step_run *const rounded_table[INTEGER_TYPES][3][4] = {INTEGERS(ROUNDED_ROW)};

/* Between f32 and f64, where a NaN keeps its sign and the upper bits of its payload, and
 * to integral values of the same type. */
#define KEEP(x) (x)
#define TO_F32(x) (float)(x)
#define TO_F32_FTZ(x) flush_f32((float)(x))
#define TO_F32_SAT(x) saturate_f32((float)(x))
#define TO_F32_FTZ_SAT(x) saturate_f32(flush_f32((float)(x)))
#define FROM_F64(suffix, TO)                                                             \
    LANES_APART UNARY(f32_of_f64##suffix, float, double, TO(a))                          \
        DIRECTED(f32_of_f64##suffix)
FROM_F64(_keep, TO_F32)
FROM_F64(_ftz, TO_F32_FTZ)
FROM_F64(_sat, TO_F32_SAT)
FROM_F64(_ftz_sat, TO_F32_FTZ_SAT)
UNARY(f64_of_f32_keep, double, float, (double)a)
UNARY(f64_of_f32_ftz, double, float, (double)flush_f32(a))
UNARY(f64_of_f32_sat, double, float, saturate_f64((double)a))
UNARY(f64_of_f32_ftz_sat, double, float, saturate_f64((double)flush_f32(a)))

UNARY(f32_of_f32_keep, uint32_t, uint32_t, a)
UNARY(f32_of_f32_ftz, float, float, flush_f32(a))
UNARY(f32_of_f32_sat, float, float, saturate_f32(a))
UNARY(f32_of_f32_ftz_sat, float, float, saturate_f32(flush_f32(a)))
#define INTEGRAL(suffix, IN, TO)                                                         \
    LANES_APART UNARY(f32_integral##suffix, float, float, TO(integral_f32(IN(a))))       \
        DIRECTED(f32_integral##suffix)
INTEGRAL(_keep, KEEP, settle_f32)
INTEGRAL(_ftz, flush_f32, settle_f32)
INTEGRAL(_sat, KEEP, saturate_f32)
INTEGRAL(_ftz_sat, flush_f32, saturate_f32)
UNARY(f64_of_f64_keep, double, double, settle_f64(a))
UNARY(f64_of_f64_sat, double, double, saturate_f64(a))
LANES_APART UNARY(f64_integral_keep, double, double,
                  settle_f64(integral_f64(a))) LANES_APART
    UNARY(f64_integral_sat, double, double, saturate_f64(integral_f64(a)))
        DIRECTED(f64_integral_keep) DIRECTED(f64_integral_sat)

#define FORMS(name)                                                                      \
    { name##_keep, name##_ftz, name##_sat, name##_ftz_sat }
#define DIRECTED_FORMS(name)                                                             \
    {                                                                                    \
        DIRECTED_ROW(name##_keep), DIRECTED_ROW(name##_ftz), DIRECTED_ROW(name##_sat),   \
            DIRECTED_ROW(name##_ftz_sat)                                                 \
    }
    /* [ftz + 2 sat] and the rounding */
    static step_run *const f32_of_f64_table[4][4] = DIRECTED_FORMS(f32_of_f64);
static step_run *const f32_integral_table[4][4] = DIRECTED_FORMS(f32_integral);
static step_run *const f64_of_f32_table[4] = FORMS(f64_of_f32);
static step_run *const f32_of_f32_table[4] = FORMS(f32_of_f32);
static step_run *const f64_integral_table[2][4] = {DIRECTED_ROW(f64_integral_keep),
                                                   DIRECTED_ROW(f64_integral_sat)};

struct conversion { /* what a cvt says */
    unsigned to, from;
    enum alu_rounding rounding, integral; /* .rn …, .rni … */
    bool ftz, sat;
};
static bool is_integer(unsigned type) {
    return type >= PTX_U8 && type <= PTX_S64;
}
static bool read_conversion(const struct ptx_instruction *i, struct conversion *c) {
    struct alu_modifiers m = alu_modifiers_of(i);
    c->to = i->types[0];
    c->from = i->types[1];
    c->rounding = alu_take_rounding(&m);
    c->integral = alu_take_integral(&m);
    c->ftz = alu_take(&m, PTX_M_FTZ);
    c->sat = alu_take(&m, PTX_M_SAT);
    return alu_nothing_left(&m);
}

static step_run *bind_to_integer(const struct conversion *c) {
    unsigned to = c->to - PTX_U8;
    if (c->integral == ALU_ROUND_NONE || c->rounding != ALU_ROUND_NONE) {
        return NULL;
    }
    if (c->from == PTX_F64) {
        return c->ftz ? NULL : rounded_table[to][2][c->integral];
    }
    return rounded_table[to][c->ftz][c->integral];
}
static step_run *bind_from_integer(const struct conversion *c) {
    if (c->rounding == ALU_ROUND_NONE || c->integral != ALU_ROUND_NONE ||
        (c->ftz && c->to == PTX_F64)) {
        return NULL; /* .ftz changes nothing: no integer is subnormal */
    }
    return float_table[c->from - PTX_U8][c->to == PTX_F64][c->sat][c->rounding];
}
static step_run *bind_between_floats(const struct conversion *c) {
    unsigned form = c->ftz + 2u * c->sat;
    if (c->from == PTX_F64 && c->to == PTX_F32) {
        return c->rounding == ALU_ROUND_NONE || c->integral != ALU_ROUND_NONE
                   ? NULL
                   : f32_of_f64_table[form][c->rounding];
    }
    if (c->rounding != ALU_ROUND_NONE) {
        return NULL;
    }
    if (c->from != c->to) {
        return c->integral == ALU_ROUND_NONE ? f64_of_f32_table[form] : NULL;
    }
    if (c->to == PTX_F32) {
        return c->integral == ALU_ROUND_NONE ? f32_of_f32_table[form]
                                             : f32_integral_table[form][c->integral];
    }
    if (c->ftz) {
        return NULL;
    }
    return c->integral != ALU_ROUND_NONE ? f64_integral_table[c->sat][c->integral]
           : c->sat                      ? f64_of_f64_sat
                                         : f64_of_f64_keep;
}

step_run *LANES_NAME(bind_convert)(const struct ptx_instruction *i, struct step *) {
    struct conversion c;
    if (i->opcode != PTX_OP_CVT || i->type_count != 2 || alu_sources(i) != 1 ||
        !read_conversion(i, &c)) {
        return NULL;
    }
    bool to_integer = is_integer(c.to), from_integer = is_integer(c.from);
    bool to_float = c.to == PTX_F32 || c.to == PTX_F64;
    bool from_float = c.from == PTX_F32 || c.from == PTX_F64;
    if (to_integer && from_integer) {
        return c.rounding == ALU_ROUND_NONE && c.integral == ALU_ROUND_NONE && !c.ftz
                   ? integer_table[c.to - PTX_U8][c.from - PTX_U8][c.sat]
                   : NULL;
    }
    return to_integer && from_float   ? bind_to_integer(&c)
           : to_float && from_integer ? bind_from_integer(&c)
           : to_float && from_float   ? bind_between_floats(&c)
                                      : NULL;
}
