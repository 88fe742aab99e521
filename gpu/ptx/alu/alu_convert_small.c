/* cvt with f16, bf16, tf32, e4m3 and e5m2 on a side, and cvt.pack. Bit-exact.
 *
 * The pairs that kernels are full of have loops of their own. All others go through f64,
 * lane by lane of a buffer: exact for every source but 64-bit integers, which are rounded
 * to odd there (lanes_half.h); then rounded once. .ftz means f32 subnormals only. */
#define LANES_TWO_LOOPS
#include "gpu/ptx/alu/lanes_half.h"

/* f32 to a tf32 register: 10 bits of mantissa, the other 13 zero. */
LANE_INLINE uint32_t tf32_of_f32(float x, enum alu_rounding rounding, bool away,
                                 bool satfinite) {
    uint32_t bits = bits_of_f32(x), sign = bits & 0x80000000;
    uint32_t code = narrow_magnitude(bits, 8, 10, rounding, away) << 13;
    bool infinite = (bits & 0x7fffffff) == 0x7f800000;
    uint32_t over =
        !satfinite && (infinite || rounding == ALU_RN) ? 0x7f800000 : 0x7f7fe000;
    code = code >= 0x7f800000 ? over : code;
    uint32_t nan = away && !satfinite ? bits & ~0x1fffu : F32_NAN; /* as ptxas has it */
    return x != x ? nan : code | sign;
}
/* fp8 (OCP 8-bit floating point specification, revision 1.0), always .satfinite: e4m3 has
 * no infinity and one NaN a sign, 448 is its largest number; e5m2 is the upper byte of
 * f16. */
LANE_INLINE uint32_t e4m3_of_f32(float x) {
    uint32_t bits = bits_of_f32(x);
    uint32_t code = narrow_magnitude(bits, 4, 3, ALU_RN, false);
    code = code > 0x7e ? 0x7e : code;
    return x != x ? 0x7f : code | (bits >> 24 & 0x80);
}
LANE_INLINE uint32_t e5m2_of_f32(float x) {
    uint32_t bits = bits_of_f32(x);
    uint32_t code = narrow_magnitude(bits, 5, 2, ALU_RN, false);
    code = code > 0x7b ? 0x7b : code;
    return x != x ? 0x7f : code | (bits >> 24 & 0x80);
}
LANE_INLINE uint16_t f16_of_e5m2(uint32_t code) {
    return (code & 0x7f) > 0x7c ? HALF_NAN : (uint16_t)((code & 0xff) << 8);
}
LANE_INLINE uint16_t f16_of_e4m3(uint32_t code) {
    uint32_t magnitude = code & 0x7f, sign = (code & 0x80) << 8;
    float value = f32_of_f16((uint16_t)(magnitude << 7)) * 256; /* bias 15 to 7 */
    return magnitude == 0x7f ? HALF_NAN : (uint16_t)(f16_of_f32(value) | sign);
}

/* Loops of the frequent ones. */
UNARY(f32_of_f16_run, float, uint16_t, settle_f32(f32_of_f16(a)))
UNARY(f32_of_bf16_run, float, uint16_t, settle_f32(f32_of_bf16(a)))
UNARY(f16_of_f32_run, uint16_t, float, f16_of_f32(a))
UNARY(bf16_of_f32_run, uint16_t, float, bf16_of_f32(a))
BINARY(f16x2_of_f32_run, uint32_t, float, float, HALVES(f16_of_f32(b), f16_of_f32(a)))
BINARY(bf16x2_of_f32_run, uint32_t, float, float, HALVES(bf16_of_f32(b), bf16_of_f32(a)))
BINARY(e4m3x2_of_f32_run, uint16_t, float, float, e4m3_of_f32(b) | e4m3_of_f32(a) << 8)
BINARY(e5m2x2_of_f32_run, uint16_t, float, float, e5m2_of_f32(b) | e5m2_of_f32(a) << 8)
UNARY(f16x2_of_e4m3x2_run, uint32_t, uint16_t,
      HALVES(f16_of_e4m3(a), f16_of_e4m3(a >> 8)))
UNARY(f16x2_of_e5m2x2_run, uint32_t, uint16_t,
      HALVES(f16_of_e5m2(a), f16_of_e5m2(a >> 8)))
