/* Functions that PTX defines by a bound only: ex2, lg2, sin, cos, tanh, rsqrt, rcp, sqrt,
 * div in their .approx and .full forms.
 *
 * What is computed here is the ideal: the function in f64, rounded once. A GPU's result
 * differs from it by less than the bound of PTX ISA 9.0 (for f32: ex2 2^-22.5 relative;
 * lg2 2^-22 absolute on (0.5, 2), else relative; sin, cos 2^-20.5 absolute on [-2pi,
 * 2pi]; tanh 2^-11 relative; rsqrt 2^-22.9, sqrt 2^-23 relative; rcp 1 ulp; div 2 ulp.
 * f16: ex2 2^-9.9 relative, tanh 2^-10.987 absolute; bf16: ex2 2^-7, tanh 2^-8 relative).
 * The f64 evaluations below are within 2^-48 relative (absolute for sin and cos next to
 * their zeros), so the rounded result is the correctly rounded one but for about one
 * argument in 2^20. They are made of single additions and multiplications, never fused:
 * every CPU gives the same bits. */
#include "gpu/ptx/alu/lanes_half.h"

#include <math.h>

/* 2^x for any x: x = n + r, |r| <= 1/2; the Taylor series of e^(r ln 2) to r^12. Beyond
 * +-1000 the result is 0 or infinite in every format here. */
LANE_INLINE double exp2_value(double x) {
    double in = x > 1000 ? 1000 : x;
    in = in < -1000 ? -1000 : in;
    const double shifted = in + 0x1.8p52;
    const double r = in - (shifted - 0x1.8p52);
    double p = 0x1.c3bd650fc2986p-36;
    p = p * r + 0x1.e8cac7351bb25p-32;
    p = p * r + 0x1.e4cf5158b8ecap-28;
    p = p * r + 0x1.b5253d395e7c4p-24;
    p = p * r + 0x1.62c0223a5c824p-20;
    p = p * r + 0x1.ffcbfc588b0c7p-17;
    p = p * r + 0x1.430912f86c787p-13;
    p = p * r + 0x1.5d87fe78a6731p-10;
    p = p * r + 0x1.3b2ab6fba4e77p-7;
    p = p * r + 0x1.c6b08d704a0c0p-5;
    p = p * r + 0x1.ebfbdff82c58fp-3;
    p = p * r + 0x1.62e42fefa39efp-1;
    p = p * r + 1;
    const double result = f64_of_bits(bits_of_f64(p) + (bits_of_f64(shifted) << 52));
    return x != x ? x : result;
}

/* log2 of a positive normal f64: m 2^e with m in [sqrt(1/2), sqrt(2)); with s =
 * (m-1)/(m+1) the series 2/ln 2 (s + s^3/3 + …), |s| < 0.172. */
LANE_INLINE double log2_positive(double x) {
    const uint64_t low = UINT64_C(0x3fe6a09e667f3bcd); /* sqrt(1/2) */
    const uint64_t raised = bits_of_f64(x) - low + (UINT64_C(1024) << 52);
    const double e = (double)(int32_t)(raised >> 52) - 1024;
    const double m = f64_of_bits((raised & 0xfffffffffffff) + low);
    const double s = (m - 1) / (m + 1), z = s * s;
    double p = 0x1.00ecd7e080215p-3;
    p = p * z + 0x1.1964ec6fc9491p-3;
    p = p * z + 0x1.3703c1f4d0ffep-3;
    p = p * z + 0x1.5b9ac9b743f0dp-3;
    p = p * z + 0x1.89f3b1694cffep-3;
    p = p * z + 0x1.c68f568d31760p-3;
    p = p * z + 0x1.0c9a84994022dp-2;
    p = p * z + 0x1.484b13d7c02a9p-2;
    p = p * z + 0x1.a61762a7aded9p-2;
    p = p * z + 0x1.2776c50ef9bfep-1;
    p = p * z + 0x1.ec709dc3a03fdp-1;
    p = p * z + 0x1.71547652b82fep+1;
    return p * s + e;
}
LANE_INLINE double log2_value(double x) {
    const bool usual = x > 0 && x < (double)INFINITY;
    double r = log2_positive(usual ? x : 1);
    r = x == 0 ? -(double)INFINITY : r;
    r = x < 0 || x != x ? (double)NAN : r;
    return x == (double)INFINITY ? x : r;
}

