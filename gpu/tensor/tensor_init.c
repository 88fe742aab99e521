#include "gpu/tensor/tensor_init.h"

#include "base/vectors.h"
#include "gpu/normal_table.h"

#include <math.h>

/* --- random bits --- */

VECTORS_INLINE void philox(const uint32_t *counter, const uint32_t *key, uint32_t *ret) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    ret[0] = c0;
    ret[1] = c1;
    ret[2] = c2;
    ret[3] = c3;
}

struct draw {
    uint64_t bits[2];
};

/* retry: 0 for the bits that two elements share, i and i + 1 of an even i; from 1 on of
 * element i alone. */
VECTORS_INLINE struct draw draw_at(uint64_t seed, uint32_t stream, uint64_t i,
                                   uint32_t retry) {
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), stream, retry};
    uint32_t out[4];
    philox(counter, key, out);
    return (struct draw){
        {out[0] | (uint64_t)out[1] << 32, out[2] | (uint64_t)out[3] << 32}};
}

/* [0, 1), a multiple of 2^-53. */
VECTORS_INLINE double unit(uint64_t bits) {
    return (double)(int64_t)(bits >> 11) * 0x1p-53;
}

/* --- normal values --- */

/* log(x), x in [2^-53, 1]: log(2^e m) with m in [sqrt(1/2), sqrt 2) by the series of
 * 2 atanh((m-1)/(m+1)); 1e-15 relative. Plain IEEE arithmetic: the same on every machine,
 * which the C library's is not. */
static double plain_log(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int e = (int)(bits >> 52) - 1022;
    bits = (bits & (UINT64_MAX >> 12)) | (uint64_t)1022 << 52;
    double m, sum = 0;
    memcpy(&m, &bits, sizeof m); /* [0.5, 1) */
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), square = s * s;
    for (int k = 23; k >= 1; k -= 2) {
        sum = sum * square + 1.0 / k;
    }
    return 2 * s * sum + e * 0.69314718055994531;
}

/* Beyond the base layer's rectangle (Marsaglia 1964). */
static double tail_value(uint64_t seed, uint32_t stream, uint64_t i, uint32_t retry) {
    for (;; retry++) {
        struct draw d = draw_at(seed, stream, i, retry);
        double x = -plain_log(1 - unit(d.bits[0])) / TAIL;
        double y = -plain_log(1 - unit(d.bits[1]));
        if (2 * y > x * x) {
            return TAIL + x;
        }
    }
}

/* A value of element i from its bits: which layer, which sign, where in the layer. Of a
 * hundred one is not inside for certain. */
VECTORS_INLINE double layer_value(uint64_t bits, bool *ret_inside) {
    const struct layer *l = &layers[bits & 255];
    uint64_t place = bits >> 11, sign = bits << 55 & (uint64_t)1 << 63, value;
    double x = (double)(int64_t)place * l->width;
    *ret_inside = place < l->inside;
    memcpy(&value, &x, sizeof value);
    value |= sign; /* no branch: nothing is predicted worse */
    memcpy(&x, &value, sizeof x);
    return x;
}

/* The same of one that is not: it takes bits of its own. */
static double outer_value(uint64_t bits, uint64_t seed, uint32_t stream, uint64_t i) {
    for (uint32_t retry = 1;; retry++) {
        const struct layer *l = &layers[bits & 255];
        bool inside;
        double x = layer_value(bits, &inside);
        if (inside) {
            return x;
        }
        if (l == layers) {
            return copysign(tail_value(seed, stream, i, retry), x);
        }
        struct draw d = draw_at(seed, stream, i, retry);
        double y = l[0].foot + (l[1].foot - l[0].foot) * unit(d.bits[0]);
        if (plain_log(y) < -0.5 * x * x) {
            return x;
        }
        bits = d.bits[1];
    }
}

/* Lemire's multiplication without the rejection: the bias is below span / 2^64. */
static int64_t integer_in(int64_t low, int64_t high, uint64_t bits) {
    uint64_t span = (uint64_t)high - (uint64_t)low;
    return (int64_t)((uint64_t)low + (uint64_t)((unsigned __int128)bits * span >> 64));
}

/* --- filling --- */

enum { SOME = 512 }; /* elements at a time */