UNARY(tf32_of_f32_run, uint32_t, float, tf32_of_f32(a, ALU_RN, true, false))

/* To whole numbers, which a half of that size can be exactly. */
#define WHOLE(half, name, round)                                                         \
    UNARY(half##_##name, uint16_t, uint16_t, half##_of_f32(round(f32_of_##half(a))))
#define WHOLES(half)                                                                     \
    WHOLE(half, rni, __builtin_rintf)                                                    \
    WHOLE(half, rzi, __builtin_truncf)                                                   \
    WHOLE(half, rmi, __builtin_floorf)                                                   \
    WHOLE(half, rpi, __builtin_ceilf)                                                    \
    UNARY(half##_rni_s32, int32_t, uint16_t,                                             \
          s32_of_whole(__builtin_rintf(f32_of_##half(a))))                               \
    UNARY(half##_rzi_s32, int32_t, uint16_t, s32_of_whole(f32_of_##half(a)))
LANE_INLINE int32_t s32_of_whole(float x) {
    int32_t clamped = x >= 0x1p31f ? INT32_MAX : INT32_MIN;
    return x != x ? 0 : x < 0x1p31f && x >= -0x1p31f ? (int32_t)x : clamped;
}
WHOLES(f16)
WHOLES(bf16)

struct small { /* what a cvt says; packed into step->aux */
    unsigned to : 8, from : 8;
    enum alu_rounding rounding : 4, integral : 4;
    unsigned away : 1, ftz : 1, sat : 1, relu : 1, satfinite : 1;
};
_Static_assert(sizeof(struct small) == sizeof(uint32_t), "");
LANE_INLINE struct small small_of(const struct step *step) {
    struct small s;
    __builtin_memcpy(&s, &step->aux, sizeof(s));
    return s;
}

LANE_INLINE unsigned bytes_of(unsigned type) {
    switch (type) {
    case PTX_F16:
    case PTX_BF16:
        return 2;
    case PTX_F32:
    case PTX_TF32:
        return 4;
    case PTX_F64:
        return 8;
    default: /* an integer */
        return 1u << ((type - PTX_U8) & 3);
    }
}

LANE_INLINE double odd_of_u64(uint64_t v) {
    uint64_t sticky = (v & 0x7ff) != 0;
    return v >> 53 ? (double)(v >> 11 | sticky) * 2048 : (double)v;
}
LANE_INLINE double odd_of_s64(int64_t v) {
    return v < 0 ? -odd_of_u64(0 - (uint64_t)v) : odd_of_u64((uint64_t)v);
}
static double load_value(const uint8_t *at, unsigned type, unsigned l, bool ftz) {
#define LANE(T) (((const T *)(const void *)at)[l])
    switch (type) {
    case PTX_F16:
        return (double)f32_of_f16(LANE(uint16_t));
    case PTX_BF16:
        return (double)f32_of_bf16(LANE(uint16_t));
    case PTX_F32:
        return (double)(ftz ? flush_f32(LANE(float)) : LANE(float));
    case PTX_F64:
        return LANE(double);
    case PTX_U8:
        return LANE(uint8_t);
    case PTX_U16:
        return LANE(uint16_t);
    case PTX_U32:
        return LANE(uint32_t);
    case PTX_U64:
        return odd_of_u64(LANE(uint64_t));
    case PTX_S8:
        return LANE(int8_t);
    case PTX_S16:
        return LANE(int16_t);
    case PTX_S32:
        return LANE(int32_t);
    default:
        return odd_of_s64(LANE(int64_t));
    }
}

static double round_integral(double x, enum alu_rounding rounding) {
    switch (rounding) {
    case ALU_RN:
        return __builtin_rint(x);
    case ALU_RZ:
        return __builtin_trunc(x);
    case ALU_RM:
        return __builtin_floor(x);
    case ALU_RP:
        return __builtin_ceil(x);
    default:
        return x;
    }
}

/* An integral value as an integer of `bytes`, clamped; f16 and bf16 have no f64's NaN. */
static uint64_t store_integer(double x, unsigned bytes, bool is_signed) {
    const unsigned width = 8 * bytes;
    const uint64_t top = UINT64_C(1) << (width - 1);
    const double end = (double)top * (is_signed ? 1 : 2);
    if (x != x) {
        return bytes == 8 ? top : 0;
    }
    if (x >= end) {
        return is_signed ? top - 1 : top - 1 + top;
    }
    if (is_signed) {
        return x < -end ? top : (uint64_t)(int64_t)x;
    }
    return x < 0 ? 0 : (uint64_t)x;
}
static uint64_t store_value(double x, struct small s) {
    enum alu_rounding rounding = s.rounding == ALU_ROUND_NONE ? ALU_RN : s.rounding;
    if (s.sat) {
        x = x > 0 ? (x < 1 ? x : 1) : 0;
    }
    if (s.relu) {
        x = x <= 0 ? 0 : x;
    }
    switch (s.to) {
    case PTX_F16:
        return narrow_half(odd_f32(x), 5, 10, rounding, s.satfinite);
    case PTX_BF16:
        return narrow_half(odd_f32(x), 8, 7, rounding, s.satfinite);
    case PTX_TF32:
        return tf32_of_f32(odd_f32(x), rounding, s.away, s.satfinite);
    case PTX_F32:
        return bits_of_f32(settle_f32(s.ftz ? flush_f32((float)x) : (float)x));
    case PTX_F64:
        return x != x ? UINT64_C(0x7fffffffe0000000) : bits_of_f64(x); /* f32's */
    default:
        return store_integer(x, bytes_of(s.to), s.to >= PTX_S8);
    }
}

/* Any of the values above to any other. */
#define STORE(bytes, T)                                                                  \
    case bytes:                                                                          \
        LANES_EACH(T, { r = (T)results[l]; });                                           \
        break
static void run_any(STEP_ARGS) {
    const struct small s = small_of(step);
    const uint8_t *from = SOURCE(uint8_t, 0);
    uint64_t results[LANES_COUNT];
    for (unsigned l = 0; l < LANES_COUNT; l++) {
        double x = load_value(from, s.from, l, s.ftz);
        results[l] = store_value(round_integral(x, s.integral), s);
    }
    switch (bytes_of(s.to)) {
        STORE(1, uint8_t);
        STORE(2, uint16_t);
        STORE(4, uint32_t);
    default:
        LANES_EACH(uint64_t, { r = results[l]; });
    }
}

/* Two f32 to a pair of halves, the first source in the upper one. */
static void run_pair(STEP_ARGS) {
    const struct small s = small_of(step);
    struct small one = s;
    one.to = s.to == PTX_F16X2 ? PTX_F16 : PTX_BF16;
    const float *pa = SOURCE(float, 0);
    const float *pb = SOURCE(float, 1);
    LANES_EACH(uint32_t, {
        r = HALVES(store_value((double)pb[l], one), store_value((double)pa[l], one));
    });
}

/* To and from pairs of fp8, with .relu. */
LANE_INLINE float relu_f32(float x, bool relu) {
    return relu && x <= 0 ? 0 : x;
}
LANE_INLINE uint32_t fp8_of_f32(float x, unsigned type, bool relu) {
    x = relu_f32(x, relu);
    return type == PTX_E4M3X2 ? e4m3_of_f32(x) : e5m2_of_f32(x);
}
static void run_fp8_of_f32(STEP_ARGS) {
    const struct small s = small_of(step);
    const float *pa = SOURCE(float, 0);
    const float *pb = SOURCE(float, 1);
    LANES_EACH(uint16_t, {
        r = (uint16_t)(fp8_of_f32(pb[l], s.to, s.relu) | fp8_of_f32(pa[l], s.to, s.relu)
                                                             << 8);
    });
}
static void run_fp8_of_halves(STEP_ARGS) {
    const struct small s = small_of(step);
    const uint32_t *pa = SOURCE(uint32_t, 0);
    LANES_EACH(uint16_t, {
        r = (uint16_t)(fp8_of_f32(f32_of_f16(LOW_HALF(pa[l])), s.to, s.relu) |
                       fp8_of_f32(f32_of_f16(HIGH_HALF(pa[l])), s.to, s.relu) << 8);
    });
}
LANE_INLINE uint16_t f16_of_fp8(uint32_t code, unsigned type, bool relu) {
    uint16_t h = type == PTX_E4M3X2 ? f16_of_e4m3(code) : f16_of_e5m2(code);
    return relu ? relu_half(h, 0x7c00) : h;
}
static void run_halves_of_fp8(STEP_ARGS) {
    const struct small s = small_of(step);
    const uint16_t *pa = SOURCE(uint16_t, 0);
    LANES_EACH(uint32_t, {
        r = HALVES(f16_of_fp8(pa[l], s.from, s.relu),
                   f16_of_fp8(pa[l] >> 8u, s.from, s.relu));
    });
}

/* cvt.pack.sat: two integers side by side, a above b, above what c shifts in. */
LANE_INLINE uint32_t pack_one(int32_t v, int32_t least, int32_t greatest, unsigned bits) {
    v = v < least ? least : v > greatest ? greatest : v;
    return (uint32_t)v & ((1u << bits) - 1);
}
#define PACK2(name, least, greatest)                                                     \
    BINARY(name, uint32_t, int32_t, int32_t,                                             \
           pack_one(b, least, greatest, 16) | pack_one(a, least, greatest, 16) << 16)
#define PACK3(name, bits, least, greatest)                                               \
    TERNARY(name, uint32_t, int32_t, int32_t, uint32_t,                                  \
            pack_one(b, least, greatest, bits) |                                         \
                pack_one(a, least, greatest, bits) << (bits) | c << (2 * (bits)))
PACK2(pack_u16, 0, UINT16_MAX)
PACK2(pack_s16, INT16_MIN, INT16_MAX)
PACK3(pack_u8, 8, 0, UINT8_MAX)
PACK3(pack_s8, 8, INT8_MIN, INT8_MAX)
PACK3(pack_u4, 4, 0, 15)
PACK3(pack_s4, 4, -8, 7)
PACK3(pack_u2, 2, 0, 3)
PACK3(pack_s2, 2, -2, 1)

#define ROW3(handler, T)                                                                 \
    {                                                                                    \
        .opcode = PTX_OP_CVT, .types = {PTX_##T, PTX_S32, PTX_B32}, .type_count = 3,     \
        .sources = 3, .modifiers = {PTX_M_PACK, PTX_M_SAT}, .modifier_count = 2,         \
        .run = (handler)                                                                 \
    }
#define ROWS_WHOLE(T, half)                                                              \
    ALU_ROW2(CVT, 1, half##_rni, T, T, PTX_M_RNI),                                       \
        ALU_ROW2(CVT, 1, half##_rzi, T, T, PTX_M_RZI),                                   \
        ALU_ROW2(CVT, 1, half##_rmi, T, T, PTX_M_RMI),                                   \
        ALU_ROW2(CVT, 1, half##_rpi, T, T, PTX_M_RPI),                                   \
        ALU_ROW2(CVT, 1, half##_rni_s32, S32, T, PTX_M_RNI),                             \
        ALU_ROW2(CVT, 1, half##_rzi_s32, S32, T, PTX_M_RZI)
static const struct alu_row rows[] = {
    ALU_ROW2(CVT, 1, f32_of_f16_run, F32, F16),
    ALU_ROW2(CVT, 1, f32_of_bf16_run, F32, BF16),
    ALU_ROW2(CVT, 1, f16_of_f32_run, F16, F32, PTX_M_RN),
    ALU_ROW2(CVT, 1, bf16_of_f32_run, BF16, F32, PTX_M_RN),
    ALU_ROW2(CVT, 2, f16x2_of_f32_run, F16X2, F32, PTX_M_RN),
    ALU_ROW2(CVT, 2, bf16x2_of_f32_run, BF16X2, F32, PTX_M_RN),
    ALU_ROW2(CVT, 2, e4m3x2_of_f32_run, E4M3X2, F32, PTX_M_RN, PTX_M_SATFINITE),
    ALU_ROW2(CVT, 2, e5m2x2_of_f32_run, E5M2X2, F32, PTX_M_RN, PTX_M_SATFINITE),
    ALU_ROW2(CVT, 1, f16x2_of_e4m3x2_run, F16X2, E4M3X2, PTX_M_RN),
    ALU_ROW2(CVT, 1, f16x2_of_e5m2x2_run, F16X2, E5M2X2, PTX_M_RN),
    ALU_ROW2(CVT, 1, tf32_of_f32_run, TF32, F32, PTX_M_RNA),
    ROWS_WHOLE(F16, f16),
    ROWS_WHOLE(BF16, bf16),
    ALU_ROW2(CVT, 2, pack_u16, U16, S32, PTX_M_PACK, PTX_M_SAT),
    ALU_ROW2(CVT, 2, pack_s16, S16, S32, PTX_M_PACK, PTX_M_SAT),
    ROW3(pack_u8, U8),
    ROW3(pack_s8, S8),
    ROW3(pack_u4, U4),
    ROW3(pack_s4, S4),
    ROW3(pack_u2, U2),
    ROW3(pack_s2, S2),
};

static bool is_integer(unsigned type) {
    return type >= PTX_U8 && type <= PTX_S64;
}
static bool is_half(unsigned type) {
    return type == PTX_F16 || type == PTX_BF16;
}
static bool is_fp8(unsigned type) {
    return type == PTX_E4M3X2 || type == PTX_E5M2X2;
}

static step_run *bind_pairs(struct small s, unsigned sources) {
    bool plain = !s.ftz && !s.sat && s.integral == ALU_ROUND_NONE && !s.away;
    bool nearest = s.rounding == ALU_RN;
    if (!plain) {
        return NULL;
    }
    if ((s.to == PTX_F16X2 || s.to == PTX_BF16X2) && s.from == PTX_F32) {
        return sources == 2 && (nearest || s.rounding == ALU_RZ) ? run_pair : NULL;
    }
    if (is_fp8(s.to) && nearest && s.satfinite) {
        return s.from == PTX_F32 && sources == 2     ? run_fp8_of_f32
               : s.from == PTX_F16X2 && sources == 1 ? run_fp8_of_halves
                                                     : NULL;
    }
    return s.to == PTX_F16X2 && is_fp8(s.from) && sources == 1 && nearest && !s.satfinite
               ? run_halves_of_fp8
               : NULL;
}

/* Rounding is written exactly where something may be lost. */
static bool has_right_rounding(struct small s) {
    bool rounded = s.rounding != ALU_ROUND_NONE, integral = s.integral != ALU_ROUND_NONE;
    if (s.to == PTX_TF32) {
        return rounded && !integral && s.from == PTX_F32;
    }
    if (is_integer(s.to)) {
        return integral && !rounded && !s.relu && !s.satfinite;
    }
    if (s.to == s.from) {
        return !rounded;
    }
    if (is_half(s.to)) {
        return rounded && !integral;
    }
    return !rounded && !integral && !s.relu && !s.satfinite; /* f32, f64 of a half */
}

static step_run *bind_any(struct small s) {
    bool small = is_half(s.to) || is_half(s.from) || s.to == PTX_TF32;
    bool known_to = is_half(s.to) || is_integer(s.to) || s.to == PTX_F32 ||
                    s.to == PTX_F64 || s.to == PTX_TF32;
    bool known_from =
        is_half(s.from) || is_integer(s.from) || s.from == PTX_F32 || s.from == PTX_F64;
    if (!small || !known_to || !known_from || !has_right_rounding(s) ||
        (s.away && s.to != PTX_TF32) || (s.sat && (s.relu || s.satfinite))) {
        return NULL;
    }
    return run_any;
}

step_run *LANES_NAME(bind_convert_small)(const struct ptx_instruction *i,
                                         struct step *step) {
    step_run *run = alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
    if (run || i->opcode != PTX_OP_CVT || i->type_count != 2) {
        return run;
    }
    struct alu_modifiers m = alu_modifiers_of(i);
    struct small s = {.to = i->types[0], .from = i->types[1]};
    s.rounding = alu_take_rounding(&m);
    s.integral = alu_take_integral(&m);
    s.away = alu_take(&m, PTX_M_RNA);
    s.rounding = s.away ? ALU_RN : s.rounding;
    s.ftz = alu_take(&m, PTX_M_FTZ);
    s.sat = alu_take(&m, PTX_M_SAT);
    s.relu = alu_take(&m, PTX_M_RELU);
    s.satfinite = alu_take(&m, PTX_M_SATFINITE);
    if (!alu_nothing_left(&m)) {
        return NULL;
    }
    run = bind_pairs(s, alu_sources(i));
    run = run ? run : alu_sources(i) == 1 ? bind_any(s) : NULL;
    if (run) {
        __builtin_memcpy(&step->aux, &s, sizeof(s));
    }
    return run;
}
