#pragma once
/* lanes_half: the formats of 16 and 8 bits, as integers of their bits.
 *
 * Widening to f32 is exact. Narrowing works on integers: all directions under the CPU's
 * default rounding. Values of more than 24 bits are first rounded to odd: a float whose
 * last bit means "inexact" rounds to a shorter format as the exact value would, in every
 * direction (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved
 * algorithms using rounding to odd", 2008: two bits more than the target are enough). */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/lanes_float.h"

#define HALF_NAN 0x7fffu /* f16 and bf16 */

#define LOW_HALF(x) ((uint16_t)(x))
#define HIGH_HALF(x) ((uint16_t)((x) >> 16))
#define HALVES(low, high) ((uint32_t)(uint16_t)(low) | (uint32_t)(uint16_t)(high) << 16)

LANE_INLINE float f32_of_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t magnitude = h & 0x7fff;
    uint32_t normal = (magnitude << 13) + (112u << 23);
    uint32_t special = magnitude << 13 | 0x7f800000;
    uint32_t small = bits_of_f32((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t r = magnitude >= 0x7c00 ? special : magnitude < 0x400 ? small : normal;
    return f32_of_bits(r | sign);
}
LANE_INLINE float f32_of_bf16(uint16_t h) {
    return f32_of_bits((uint32_t)h << 16);
}
/* .ftz of f16: subnormals become zeros of the same sign. */
LANE_INLINE uint16_t flush_f16(uint16_t h) {
    return h & 0x7c00 ? h : h & 0x8000;
}
LANE_INLINE float f32_of_f16_ftz(uint16_t h) {
    return f32_of_f16(flush_f16(h));
}

/* Rounds to odd: the neighbour with an odd last bit if x is not representable; finite
 * stays finite. */
LANE_INLINE float odd_f32(double x) {
    float f = (float)x;
    double back = (double)f, size = x < 0 ? -x : x, back_size = back < 0 ? -back : back;
    uint32_t bits = bits_of_f32(f);
    uint32_t toward = size > back_size ? 1u : UINT32_MAX;
    bool inexact = size < back_size || size > back_size; /* false for NaN */
    return f32_of_bits(inexact && !(bits & 1) ? bits + toward : bits);
}
/* a + b rounded to odd. (Knuth's two-sum gives the error of the rounded sum.) */
LANE_INLINE double odd_sum(double a, double b) {
    double sum = a + b, part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    uint64_t bits = bits_of_f64(sum);
    uint64_t toward = (error > 0) == (sum > 0) ? 1u : UINT64_MAX;
    bool inexact = error > 0 || error < 0; /* false for NaN and infinities */
    return f64_of_bits(inexact && !(bits & 1) ? bits + toward : bits);
}

/* The format has 1 sign bit, `exponent` and `mantissa` bits, IEEE's bias and subnormals.
 * Returns the magnitude of a finite f32, rounded; an overflow gives a number that is too
 * large, which the caller handles. */
LANE_INLINE uint32_t narrow_magnitude(uint32_t bits, unsigned exponent, unsigned mantissa,
                                      enum alu_rounding rounding, bool away) {
    const int32_t bias = (1 << (exponent - 1)) - 1;
    int32_t e = (int32_t)(bits >> 23 & 0xff);
    uint32_t significand = (bits & 0x7fffff) | (e ? 0x800000u : 0);
    e = (e ? e : 1) - 127 + bias;
    int32_t deeper = e < 1 ? 1 - e : 0;
    deeper = deeper > (int32_t)mantissa + 2 ? (int32_t)mantissa + 2 : deeper;
    const uint32_t drop = 23 - mantissa + (uint32_t)deeper;
    uint32_t code = ((uint32_t)((e < 1 ? 1 : e) - 1) << mantissa) + (significand >> drop);
    const uint32_t half = 1u << (drop - 1), rest = significand & (2 * half - 1);
    const bool negative = bits >> 31;
    bool up;
    switch (rounding) {
    case ALU_RN:
        up = away ? rest >= half : rest > half || (rest == half && (code & 1));
        break;
    case ALU_RM:
        up = negative && rest != 0;
        break;
    case ALU_RP:
        up = !negative && rest != 0;
        break;
    default:
        up = false;
    }
    return code + up;
}
/* Whether an overflow becomes infinity rather than the largest number. */
LANE_INLINE bool narrow_to_infinity(uint32_t bits, enum alu_rounding rounding) {
    return rounding == ALU_RN || (rounding == ALU_RM && bits >> 31) ||
           (rounding == ALU_RP && !(bits >> 31));
}
/* To f16 (5, 10) or bf16 (8, 7). */
LANE_INLINE uint16_t narrow_half(float x, unsigned exponent, unsigned mantissa,
                                 enum alu_rounding rounding, bool satfinite) {
    const uint32_t infinity = ((1u << exponent) - 1) << mantissa;
    uint32_t bits = bits_of_f32(x), sign = bits >> 16 & 0x8000;
    uint32_t code = narrow_magnitude(bits, exponent, mantissa, rounding, false);
    bool was_infinite = (bits & 0x7fffffff) == 0x7f800000;
    uint32_t over = !satfinite && (was_infinite || narrow_to_infinity(bits, rounding))
                        ? infinity
                        : infinity - 1;
    code = code >= infinity ? over : code;
    return (uint16_t)(x != x ? HALF_NAN : code | sign);
}
/* To nearest, the two conversions most frequent in kernels; under the default rounding
 * only. */
LANE_INLINE uint16_t f16_of_f32(float x) {
    const uint32_t bits = bits_of_f32(x), size = bits & 0x7fffffff;
    uint32_t normal = (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13;
    normal = size >= 0x477ff000 ? 0x7c00 : normal; /* 65520 and more */
    /* an ulp of 0.5 is the least f16: the sum rounds to it */
    const uint32_t small = bits_of_f32(f32_of_bits(size) + 0.5f) - 0x3f000000;
    const uint32_t code = size < 0x38800000 ? small : normal;
    return (uint16_t)(size > 0x7f800000 ? HALF_NAN : code | (bits >> 16 & 0x8000));
}
LANE_INLINE uint16_t bf16_of_f32(float x) {
    uint32_t bits = bits_of_f32(x);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)(x != x ? HALF_NAN : bits);
}

/* Signed integers in the order of the numbers (except NaN). */
LANE_INLINE int16_t order_half(uint16_t h) {
    return (int16_t)(h ^ (h & 0x8000 ? 0x7fff : 0));
}
/* .relu: negative numbers become +0, NaN stays. */
LANE_INLINE uint16_t relu_half(uint16_t h, uint32_t infinity) {
    return (h & 0x8000) && (h & 0x7fffu) <= infinity ? 0 : h;
}
