#pragma once
/* matrix_decode: packed elements of matrices as binary32 or binary64, exactly. */
#include "gpu/ptx/alu/lanes.h"

LANE_INLINE float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

LANE_INLINE float real_f16(uint32_t h) {
    uint32_t rest = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    uint32_t special = (h & 0x7c00) == 0x7c00 ? 0x70000000 : 0;
    float f = float_of(rest | special) * (special ? 1.0f : 0x1p112f);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return float_of(bits | sign);
}
LANE_INLINE float real_bf16(uint32_t h) {
    return float_of(h << 16);
}
/* The low 13 bits of a tf32 are ignored. */
LANE_INLINE float real_tf32(uint32_t w) {
    return float_of(w & ~UINT32_C(0x1fff));
}
/* Four exponent bits, no infinities, one NaN of each sign. */
LANE_INLINE float real_e4m3(uint32_t b) {
    uint32_t rest = b & 0x7f;
    float f = float_of(rest << 20) * 0x1p120f;
    f = rest == 0x7f ? __builtin_nanf("") : f;
    return b & 0x80 ? -f : f;
}
LANE_INLINE float real_e5m2(uint32_t b) {
    return real_f16(b << 8);
}

#define MATRIX_DECODE_ONE(name, real, type, convert)                                     \
    static void name(const uint8_t *from, unsigned count, real *to) {                    \
        LANES_IVDEP for (unsigned k = 0; k < count; k++) {                               \
            type x;                                                                      \
            memcpy(&x, from + k * sizeof x, sizeof x);                                   \
            to[k] = convert(x);                                                          \
        }                                                                                \
    }
/* Defines a function `name` for f16, bf16, tf32, e4m3 and e5m2: `count` elements to
 * `real`, float or double. */
#define MATRIX_DECODE(name, real)                                                        \
    MATRIX_DECODE_ONE(name##_f16, real, uint16_t, real_f16)                              \
    MATRIX_DECODE_ONE(name##_bf16, real, uint16_t, real_bf16)                            \
    MATRIX_DECODE_ONE(name##_tf32, real, uint32_t, real_tf32)                            \
    MATRIX_DECODE_ONE(name##_e4m3, real, uint8_t, real_e4m3)                             \
    MATRIX_DECODE_ONE(name##_e5m2, real, uint8_t, real_e5m2)                             \
    static void name(enum ptx_type t, const uint8_t *from, unsigned count, real *to) {   \
        (t == PTX_F16    ? name##_f16                                                    \
         : t == PTX_BF16 ? name##_bf16                                                   \
         : t == PTX_TF32 ? name##_tf32                                                   \
         : t == PTX_E4M3 ? name##_e4m3                                                   \
                         : name##_e5m2)(from, count, to);                                \
    }

/* The bytes of `count` consecutive elements. */
static inline unsigned matrix_bytes(enum ptx_type t, unsigned count) {
    return t == PTX_S4 || t == PTX_U4      ? count / 2
           : t == PTX_F16 || t == PTX_BF16 ? count * 2
           : t == PTX_TF32                 ? count * 4
                                           : count;
}
