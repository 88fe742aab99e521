#pragma once
/* lanes_float: building blocks of floating-point handlers. Values are handled as bits
 * wherever NaNs or zeros matter. Sources: IEEE 754-2008; PTX ISA 9.0, "Floating Point
 * Instructions". */
#include "gpu/ptx/alu/lanes.h"

#define F32_NAN 0x7fffffffu
#define F64_NAN UINT64_C(0xfff8000000000000)

LANE_INLINE uint32_t bits_of_f32(float x) {
    uint32_t u;
    __builtin_memcpy(&u, &x, sizeof(u));
    return u;
}
LANE_INLINE float f32_of_bits(uint32_t u) {
    float x;
    __builtin_memcpy(&x, &u, sizeof(x));
    return x;
}
LANE_INLINE uint64_t bits_of_f64(double x) {
    uint64_t u;
    __builtin_memcpy(&u, &x, sizeof(u));
    return u;
}
LANE_INLINE double f64_of_bits(uint64_t u) {
    double x;
    __builtin_memcpy(&x, &u, sizeof(x));
    return x;
}

/* .ftz: a subnormal becomes a zero of the same sign. */
LANE_INLINE float flush_f32(float x) {
    uint32_t u = bits_of_f32(x);
    return f32_of_bits(u & 0x7f800000 ? u : u & 0x80000000);
}
/* Replaces any NaN by the one NaN that the hardware makes. */
LANE_INLINE float settle_f32(float x) {
    return f32_of_bits(x != x ? F32_NAN : bits_of_f32(x));
}
LANE_INLINE double settle_f64(double x) {
    return f64_of_bits(x != x ? F64_NAN : bits_of_f64(x));
}
/* .sat: clamps to [0, 1]; NaN and -0 become +0. */
LANE_INLINE float saturate_f32(float x) {
    float low = x > 0 ? x : 0.0f;
    return low < 1 ? low : 1.0f;
}

/* Rounds to an integral value in the CPU's current direction and keeps the sign. Without
 * an instruction for it, gcc makes a sequence that is only right for rounding to nearest;
 * adding and subtracting 2^23 with x's sign is right for all directions. */
#if defined __SSE4_1__ || defined __aarch64__
LANE_INLINE float integral_f32(float x) {
    return __builtin_rintf(x);
}
LANE_INLINE double integral_f64(double x) {
    return __builtin_rint(x);
}
#else
LANE_INLINE float integral_f32(float x) {
    const uint32_t bits = bits_of_f32(x), sign = bits & 0x80000000;
    const float large = f32_of_bits(0x4b000000 | sign);
    const uint32_t r = (bits_of_f32((x + large) - large) & 0x7fffffff) | sign;
    return f32_of_bits((bits & 0x7fffffff) < 0x4b000000 ? r : bits);
}
LANE_INLINE double integral_f64(double x) {
    const uint64_t bits = bits_of_f64(x), sign = bits & (uint64_t)INT64_MIN;
    const double large = f64_of_bits(UINT64_C(0x4330000000000000) | sign);
    const uint64_t r = (bits_of_f64((x + large) - large) & INT64_MAX) | sign;
    return f64_of_bits((bits & INT64_MAX) < UINT64_C(0x4330000000000000) ? r : bits);
}
#endif

/* Signed integers in the order of the floats (except NaN): -0 before +0. */
LANE_INLINE int32_t order_f32(float x) {
    int32_t i = (int32_t)bits_of_f32(x);
    return i ^ (int32_t)((uint32_t)(i >> 31) >> 1);
}
LANE_INLINE int64_t order_f64(double x) {
    int64_t i = (int64_t)bits_of_f64(x);
    return i ^ (int64_t)((uint64_t)(i >> 63) >> 1);
}

/* Runs a handler in another rounding direction. The handler is LANES_APART: none of its
 * arithmetic can move past the switches. */
enum lanes_direction { LANES_NEAREST, LANES_ZERO, LANES_DOWN, LANES_UP };
#if defined __x86_64__
#define LANES_NEAREST_CSR 0x1f80u
static inline void lanes_set_csr(uint32_t csr) {
    __asm__ volatile("ldmxcsr %0" : : "m"(csr) : "memory");
}
/* MXCSR.RC: 0 nearest, 1 down, 2 up, 3 zero. */
static inline void lanes_round_run(step_run *run, enum lanes_direction direction,
                                   STEP_ARGS) {
    static const uint32_t control[] = {0, 3u << 13, 1u << 13, 2u << 13};
    lanes_set_csr(LANES_NEAREST_CSR | control[direction]);
    run(warp, step, mask);
    lanes_set_csr(LANES_NEAREST_CSR);
}
#else
#include <fenv.h>
static inline void lanes_round_run(step_run *run, enum lanes_direction direction,
                                   STEP_ARGS) {
    static const int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(mode[direction]);
    run(warp, step, mask);
    fesetround(FE_TONEAREST);
}
#endif

/* The versions of a LANES_APART handler for the other directions. */
#define DIRECTED(name)                                                                   \
    static void name##_rz(STEP_ARGS) {                                                   \
        lanes_round_run(name, LANES_ZERO, warp, step, mask);                             \
    }                                                                                    \
    static void name##_rm(STEP_ARGS) {                                                   \
        lanes_round_run(name, LANES_DOWN, warp, step, mask);                             \
    }                                                                                    \
    static void name##_rp(STEP_ARGS) {                                                   \
        lanes_round_run(name, LANES_UP, warp, step, mask);                               \
    }
/* In the order of enum alu_rounding. */
#define DIRECTED_ROW(name)                                                               \
    { name, name##_rz, name##_rm, name##_rp }
