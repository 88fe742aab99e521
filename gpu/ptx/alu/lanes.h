#pragma once
/* lanes: loops over the 32 lanes of a warp, for the arithmetic files (alu_*.c).
 *
 * Each of those files is compiled once per vector extension into its own library;
 * LANES_EXTENSION (baseline, avx2, avx512, neon) comes from the build and becomes part of
 * every exported name. Handlers are static.
 *
 * A handler computes all 32 lanes, whatever values the inactive ones have, and keeps the
 * old value of those: so an expression given to the macros below must be defined for
 * every bit pattern. A full mask uses a loop without the blend. Sources and destination
 * may be the same register, but never overlap otherwise: `LANES_IVDEP` tells the compiler
 * so. */
#include "gpu/ptx/state/step.h"

#ifndef LANES_EXTENSION
#define LANES_EXTENSION baseline
#endif
#define LANES_JOIN_(a, b) a##_##b
#define LANES_JOIN(a, b) LANES_JOIN_(a, b)
#define LANES_NAME(name) LANES_JOIN(name, LANES_EXTENSION)

#if defined __clang__
#define LANES_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#define LANES_APART __attribute__((noinline))
#else
#define LANES_IVDEP _Pragma("GCC ivdep")
#define LANES_APART __attribute__((noipa))
#endif

/* Functions that a loop calls must be inlined, or the loop is not vectorised. */
#define LANE_INLINE static inline __attribute__((always_inline))

#define LANES_COUNT 32
#define LANES_FOR LANES_IVDEP for (unsigned l = 0; l < LANES_COUNT; l++)

#define STEP_ARGS struct warp *warp, const struct step *step, uint32_t mask
#define SOURCE(type, i) LANES(const type, warp, step->src[i])

/* Writes results for the lanes of a partial mask. Long bodies vectorise better without
 * the blend in the same loop: files with such bodies define LANES_TWO_LOOPS. */
#ifdef LANES_TWO_LOOPS
#define LANES_BLEND(D, ...)                                                              \
    D kept_[LANES_COUNT] __attribute__((aligned(64)));                                   \
    LANES_FOR {                                                                          \
        D r;                                                                             \
        __VA_ARGS__;                                                                     \
        kept_[l] = r;                                                                    \
    }                                                                                    \
    __asm__ volatile("" : : "r"(kept_) : "memory"); /* do not join them again */         \
    LANES_FOR {                                                                          \
        out_[l] = on_[l] ? kept_[l] : out_[l];                                           \
    }
#else
#define LANES_BLEND(D, ...)                                                              \
    LANES_FOR {                                                                          \
        D r;                                                                             \
        __VA_ARGS__;                                                                     \
        out_[l] = on_[l] ? r : out_[l];                                                  \
    }
#endif

/* The body sees the lane's number l and assigns r. */
#define LANES_EACH(D, ...)                                                               \
    do {                                                                                 \
        D *out_ = LANES(D, warp, step->dst);                                             \
        if (__builtin_expect(mask == UINT32_MAX, 1)) {                                   \
            LANES_FOR {                                                                  \
                D r;                                                                     \
                __VA_ARGS__;                                                             \
                out_[l] = r;                                                             \
            }                                                                            \
        } else {                                                                         \
            const uint32_t *on_ = WARP_HEAD(warp)->lane_mask;                            \
            LANES_BLEND(D, __VA_ARGS__)                                                  \
        }                                                                                \
    } while (0)

/* Handlers of one, two, three sources of the given types; expr sees a, b, c. */
#define UNARY(name, D, A, expr)                                                          \
    static void name(STEP_ARGS) {                                                        \
        const A *pa_ = SOURCE(A, 0);                                                     \
        LANES_EACH(D, {                                                                  \
            const A a = pa_[l];                                                          \
            r = (D)(expr);                                                               \
        });                                                                              \
    }
#define BINARY(name, D, A, B, expr)                                                      \
    static void name(STEP_ARGS) {                                                        \
        const A *pa_ = SOURCE(A, 0);                                                     \
        const B *pb_ = SOURCE(B, 1);                                                     \
        LANES_EACH(D, {                                                                  \
            const A a = pa_[l];                                                          \
            const B b = pb_[l];                                                          \
            r = (D)(expr);                                                               \
        });                                                                              \
    }
#define TERNARY(name, D, A, B, C, expr)                                                  \
    static void name(STEP_ARGS) {                                                        \
        const A *pa_ = SOURCE(A, 0);                                                     \
        const B *pb_ = SOURCE(B, 1);                                                     \
        const C *pc_ = SOURCE(C, 2);                                                     \
        LANES_EACH(D, {                                                                  \
            const A a = pa_[l];                                                          \
            const B b = pb_[l];                                                          \
            const C c = pc_[l];                                                          \
            r = (D)(expr);                                                               \
        });                                                                              \
    }

/* One bit per lane: `bits & lane_bits[l]`. */
static const uint32_t lane_bits[LANES_COUNT] __attribute__((aligned(64), unused)) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* A source predicate, negated if the instruction says so (!p). */
static inline uint32_t lanes_predicate(struct warp *warp, const struct step *step,
                                       unsigned source) {
    const uint8_t *regs = WARP_HEAD(warp)->regs;
    uint32_t p = *(const uint32_t *)(const void *)(regs + step->src[source]);
    return step->src_negated >> source & 1 ? ~p : p;
}

/* Sets a predicate register for the lanes of mask; does nothing for a sink. */
static inline void lanes_set_predicate(struct warp *warp, uint32_t offset, uint32_t mask,
                                       uint32_t bits) {
    if (offset != STEP_NO_REGISTER) {
        uint32_t *p = (uint32_t *)(void *)(WARP_HEAD(warp)->regs + offset);
        *p = (*p & ~mask) | (bits & mask);
    }
}

/* Packs 32 truth values, 0 or all ones, to one bit each. */
#if defined __AVX512DQ__ && defined __AVX512BW__ && defined __GNUC__
#include <immintrin.h>
static inline uint32_t lanes_bits_32(const uint32_t t[LANES_COUNT]) {
    uint32_t low = _mm512_movepi32_mask(_mm512_load_si512(t));
    return low | (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(t + 16)) << 16;
}
#elif defined __AVX2__
#include <immintrin.h>
static inline uint32_t lanes_bits_32(const uint32_t t[LANES_COUNT]) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m256 v = _mm256_load_ps((const float *)(const void *)(t + 8 * i));
        bits |= (uint32_t)_mm256_movemask_ps(v) << (8 * i);
    }
    return bits;
}
#elif defined __SSE2__
#include <emmintrin.h>
static inline uint32_t lanes_bits_32(const uint32_t t[LANES_COUNT]) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < 8; i++) {
        __m128 v = _mm_load_ps((const float *)(const void *)(t + 4 * i));
        bits |= (uint32_t)_mm_movemask_ps(v) << (4 * i);
    }
    return bits;
}
#else
static inline uint32_t lanes_bits_32(const uint32_t t[LANES_COUNT]) {
    uint32_t bits = 0;
    for (unsigned l = 0; l < LANES_COUNT; l++) {
        bits |= t[l] & lane_bits[l];
    }
    return bits;
}
#endif
#define LANES_TRUTH(name) uint32_t name[LANES_COUNT] __attribute__((aligned(64)))