/* A part of what is filled. */
struct init_part {
    const struct tensor_init *init;
    uint64_t seed, first;
    uint32_t stream;
    size_t count;
};

/* 64 bits of each element; room is for SOME + 2. */
VECTORS_INLINE const uint64_t *words(const struct init_part *p, uint64_t *room) {
    size_t odd = p->first % 2;
    for (size_t i = 0; i < (odd + p->count + 1) / 2; i++) {
        struct draw d = draw_at(p->seed, p->stream, p->first / 2 + i, 0);
        room[2 * i] = d.bits[0];
        room[2 * i + 1] = d.bits[1];
    }
    return room + odd;
}

VECTORS static void uniform_values(const struct init_part *p, double *ret) {
    uint64_t room[SOME + 2];
    const uint64_t *bits = words(p, room);
    double a = p->init->a, width = p->init->b - p->init->a;
    for (size_t i = 0; i < p->count; i++) {
        ret[i] = a + width * unit(bits[i]);
    }
}

VECTORS static void normal_values(const struct init_part *p, double *ret) {
    uint64_t room[SOME + 2];
    const uint64_t *bits = words(p, room);
    bool inside[SOME];
    double a = p->init->a, b = p->init->b;
    for (size_t i = 0; i < p->count; i++) {
        ret[i] = layer_value(bits[i], &inside[i]);
    }
    for (size_t i = 0; i < p->count; i++) {
        if (!inside[i]) {
            ret[i] = outer_value(bits[i], p->seed, p->stream, p->first + i);
        }
    }
    for (size_t i = 0; i < p->count; i++) {
        ret[i] = a + b * ret[i];
    }
}

VECTORS static void random_integers(const struct init_part *p, int64_t *ret) {
    uint64_t room[SOME + 2];
    const uint64_t *bits = words(p, room);
    for (size_t i = 0; i < p->count; i++) {
        ret[i] = integer_in(p->init->low, p->init->high, bits[i]);
    }
}

/* What needs no random bits. */
static void plain_values(const struct init_part *p, double *ret) {
    const struct tensor_init *init = p->init;
    for (size_t i = 0; i < p->count; i++) {
        uint64_t at = p->first + i;
        ret[i] = init->kind == INIT_POISON   ? NAN
                 : init->kind == INIT_ARANGE ? init->a + (double)at * init->b
                 : init->kind == INIT_FILL   ? init->a
                 : init->value_count         ? init->values[at % init->value_count]
                                             : 0;
    }
}

static void plain_integers(const struct init_part *p, int64_t *ret) {
    for (size_t i = 0; i < p->count; i++) {
        ret[i] = p->init->whole[(p->first + i) % p->init->value_count];
    }
}

static bool is_whole(enum tensor_type type, const struct tensor_init *init) {
    return init->kind == INIT_INTEGERS ||
           (init->kind == INIT_VALUES && init->whole && init->value_count &&
            !tensor_type_float(type) && tensor_type_bytes(type) == 8);
}

/* Into data from its element `at` on. */
static void fill_part(enum tensor_type type, void *data, uint64_t at,
                      const struct init_part *p) {
    double values[SOME];
    int64_t integers[SOME];
    if (is_whole(type, p->init)) {
        (p->init->kind == INIT_INTEGERS ? random_integers : plain_integers)(p, integers);
        for (size_t i = 0; i < p->count; i++) {
            tensor_set_integer(type, data, at + i, integers[i]);
        }
        return;
    }
    (p->init->kind == INIT_NORMAL    ? normal_values
     : p->init->kind == INIT_UNIFORM ? uniform_values
                                     : plain_values)(p, values);
    tensor_store(type, data, at, p->count, values);
}

void tensor_fill(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                 const struct tensor_init *init, uint64_t seed, uint32_t stream) {
    size_t size = tensor_type_bytes(type);
    if (init->kind == INIT_POISON && !tensor_type_float(type)) {
        memset(data, 0xA5, count * size);
        return;
    }
    if (init->kind == INIT_COPY && count) {
        memcpy(data, (const char *)init->elements + first * size, count * size);
        return;
    }
    for (uint64_t at = 0, n; at < count; at += n) {
        n = count - at < SOME ? count - at : SOME;
        const struct init_part p = {init, seed, first + at, stream, (size_t)n};
        fill_part(type, data, at, &p);
    }
}