/* x - n pi/2 for |x| <= 2^19: pi/2 in three parts, the first two of 33 bits, so that
 * their products with n are exact. The quadrant is in the low bits of `shifted`. */
#define TRIG_LIMIT 0x49000000u /* 2^19 as a float's bits */
struct quadrant {
    double r;
    uint64_t n;
};
LANE_INLINE struct quadrant reduce_angle(double x) {
    const double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = shifted - 0x1.8p52;
    const double r = (x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34;
    return (struct quadrant){r - n * 0x1.3198a2e037073p-69, bits_of_f64(shifted)};
}
LANE_INLINE double sin_series(double r) {
    const double z = r * r;
    double p = -0x1.ae7f3e733b81fp-41;
    p = p * z + 0x1.6124613a86d09p-33;
    p = p * z - 0x1.ae64567f544e4p-26;
    p = p * z + 0x1.71de3a556c734p-19;
    p = p * z - 0x1.a01a01a01a01ap-13;
    p = p * z + 0x1.1111111111111p-7;
    p = p * z - 0x1.5555555555555p-3;
    return r + r * (z * p);
}
LANE_INLINE double cos_series(double r) {
    const double z = r * r;
    double p = 0x1.ae7f3e733b81fp-45;
    p = p * z - 0x1.93974a8c07c9dp-37;
    p = p * z + 0x1.1eed8eff8d898p-29;
    p = p * z - 0x1.27e4fb7789f5cp-22;
    p = p * z + 0x1.a01a01a01a01ap-16;
    p = p * z - 0x1.6c16c16c16c17p-10;
    p = p * z + 0x1.5555555555555p-5;
    p = p * z - 0x1.0000000000000p-1;
    return p * z + 1;
}
/* sin(x + turns pi/2) */
LANE_INLINE double sin_value(double x, uint64_t turns) {
    const struct quadrant q = reduce_angle(x);
    const uint64_t n = q.n + turns;
    const double r = n & 1 ? cos_series(q.r) : sin_series(q.r);
    return f64_of_bits(bits_of_f64(r) ^ (n & 2) << 62);
}

/* tanh: a Pade quotient near 0, else by 2^x, which costs no digits there. */
LANE_INLINE double tanh_value(double x) {
    const double z = x * x;
    const double top = ((z + 378) * z + 17325) * z + 135135;
    const double bottom = ((28 * z + 3150) * z + 62370) * z + 135135;
    const double size = x < 0 ? -x : x;
    const double e = exp2_value((size < 30 ? size : 30) * -0x1.71547652b82fep+1);
    const double far = (1 - e) / (1 + e);
    const double r = size < 0.25 ? size * (top / bottom) : far;
    return x != x ? x
                  : f64_of_bits(bits_of_f64(r) | (bits_of_f64(x) & (uint64_t)INT64_MIN));
}
LANE_INLINE double rsqrt_value(double x) {
    return 1.0 / __builtin_sqrt(x);
}
LANE_INLINE double sqrt_value(double x) {
    return __builtin_sqrt(x);
}
LANE_INLINE double rcp_value(double x) {
    return 1.0 / x;
}

#define TO_F32(x) settle_f32((float)(x))
#define TO_F32_FTZ(x) settle_f32(flush_f32((float)(x)))
#define SPECIAL(name, value)                                                             \
    UNARY(name##_f32, float, float, TO_F32(value((double)a)))                            \
    UNARY(name##_f32_ftz, float, float, TO_F32_FTZ(value((double)flush_f32(a))))
SPECIAL(ex2, exp2_value)
SPECIAL(lg2, log2_value)
UNARY(tanh_f32, float, float, TO_F32(tanh_value((double)a)))
SPECIAL(rsqrt, rsqrt_value)
SPECIAL(sqrt, sqrt_value)
SPECIAL(rcp, rcp_value)

/* Angles that the reduction above cannot take go through the C library, lane by lane. */
LANE_INLINE float angle_f32(float x, bool ftz) {
    return ftz ? flush_f32(x) : x;
}
#define TRIG(name, turns, library, ftz)                                                  \
    static void name##_far(STEP_ARGS) {                                                  \
        const float *pa = SOURCE(float, 0);                                              \
        float t[LANES_COUNT];                                                            \
        for (unsigned l = 0; l < LANES_COUNT; l++) {                                     \
            t[l] = settle_f32((float)library((double)angle_f32(pa[l], ftz)));            \
        }                                                                                \
        LANES_EACH(float, { r = angle_f32(t[l], ftz); });                                \
    }                                                                                    \
    static void name(STEP_ARGS) {                                                        \
        const float *pa = SOURCE(float, 0);                                              \
        uint32_t far = 0;                                                                \
        LANES_FOR {                                                                      \
            far |= (bits_of_f32(pa[l]) & 0x7fffffff) > TRIG_LIMIT ? lane_bits[l] : 0;    \
        }                                                                                \
        if (far & mask) {                                                                \
            name##_far(warp, step, mask);                                                \
            return;                                                                      \
        }                                                                                \
        LANES_EACH(float, {                                                              \
            const float x = angle_f32(pa[l], ftz);                                       \
            r = angle_f32((float)sin_value((double)x, turns), ftz);                      \
            r = x == 0 && turns == 0 ? x : r;                                            \
        });                                                                              \
    }
TRIG(sin_f32, 0, sin, false)
TRIG(sin_f32_ftz, 0, sin, true)
TRIG(cos_f32, 1, cos, false)
TRIG(cos_f32_ftz, 1, cos, true)

/* div.full is the quotient; div.approx multiplies by the reciprocal, which is flushed to
 * 0 for 2^126 < |b| < 2^128: infinity divided by such is NaN, all else 0. */
LANE_INLINE float div_approx(float a, float b) {
    const uint32_t size = bits_of_f32(b) & 0x7fffffff;
    const bool huge = size > 0x7e800000 && size < 0x7f800000;
    const float zero = f32_of_bits((bits_of_f32(a) ^ bits_of_f32(b)) & 0x80000000);
    const bool a_finite = (bits_of_f32(a) & 0x7fffffff) < 0x7f800000;
    return settle_f32(huge ? (a_finite ? zero : f32_of_bits(F32_NAN)) : a / b);
}
BINARY(div_full, float, float, float, settle_f32(a / b))
BINARY(div_full_ftz, float, float, float,
       settle_f32(flush_f32(flush_f32(a) / flush_f32(b))))
BINARY(div_fast, float, float, float, div_approx(a, b))
BINARY(div_fast_ftz, float, float, float,
       flush_f32(div_approx(flush_f32(a), flush_f32(b))))

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write the upper halves only. */
#define UPPER UINT64_C(0xffffffff00000000)
LANE_INLINE double upper_flushed(double x) {
    const uint64_t u = bits_of_f64(x);
    const uint64_t kept =
        u & UINT64_C(0x7ff0000000000000) ? u & UPPER : u & (uint64_t)INT64_MIN;
    return x != x ? x : f64_of_bits(kept);
}
LANE_INLINE double upper_result(double x) {
    const uint64_t u = bits_of_f64(x);
    const bool finite = (u & INT64_MAX) < UINT64_C(0x7ff0000000000000);
    const double r = f64_of_bits((finite ? u + 0x80000000 : u) & UPPER);
    return f64_of_bits(x != x ? UINT64_C(0x7fffffff00000000)
                              : bits_of_f64(upper_flushed(r)));
}
UNARY(rcp_f64_ftz, double, double, upper_result(1.0 / upper_flushed(a)))
UNARY(rsqrt_f64_ftz, double, double, upper_result(1.0 / __builtin_sqrt(upper_flushed(a))))
UNARY(rsqrt_f64, double, double, settle_f64(rsqrt_value(a)))

/* f16 and bf16: from f64 to the format in one rounding. */
LANE_INLINE uint16_t f16_ex2(uint16_t h) {
    return f16_of_f32(odd_f32(exp2_value((double)f32_of_f16(h))));
}
LANE_INLINE uint16_t f16_tanh(uint16_t h) {
    return f16_of_f32(odd_f32(tanh_value((double)f32_of_f16(h))));
}
LANE_INLINE uint16_t bf16_tanh(uint16_t h) {
    return bf16_of_f32(odd_f32(tanh_value((double)f32_of_bf16(h))));
}
LANE_INLINE uint16_t flush_bf16(uint16_t h) {
    return h & 0x7f80 ? h : h & 0x8000;
}
LANE_INLINE uint16_t bf16_ex2(uint16_t h) {
    return flush_bf16(
        bf16_of_f32(odd_f32(exp2_value((double)f32_of_bf16(flush_bf16(h))))));
}
#define HALF(f)                                                                          \
    UNARY(f##_run, uint16_t, uint16_t, f(a))                                             \
    UNARY(f##_x2, uint32_t, uint32_t, HALVES(f(LOW_HALF(a)), f(HIGH_HALF(a))))
HALF(f16_ex2)
HALF(f16_tanh)
HALF(bf16_ex2)
HALF(bf16_tanh)

#define ROWS(OP, op)                                                                     \
    ALU_ROW(OP, 1, op##_f32, F32, PTX_M_APPROX),                                         \
        ALU_ROW(OP, 1, op##_f32_ftz, F32, PTX_M_APPROX, PTX_M_FTZ)
static const struct alu_row rows[] = {
    ROWS(EX2, ex2),
    ROWS(LG2, lg2),
    ROWS(SIN, sin),
    ROWS(COS, cos),
    ROWS(RSQRT, rsqrt),
    ROWS(SQRT, sqrt),
    ROWS(RCP, rcp),
    ALU_ROW(TANH, 1, tanh_f32, F32, PTX_M_APPROX),
    ALU_ROW(DIV, 2, div_fast, F32, PTX_M_APPROX),
    ALU_ROW(DIV, 2, div_fast_ftz, F32, PTX_M_APPROX, PTX_M_FTZ),
    ALU_ROW(DIV, 2, div_full, F32, PTX_M_FULL),
    ALU_ROW(DIV, 2, div_full_ftz, F32, PTX_M_FULL, PTX_M_FTZ),
    ALU_ROW(RCP, 1, rcp_f64_ftz, F64, PTX_M_APPROX, PTX_M_FTZ),
    ALU_ROW(RSQRT, 1, rsqrt_f64_ftz, F64, PTX_M_APPROX, PTX_M_FTZ),
    ALU_ROW(RSQRT, 1, rsqrt_f64, F64, PTX_M_APPROX),
    ALU_ROW(EX2, 1, f16_ex2_run, F16, PTX_M_APPROX),
    ALU_ROW(EX2, 1, f16_ex2_x2, F16X2, PTX_M_APPROX),
    ALU_ROW(EX2, 1, bf16_ex2_run, BF16, PTX_M_APPROX, PTX_M_FTZ),
    ALU_ROW(EX2, 1, bf16_ex2_x2, BF16X2, PTX_M_APPROX, PTX_M_FTZ),
    ALU_ROW(TANH, 1, f16_tanh_run, F16, PTX_M_APPROX),
    ALU_ROW(TANH, 1, f16_tanh_x2, F16X2, PTX_M_APPROX),
    ALU_ROW(TANH, 1, bf16_tanh_run, BF16, PTX_M_APPROX),
    ALU_ROW(TANH, 1, bf16_tanh_x2, BF16X2, PTX_M_APPROX),
};

step_run *LANES_NAME(bind_special_function)(const struct ptx_instruction *i,
                                            struct step *) {
    return alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
}
