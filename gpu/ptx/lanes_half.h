#pragma once
/* lanes_half: f16 and bf16 as 16-bit words. Widening to f32 is exact; narrowing goes
 * through integers, so that it neither depends on nor disturbs the rounding mode, and
 * vectorises everywhere. */
#include "gpu/ptx/lanes_float.h"

#define F16_NAN 0x7fffu
#define BF16_NAN 0x7fffu

static inline float f32_of_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t magnitude = h & 0x7fff;
    uint32_t normal = (magnitude << 13) + (112u << 23);
    uint32_t special = magnitude << 13 | 0x7f800000;
    uint32_t small = bits_of_f32((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t r = magnitude >= 0x7c00 ? special : magnitude < 0x400 ? small : normal;
    return f32_of_bits(r | sign);
}
static inline float f32_of_bf16(uint16_t h) {
    return f32_of_bits((uint32_t)h << 16);
}
/* .ftz of f16: subnormals are zeros of their sign. */
static inline uint16_t flush_f16(uint16_t h) {
    return h & 0x7c00 ? h : h & 0x8000;
}
static inline float f32_of_f16_ftz(uint16_t h) {
    return f32_of_f16(flush_f16(h));
}
