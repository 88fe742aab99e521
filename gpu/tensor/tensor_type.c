#include "gpu/tensor/tensor_type.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned char bytes, exponent, mantissa; /* of a float; 0 for integers */
    bool is_signed, has_infinity;
} types[TENSOR_TYPES] = {
    [TENSOR_FLOAT32] = {"float32", 4, 8, 23, true, true},
    [TENSOR_FLOAT16] = {"float16", 2, 5, 10, true, true},
    [TENSOR_BFLOAT16] = {"bfloat16", 2, 8, 7, true, true},
    [TENSOR_FLOAT8_E4M3] = {"float8_e4m3", 1, 4, 3, true, false},
    [TENSOR_FLOAT8_E5M2] = {"float8_e5m2", 1, 5, 2, true, true},
    [TENSOR_FLOAT64] = {"float64", 8, 11, 52, true, true},
    [TENSOR_INT8] = {"int8", 1, 0, 0, true, false},
    [TENSOR_INT16] = {"int16", 2, 0, 0, true, false},
    [TENSOR_INT32] = {"int32", 4, 0, 0, true, false},
    [TENSOR_INT64] = {"int64", 8, 0, 0, true, false},
    [TENSOR_UINT8] = {"uint8", 1, 0, 0, false, false},
    [TENSOR_UINT16] = {"uint16", 2, 0, 0, false, false},
    [TENSOR_UINT32] = {"uint32", 4, 0, 0, false, false},
    [TENSOR_UINT64] = {"uint64", 8, 0, 0, false, false},
    [TENSOR_BOOL] = {"bool", 1, 0, 0, false, false},
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
    return types[type].mantissa > 0;
}

uint64_t tensor_bits(enum tensor_type type, const void *data, size_t i) {
    uint64_t bits = 0; /* both of our architectures are little-endian */
    memcpy(&bits, (const char *)data + i * types[type].bytes, types[type].bytes);
    return bits;
}

static void set_bits(enum tensor_type type, void *data, size_t i, uint64_t bits) {
    switch (types[type].bytes) { /* a copy of known size is one instruction */
    case 1:
        memcpy((char *)data + i, &bits, 1);
        break;
    case 2:
        memcpy((char *)data + 2 * i, &bits, 2);
        break;
    case 4:
        memcpy((char *)data + 4 * i, &bits, 4);
        break;
    default:
        memcpy((char *)data + 8 * i, &bits, 8);
    }
}

/* --- floats of any size --- */

static double small_float(enum tensor_type type, uint64_t bits) {
    unsigned m = types[type].mantissa, e = types[type].exponent;
    int bias = (1 << (e - 1)) - 1;
    uint64_t fraction = bits & ((1u << m) - 1), top = (1u << e) - 1;
    unsigned exponent = (unsigned)(bits >> m & top);
    double sign = bits >> (m + e) & 1 ? -1 : 1;
    if (exponent == top && types[type].has_infinity) {
        return fraction ? NAN : sign * INFINITY;
    }
    if (exponent == top && fraction == (1u << m) - 1) {
        return NAN; /* e4m3's only one */
    }
    return exponent
               ? sign * ldexp((double)(fraction | 1u << m), (int)exponent - bias - (int)m)
               : sign * ldexp((double)fraction, 1 - bias - (int)m);
}

/* The bits of the finite magnitude `value`, rounded to nearest even; may reach past the
 * largest finite number. */
static uint64_t round_magnitude(enum tensor_type type, double value) {
    int m = types[type].mantissa, bias = (1 << (types[type].exponent - 1)) - 1;
    int exponent, drop = 52 - m;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((int)(bits >> 52) - 1023 >= 1 - bias) { /* a normal number there too */
        bits += ((uint64_t)1 << (drop - 1)) - 1 + (bits >> drop & 1);
        return (bits >> drop) - ((uint64_t)(1023 - bias) << m);
    }
    frexp(value, &exponent); /* value = f * 2^exponent, f in [0.5, 1) */
    int lowest = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    /* An integer of at most m + 1 bits; nearbyint rounds ties to even. */
    uint64_t units = (uint64_t)nearbyint(ldexp(value, m - lowest));
    return ((uint64_t)(lowest + bias - 1) << m) + units;
}

static uint64_t small_float_bits(enum tensor_type type, double value) {
    unsigned m = types[type].mantissa, e = types[type].exponent;
    uint64_t sign = (uint64_t)signbit(value) << (m + e);
    uint64_t infinity = (uint64_t)((1u << e) - 1) << m;
    uint64_t nan =
        infinity | (types[type].has_infinity ? 1ull << (m - 1) : (1u << m) - 1);
    if (isnan(value)) {
        return nan;
    }
    uint64_t limit = types[type].has_infinity ? infinity : nan;
    uint64_t bits = isinf(value) || fabs(value) > 1e300 ? limit
                    : value == 0                        ? 0
                                 : round_magnitude(type, fabs(value));
    return sign | (bits < limit ? bits : limit);
}

double tensor_get(enum tensor_type type, const void *data, size_t i) {
    float single;
    double value;
    switch (type) {
    case TENSOR_FLOAT32:
        memcpy(&single, (const char *)data + i * sizeof single, sizeof single);
        return (double)single;
    case TENSOR_FLOAT64:
        memcpy(&value, (const char *)data + i * sizeof value, sizeof value);
        return value;
    default:
        break;
    }
    uint64_t bits = tensor_bits(type, data, i);
    if (tensor_type_float(type)) {
        return small_float(type, bits);
    }
    if (!types[type].is_signed) {
        return (double)bits;
    }
    unsigned shift = 64 - 8u * types[type].bytes;
    return (double)((int64_t)(bits << shift) >> shift);
}

/* --- storing --- */

void tensor_set_integer(enum tensor_type type, void *data, size_t i, int64_t value) {
    if (tensor_type_float(type)) {
        tensor_set(type, data, i, (double)value);
    } else {
        set_bits(type, data, i, type == TENSOR_BOOL ? value != 0 : (uint64_t)value);
    }
}

bool tensor_type_holds(enum tensor_type type, int64_t value) {
    unsigned bits = 8u * types[type].bytes;
    return tensor_type_float(type) || type == TENSOR_BOOL || bits == 64 ||
           (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << bits);
}

static int64_t to_integer(enum tensor_type type, double value) {
    if (isnan(value)) {
        return 0;
    }
    value = nearbyint(value);
    unsigned bits = 8u * types[type].bytes;
    double high = ldexp(1, (int)bits - types[type].is_signed);
    double low = types[type].is_signed ? -high : 0;
    if (value >= high) {
        return (int64_t)(~0ull >> (64 - bits + types[type].is_signed));
    }
    if (value <= low) {
        return types[type].is_signed ? (int64_t)(~0ull << (bits - 1)) : 0;
    }
    return value < 0 ? (int64_t)value : (int64_t)(uint64_t)value;
}

void tensor_set(enum tensor_type type, void *data, size_t i, double value) {
    uint64_t bits = 0;
    if (type == TENSOR_FLOAT32) {
        float single = (float)value;
        memcpy((char *)data + i * sizeof single, &single, sizeof single);
        return;
    }
    if (type == TENSOR_FLOAT64) {
        memcpy(&bits, &value, sizeof value);
    } else if (tensor_type_float(type)) {
        bits = small_float_bits(type, value);
    } else if (type == TENSOR_BOOL) {
        bits = value != 0;
    } else {
        bits = (uint64_t)to_integer(type, value);
    }
    set_bits(type, data, i, bits);
}
