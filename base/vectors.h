#pragma once
/* vectors: loops over many numbers, compiled once for each vector extension.
 *
 * VECTORS before a function compiles copies of it for AVX-512, AVX2 and any x86-64; the
 * program picks one at start. Functions that it calls must be inlined into it. The
 * copies give the same bits: files with VECTORS do not contract a * b + c unless their
 * header says so. With clang, which passes wide vectors only if the whole program is
 * compiled for them, and with sanitizers there is one plain function. Files with VECTORS
 * belong to a library with vector_options (gpu/meson.build), which passes them to the
 * compiler. */
#ifdef VECTOR_COPIES
#define VECTORS                                                                          \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTORS
#endif
#define VECTORS_INLINE static inline __attribute__((always_inline))

#include "base/mem.h"

/* Four numbers: not every compiler puts more into one register. A comparison gives a mask
 * with all or no bits of each lane set; subtracting masks counts. */
enum { LANES = 4 };
typedef double vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t vec_mask __attribute__((vector_size(LANES * sizeof(int64_t))));

VECTORS_INLINE vec vec_load(const double *v) {
    vec ret;
    memcpy(&ret, v, sizeof ret);
    return ret;
}
VECTORS_INLINE vec vec_all(double x) {
    return (vec){x, x, x, x};
}
VECTORS_INLINE vec vec_abs(vec x) {
    return (vec)((vec_mask)x & INT64_MAX);
}
VECTORS_INLINE vec_mask vec_either(vec_mask where, vec_mask yes, vec_mask no) {
    return (where & yes) | (~where & no);
}
VECTORS_INLINE vec vec_select(vec_mask where, vec yes, vec no) {
    return (vec)vec_either(where, (vec_mask)yes, (vec_mask)no);
}
/* The lanes k for which i + k < count. */
VECTORS_INLINE vec_mask vec_below(size_t i, size_t count) {
    const vec_mask lane = {0, 1, 2, 3};
    return lane + (int64_t)i < (int64_t)count;
}
VECTORS_INLINE uint64_t vec_count(vec_mask sum) {
    int64_t count = 0;
    for (int k = 0; k < LANES; k++) {
        count -= sum[k];
    }
    return (uint64_t)count;
}
VECTORS_INLINE double vec_most(vec v) {
    double most = v[0];
    for (int k = 1; k < LANES; k++) {
        most = v[k] > most ? v[k] : most;
    }
    return most;
}
