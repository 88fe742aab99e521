#include "gpu/tensor/tensor_type.h"

#include "base/vectors.h"

#include <math.h>

static const struct {
    const char *name;
    unsigned char bytes;
    bool is_float;
} types[TENSOR_TYPES] = {
    [TENSOR_FLOAT32] = {"float32", 4, true},
    [TENSOR_FLOAT16] = {"float16", 2, true},
    [TENSOR_BFLOAT16] = {"bfloat16", 2, true},
    [TENSOR_FLOAT8_E4M3] = {"float8_e4m3", 1, true},
    [TENSOR_FLOAT8_E5M2] = {"float8_e5m2", 1, true},
    [TENSOR_FLOAT64] = {"float64", 8, true},
    [TENSOR_INT8] = {"int8", 1, false},
    [TENSOR_INT16] = {"int16", 2, false},
    [TENSOR_INT32] = {"int32", 4, false},
    [TENSOR_INT64] = {"int64", 8, false},
    [TENSOR_UINT8] = {"uint8", 1, false},
    [TENSOR_UINT16] = {"uint16", 2, false},
    [TENSOR_UINT32] = {"uint32", 4, false},
    [TENSOR_UINT64] = {"uint64", 8, false},
    [TENSOR_BOOL] = {"bool", 1, false},
};

const char *tensor_type_name(enum tensor_type type) {
    return types[type].name;
}

enum tensor_type tensor_type_find(const char *name) {
    for (int t = 0; t < TENSOR_TYPES; t++) {
        if (!strcmp(types[t].name, name)) {
            return (enum tensor_type)t;
        }
    }
    return TENSOR_TYPES;
}

size_t tensor_type_bytes(enum tensor_type type) {
    return types[type].bytes;
}

bool tensor_type_float(enum tensor_type type) {
    return types[type].is_float;
}

uint64_t tensor_bits(enum tensor_type type, const void *data, size_t i) {
    uint64_t bits = 0; /* both of our architectures are little-endian */
    memcpy(&bits, (const char *)data + i * types[type].bytes, types[type].bytes);
    return bits;
}

/* --- floats of 8 and 16 bits, of m bits of fraction and e of exponent; `open`: with
 * infinities --- */

/* Shifted to its place a small float is a binary32 with another bias: a product mends
 * that, of a subnormal number too. */
VECTORS_INLINE double small_value(uint32_t bits, int m, int e, bool open) {
    uint32_t magnitude = bits & ((1u << (m + e)) - 1), top = ((1u << e) - 1) << m;
    uint32_t single_bits = magnitude << (23 - m);
    float single;
    memcpy(&single, &single_bits, sizeof single);
    double value = (double)single * (e == 8 ? 1 : e == 5 ? 0x1p112 : 0x1p120);
    value = open && magnitude == top ? INFINITY : value;
    value = magnitude > (open ? top : top + (1u << m) - 2) ? NAN : value;
    return bits >> (m + e) & 1 ? -value : value;
}

/* To nearest, ties to even; as a double still. */
VECTORS_INLINE double small_rounded(double x, int m, int e, bool open) {
    const double least = e == 8 ? 0x1p-126 : e == 5 ? 0x1p-14 : 0x1p-6; /* normal */
    const double shift = least * (double)(1ull << (52 - m)); /* its last bit: a step */
    const double most = e == 8 ? 0x1.fep127 : e == 5 ? (m == 10 ? 65504 : 57344) : 448;
    double magnitude = fabs(x), normal, value;
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits += ((uint64_t)1 << (51 - m)) - 1 + (bits >> (52 - m) & 1);
    bits &= ~(uint64_t)0 << (52 - m);
    memcpy(&normal, &bits, sizeof normal);
    value = magnitude < least ? magnitude + shift - shift : normal;
    value = value > most ? (open ? INFINITY : NAN) : value;
    value = copysign(value, x);
    return isnan(x) ? NAN : value;
}

/* Of what small_rounded gave. */
VECTORS_INLINE uint32_t small_bits(double x, int m, int e, bool open) {
    uint32_t top = ((1u << e) - 1) << m, sign = signbit(x) ? 1u << (m + e) : 0, bits;
    float single = (float)(fabs(x) * (e == 8 ? 1 : e == 5 ? 0x1p-112 : 0x1p-120));
    memcpy(&bits, &single, sizeof bits);
    bits >>= 23 - m;
    bits = isinf(x) ? top : bits;
    bits = isnan(x) ? (open ? top | 1u << (m - 1) : top | ((1u << m) - 1)) : bits;
    return sign | bits;
}

/* --- integers --- */

/* Beyond the type the nearest limit; NaN gives 0. The largest of 64 bits is no double:
 * its neighbour is. */
VECTORS_INLINE double whole(double x, double low, double high) {
    x = nearbyint(isnan(x) ? 0 : x) + 0.0; /* an integer has one zero */
    return x < low ? low : x > high ? high : x;
}

/* --- many elements --- */

/* C's type, the value of an element x, the element for a value v, and what that is. */
#define INTEGER(NAME, T, low, high)                                                      \
    X(NAME, T, (double)x,                                                                \
      v >= (double)(high) ? (T)(high) : (T)whole(v, (double)(low), (double)(high)),      \
      whole(v, (double)(low), (double)(high)))
