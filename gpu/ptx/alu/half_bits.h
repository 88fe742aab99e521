#pragma once
/* half_bits: single binary16 values as integers, because a compiler may lack the type.
 * IEEE 754-2008, 3.6; rounding to nearest, ties to even. */
#include "base/mem.h"

/* NaN becomes 0x7fff, as PTX requires. */
static inline uint16_t half_of_double(double value) {
    uint64_t u;
    memcpy(&u, &value, sizeof u);
    uint16_t sign = (uint16_t)(u >> 48 & 0x8000);
    int exponent = (int)(u >> 52 & 0x7ff) - 1023;
    uint64_t m = (u & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    if (value != value) {
        return 0x7fff;
    }
    if (exponent > 15) {
        return (uint16_t)(sign | 0x7c00);
    }
    if (exponent < -25) {
        return sign;
    }
    int shift =
        exponent >= -14 ? 42 : 28 - exponent; /* keeps 11 bits, fewer for subnormals */
    uint64_t q = m >> shift, rest = m & ((UINT64_C(1) << shift) - 1);
    uint64_t middle = UINT64_C(1) << (shift - 1);
    q += rest > middle || (rest == middle && (q & 1));
    uint64_t bits = exponent >= -14 ? ((uint64_t)(exponent + 14) << 10) + q : q;
    return (uint16_t)(sign | (bits > 0x7c00 ? 0x7c00 : bits));
}

static inline float half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
    uint32_t m = half & 0x3ff, bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000u | m << 13;
    } else if (exponent > 0) {
        bits = sign | (exponent + 112) << 23 | m << 13;
    } else {
        float tiny = (float)m * 0x1p-24f; /* exact */
        memcpy(&bits, &tiny, sizeof bits);
        bits |= sign;
    }
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
