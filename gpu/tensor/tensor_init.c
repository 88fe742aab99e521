#include "gpu/tensor/tensor_init.h"

#include "gpu/normal_table.h"

#include <math.h>
#include <string.h>

/* --- random bits --- */

inline void philox4x32(const uint32_t counter[static 4], const uint32_t key[static 2],
                       uint32_t ret[static 4]) {
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
static inline struct draw draw_at(uint64_t seed, uint32_t stream, uint64_t i,
                                  uint32_t retry) {
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), stream, retry};
    uint32_t out[4];
    philox4x32(counter, key, out);
    return (struct draw){
        {out[0] | (uint64_t)out[1] << 32, out[2] | (uint64_t)out[3] << 32}};
}

/* 64 bits of each element from `first` on. */
static void words(uint64_t *ret, uint64_t seed, uint32_t stream, uint64_t first,
                  size_t count) {
    size_t i = 0;
    if (count && first % 2) {
        ret[i++] = draw_at(seed, stream, first / 2, 0).bits[1];
    }
    for (; i + 1 < count; i += 2) {
        struct draw d = draw_at(seed, stream, (first + i) / 2, 0);
        memcpy(ret + i, d.bits, sizeof d.bits);
    }
    if (i < count) {
        ret[i] = draw_at(seed, stream, (first + i) / 2, 0).bits[0];
    }
}

/* [0, 1), a multiple of 2^-53. */
static double unit(uint64_t bits) {
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
 * hundred one is not inside for certain and takes bits of its own. */
static double normal_value(uint64_t bits, uint64_t seed, uint32_t stream, uint64_t i) {
    for (uint32_t retry = 1;; retry++) {
        const struct layer *l = &layers[bits & 255];
        uint64_t place = bits >> 11, sign = bits << 55 & (uint64_t)1 << 63;
        double x = (double)(int64_t)place * l->width;
        if (place >= l->inside) {
            struct draw d;
            if (l == layers) {
                x = tail_value(seed, stream, i, retry);
            } else {
                d = draw_at(seed, stream, i, retry);
                double y = l[0].foot + (l[1].foot - l[0].foot) * unit(d.bits[0]);
                if (plain_log(y) >= -0.5 * x * x) {
                    bits = d.bits[1];
                    continue;
                }
            }
        }
        uint64_t value;
        memcpy(&value, &x, sizeof value);
        value |= sign; /* no branch: nothing is predicted worse */
        memcpy(&x, &value, sizeof x);
        return x;
    }
}

/* Lemire's multiplication without the rejection: the bias is below span / 2^64. */
static int64_t integer_in(int64_t low, int64_t high, uint64_t bits) {
    uint64_t span = (uint64_t)high - (uint64_t)low;
    return (int64_t)((uint64_t)low + (uint64_t)((unsigned __int128)bits * span >> 64));
}

/* --- filling --- */

static void poison(enum tensor_type type, void *data, uint64_t count) {
    if (!tensor_type_float(type)) {
        memset(data, 0xA5, count * tensor_type_bytes(type));
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        tensor_set(type, data, i, NAN);
    }
}

/* What needs no random bits. */
static double value_at(const struct tensor_init *init, uint64_t i) {
    switch (init->kind) {
    case INIT_ARANGE:
        return init->a + (double)i * init->b;
    case INIT_VALUES:
        return init->value_count ? init->values[i % init->value_count] : 0;
    default:
        return init->a;
    }
}

enum { SOME = 256 }; /* elements at a time */

/* Values of random elements from their bits. */
static void random_values(double *ret, const uint64_t *bits, size_t count,
                          const struct tensor_init *init, uint64_t seed, uint32_t stream,
                          uint64_t first) {
    for (size_t i = 0; i < count; i++) {
        ret[i] = init->kind == INIT_NORMAL
                     ? init->a + init->b * normal_value(bits[i], seed, stream, first + i)
                     : init->a + (init->b - init->a) * unit(bits[i]);
    }
}

static void set_values(enum tensor_type type, void *data, uint64_t at,
                       const double *values, size_t count) {
    if (type == TENSOR_FLOAT32) { /* the most of all */
        for (size_t i = 0; i < count; i++) {
            ((float *)data)[at + i] = (float)values[i];
        }
        return;
    }
    if (type == TENSOR_FLOAT64) {
        memcpy((double *)data + at, values, count * sizeof *values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        tensor_set(type, data, at + i, values[i]);
    }
}

static void fill_random(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                        const struct tensor_init *init, uint64_t seed, uint32_t stream) {
    uint64_t bits[SOME];
    double values[SOME];
    for (uint64_t at = 0; at < count; at += SOME) {
        size_t n = count - at < SOME ? (size_t)(count - at) : SOME;
        words(bits, seed, stream, first + at, n);
        if (init->kind == INIT_INTEGERS) {
            for (size_t i = 0; i < n; i++) {
                tensor_set_integer(type, data, at + i,
                                   integer_in(init->low, init->high, bits[i]));
            }
        } else {
            random_values(values, bits, n, init, seed, stream, first + at);
            set_values(type, data, at, values, n);
        }
    }
}

static void fill_copy(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                      const struct tensor_init *init) {
    size_t size = tensor_type_bytes(type);
    if (count) {
        memcpy(data, (const char *)init->elements + first * size, count * size);
    }
}

void tensor_fill(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                 const struct tensor_init *init, uint64_t seed, uint32_t stream) {
    bool whole = init->kind == INIT_VALUES && init->whole && init->value_count &&
                 !tensor_type_float(type) && tensor_type_bytes(type) == 8;
    switch (init->kind) {
    case INIT_POISON:
        poison(type, data, count);
        return;
    case INIT_COPY:
        fill_copy(type, data, first, count, init);
        return;
    case INIT_NORMAL:
    case INIT_UNIFORM:
    case INIT_INTEGERS:
        fill_random(type, data, first, count, init, seed, stream);
        return;
    default:
        break;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (whole) {
            tensor_set_integer(type, data, i,
                               init->whole[(first + i) % init->value_count]);
        } else {
            tensor_set(type, data, i, value_at(init, first + i));
        }
    }
}