#define SMALL(NAME, T, ...)                                                              \
    X(NAME, T, small_value(x, __VA_ARGS__),                                              \
      (T)small_bits(small_rounded(v, __VA_ARGS__), __VA_ARGS__),                         \
      small_rounded(v, __VA_ARGS__))
#define ALL_TYPES                                                                        \
    X(FLOAT32, float, (double)x, (float)v, (double)(float)v)                             \
    X(FLOAT64, double, x, v, v)                                                          \
    SMALL(FLOAT16, uint16_t, 10, 5, true)                                                \
    SMALL(BFLOAT16, uint16_t, 7, 8, true)                                                \
    SMALL(FLOAT8_E4M3, uint8_t, 3, 4, false)                                             \
    SMALL(FLOAT8_E5M2, uint8_t, 2, 5, true)                                              \
    INTEGER(INT8, int8_t, INT8_MIN, INT8_MAX)                                            \
    INTEGER(INT16, int16_t, INT16_MIN, INT16_MAX)                                        \
    INTEGER(INT32, int32_t, INT32_MIN, INT32_MAX)                                        \
    INTEGER(INT64, int64_t, INT64_MIN, INT64_MAX)                                        \
    INTEGER(UINT8, uint8_t, 0, UINT8_MAX)                                                \
    INTEGER(UINT16, uint16_t, 0, UINT16_MAX)                                             \
    INTEGER(UINT32, uint32_t, 0, UINT32_MAX)                                             \
    INTEGER(UINT64, uint64_t, 0, UINT64_MAX)                                             \
    X(BOOL, uint8_t, (double)x, v != 0, v != 0)

VECTORS void tensor_load(enum tensor_type type, const void *data, uint64_t first,
                         size_t count, double *restrict ret) {
    const char *at = (const char *)data + first * types[type].bytes;
    switch (type) {
#define X(NAME, T, value, element, rounded)                                              \
    case TENSOR_##NAME:                                                                  \
        for (size_t i = 0; i < count; i++) {                                             \
            T x;                                                                         \
            memcpy(&x, at + i * sizeof x, sizeof x);                                     \
            ret[i] = (value);                                                            \
        }                                                                                \
        break;
        ALL_TYPES
#undef X
    default:
        break;
    }
}

VECTORS void tensor_store(enum tensor_type type, void *data, uint64_t first, size_t count,
                          const double *restrict values) {
    char *at = (char *)data + first * types[type].bytes;
    switch (type) {
#define X(NAME, T, value, element, rounded)                                              \
    case TENSOR_##NAME:                                                                  \
        for (size_t i = 0; i < count; i++) {                                             \
            double v = values[i];                                                        \
            T x = (element);                                                             \
            memcpy(at + i * sizeof x, &x, sizeof x);                                     \
        }                                                                                \
        break;
        ALL_TYPES
#undef X
    default:
        break;
    }
}

VECTORS void tensor_round(enum tensor_type type, const double *values, size_t count,
                          double *ret) {
    switch (type) {
#define X(NAME, T, value, element, rounded)                                              \
    case TENSOR_##NAME:                                                                  \
        for (size_t i = 0; i < count; i++) {                                             \
            double v = values[i];                                                        \
            ret[i] = (rounded);                                                          \
        }                                                                                \
        break;
        ALL_TYPES
#undef X
    default:
        break;
    }
}

enum { SOME = 512 };

VECTORS_INLINE double largest_of(const double *values, size_t count) {
    vec most = vec_all(0);
    for (size_t i = 0; i < count; i += LANES) {
        vec size = vec_abs(vec_load(values + i));
        vec_mask larger = vec_below(i, count) & (size < INFINITY) & (size > most);
        most = vec_select(larger, size, most);
    }
    return vec_most(most);
}

VECTORS double tensor_largest(enum tensor_type type, const void *data, uint64_t first,
                              uint64_t count) {
    double values[SOME], most = 0;
    for (uint64_t at = 0; at < count; at += SOME) {
        size_t n = count - at < SOME ? (size_t)(count - at) : SOME;
        tensor_load(type, data, first + at, n, values);
        most = fmax(most, largest_of(values, n));
    }
    return most;
}

/* --- one --- */

double tensor_get(enum tensor_type type, const void *data, size_t i) {
    double value;
    tensor_load(type, data, i, 1, &value);
    return value;
}

void tensor_set(enum tensor_type type, void *data, size_t i, double value) {
    tensor_store(type, data, i, 1, &value);
}

void tensor_set_integer(enum tensor_type type, void *data, size_t i, int64_t value) {
    size_t size = types[type].bytes;
    if (tensor_type_float(type) || type == TENSOR_BOOL) {
        tensor_set(type, data, i, (double)value);
    } else {
        memcpy((char *)data + i * size, &value, size); /* little-endian */
    }
}

bool tensor_type_holds(enum tensor_type type, int64_t value) {
    unsigned bits = 8u * types[type].bytes;
    return tensor_type_float(type) || type == TENSOR_BOOL || bits == 64 ||
           (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << bits);
}
