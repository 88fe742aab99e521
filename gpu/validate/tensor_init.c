#include "gpu/validate/tensor_init.h"

#include <math.h>
#include <string.h>

/* --- random bits --- */

void philox4x32(const uint32_t counter[static 4], const uint32_t key[static 2],
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

static struct draw draw_at(uint64_t seed, uint32_t stream, uint64_t i) {
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), stream, 0};
    uint32_t out[4];
    philox4x32(counter, key, out);
    return (struct draw){
        {out[0] | (uint64_t)out[1] << 32, out[2] | (uint64_t)out[3] << 32}};
}

/* [0, 1), a multiple of 2^-53. */
static double unit(uint64_t bits) {
    return (double)(int64_t)(bits >> 11) * 0x1p-53;
}

/* --- the functions that a normal value needs, the same on every machine --- */

/* Two values at once, and choices by masks, not by branching: random numbers are what a
 * processor predicts worst. What is computed, and in which order, must stay as it is: the
 * bytes of every seed depend on it (test_tensor_type.c holds some). */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_mask __attribute__((vector_size(16)));
typedef uint64_t pair_bits __attribute__((vector_size(16)));

static pair choose(pair_mask which, pair yes, pair no) {
    return (pair)((which & (pair_mask)yes) | (~which & (pair_mask)no));
}

static pair lesser(pair a, pair b) {
    return choose(a < b, a, b);
}

/* log(x), x in [2^-53, 1]: log(2^e m) with m in [sqrt(1/2), sqrt 2) by the series of
 * 2 atanh((m-1)/(m+1)); 1e-15 relative. */
static pair plain_log(pair x) {
    static const double parts[12] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17,
                                     1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                                     1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    pair_bits bits = (pair_bits)x;
    pair_mask e = (pair_mask)(bits >> 52) - 1022;
    pair m = (pair)((bits & (UINT64_MAX >> 12)) | (uint64_t)1022 << 52); /* [0.5, 1) */
    pair_mask low = m < 0.70710678118654752;
    m = choose(low, m * 2, m);
    e += low; /* -1 where it is */
    pair s = (m - 1) / (m + 1), square = s * s, sum = {0, 0};
    for (int k = 0; k < 12; k++) {
        sum = sum * square + parts[k];
    }
    pair exponent = {(double)e[0], (double)e[1]};
    return 2 * s * sum + exponent * 0.69314718055994531;
}

/* cos(2 pi u), u in [0, 1): reduced to an eighth of the circle, then Taylor. */
static pair plain_cos_turn(pair u) {
    /* 1/(2n)! or 1/(2n+1)!, Horner from the ninth term: what each is of the one before.
     */
#define PART(n) 1.0 / (n) / (n + 1.0)
    static const double parts[2][9] = {
        {PART(1), PART(3), PART(5), PART(7), PART(9), PART(11), PART(13), PART(15),
         PART(17)},
        {PART(2), PART(4), PART(6), PART(8), PART(10), PART(12), PART(14), PART(16),
         PART(18)},
    };
#undef PART
    const pair one = {1, 1};
    pair turn = lesser(u, 1 - u); /* cosine is even: [0, 0.5] */
    pair sign = choose(turn > 0.25, -one, one);
    turn = lesser(turn, 0.5 - turn); /* [0, 0.25] */
    pair_mask swap = turn > 0.125;
    pair x = lesser(turn, 0.25 - turn) * 6.28318530717958648;
    pair square = x * x, sum = {0, 0};
    for (int n = 8; n >= 0; n--) {
        sum = (1 - sum) * square * choose(swap, one * parts[1][n], one * parts[0][n]);
    }
    return sign * (choose(swap, x, one) * (1 - sum));
}

/* count pairs of standard normal values of the elements from `first` on. */
static void normals(pair *ret, uint64_t seed, uint32_t stream, uint64_t first,
                    size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct draw a = draw_at(seed, stream, first + 2 * i),
                    b = draw_at(seed, stream, first + 2 * i + 1);
        pair lengths = {unit(a.bits[0]), unit(b.bits[0])};
        pair angles = {unit(a.bits[1]), unit(b.bits[1])};
        lengths = -2 * plain_log(1 - lengths);
        pair radius = {sqrt(lengths[0]), sqrt(lengths[1])};
        ret[i] = radius * plain_cos_turn(angles);
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

static double value_at(const struct tensor_init *init, uint64_t seed, uint32_t stream,
                       uint64_t i) {
    switch (init->kind) {
    case INIT_UNIFORM:
        return init->a + (init->b - init->a) * unit(draw_at(seed, stream, i).bits[0]);
    case INIT_ARANGE:
        return init->a + (double)i * init->b;
    case INIT_VALUES:
        return init->value_count ? init->values[i % init->value_count] : 0;
    default:
        return init->a;
    }
}

enum { NORMALS = 64 }; /* pairs at a time */

static void fill_normal(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                        const struct tensor_init *init, uint64_t seed, uint32_t stream) {
    pair some[NORMALS];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = i % (2 * NORMALS);
        if (!at) {
            uint64_t left = (count - i + 1) / 2;
            normals(some, seed, stream, first + i, left < NORMALS ? left : NORMALS);
        }
        tensor_set(type, data, i, init->a + init->b * some[at / 2][at % 2]);
    }
}

void tensor_fill(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                 const struct tensor_init *init, uint64_t seed, uint32_t stream) {
    if (init->kind == INIT_POISON) {
        poison(type, data, count);
        return;
    }
    if (init->kind == INIT_COPY) {
        size_t size = tensor_type_bytes(type);
        if (count) {
            memcpy(data, (const char *)init->elements + first * size, count * size);
        }
        return;
    }
    if (init->kind == INIT_NORMAL) {
        fill_normal(type, data, first, count, init, seed, stream);
        return;
    }
    bool wide = !tensor_type_float(type) && tensor_type_bytes(type) == 8 && init->whole;
    for (uint64_t i = 0; i < count; i++) {
        if (init->kind == INIT_VALUES && wide && init->value_count) {
            tensor_set_integer(type, data, i,
                               init->whole[(first + i) % init->value_count]);
        } else if (init->kind == INIT_INTEGERS) {
            tensor_set_integer(type, data, i,
                               integer_in(init->low, init->high,
                                          draw_at(seed, stream, first + i).bits[0]));
        } else {
            tensor_set(type, data, i, value_at(init, seed, stream, first + i));
        }
    }
}
