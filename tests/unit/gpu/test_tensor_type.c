/* Values and roundings against numpy and ml_dtypes (data/make_tensor_types.py), the
 * generator against its authors' known answers. */
#include "base/json.h"
#include "gpu/validate/tensor_init.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *data;

static void read_data(void) {
    data = json_load_file(TEST_DATA "/tensor_types.json", 0, NULL);
    cr_assert(data != NULL);
}

static void drop_data(void) {
    json_decref(data);
}

static double double_of(const char *hex) {
    uint64_t bits = strtoull(hex, NULL, 16);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static const char *const names[] = {"float16", "bfloat16", "float8_e4m3", "float8_e5m2"};

Test(tensor_type, every_value, .init = read_data, .fini = drop_data) {
    json_t *values = json_object_get(data, "values");
    for (size_t t = 0; t < 4; t++) {
        enum tensor_type type = tensor_type_find(names[t]);
        char key[32];
        snprintf(key, sizeof key, "%s_at", names[t]);
        json_t *list = json_object_get(values, names[t]),
               *at = json_object_get(values, key);
        size_t i;
        json_t *hex;
        json_array_foreach(list, i, hex) {
            uint64_t bits = at ? (uint64_t)json_integer_value(json_array_get(at, i)) : i;
            double got = tensor_get(type, &bits, 0);
            cr_assert(same(got, double_of(json_string_value(hex))), "%s 0x%llx: %.17g",
                      names[t], (unsigned long long)bits, got);
        }
    }
}

/* ml_dtypes overflows e4m3 to NaN and e5m2 to infinity, as the header says. */
Test(tensor_type, rounding, .init = read_data, .fini = drop_data) {
    json_t *inputs = json_object_get(data, "inputs");
    for (size_t t = 0; t < 4; t++) {
        enum tensor_type type = tensor_type_find(names[t]);
        json_t *want = json_object_get(json_object_get(data, "rounded"), names[t]);
        size_t i;
        json_t *hex;
        json_array_foreach(inputs, i, hex) {
            double x = double_of(json_string_value(hex));
            uint64_t expected = (uint64_t)json_integer_value(json_array_get(want, i));
            uint64_t room = 0;
            tensor_set(type, &room, 0, x);
            uint64_t got = tensor_bits(type, &room, 0);
            bool both_nan = isnan(tensor_get(type, &room, 0)) &&
                            isnan(tensor_get(type, &expected, 0));
            cr_assert(got == expected || both_nan, "%s of %.17g: 0x%llx, not 0x%llx",
                      names[t], x, (unsigned long long)got, (unsigned long long)expected);
        }
    }
}

Test(tensor_type, integers) {
    static const struct {
        const char *type;
        double value, stored;
    } cases[] = {
        {"int8", 200, 127},
        {"int8", -200, -128},
        {"int8", 2.5, 2},
        {"int8", 3.5, 4},
        {"uint8", -1, 0},
        {"uint8", 300, 255},
        {"int32", 3e9, 2147483647},
        {"uint32", 3e9, 3e9},
        {"int64", -1e18, -1e18},
        {"uint64", 1.8e19, 1.8e19},
        {"bool", 5, 1},
        {"int16", NAN, 0},
        {"int64", 1e30, 0x1p63},
        {"int64", -1e30, -0x1p63},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t room = 0;
        enum tensor_type type = tensor_type_find(cases[i].type);
        tensor_set(type, &room, 0, cases[i].value);
        double got = tensor_get(type, &room, 0);
        cr_assert(got == cases[i].stored, "%s of %g: %.17g", cases[i].type,
                  cases[i].value, got);
    }
    uint64_t big;
    tensor_set_integer(TENSOR_INT64, &big, 0, 9007199254740993);
    cr_assert_eq(big, 9007199254740993u);
    cr_assert_eq(tensor_type_find("float"), TENSOR_TYPES);
}

/* kat_vectors of the Random123 distribution. */
Test(tensor_init, philox_known_answers) {
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u},
         {~0u, ~0u},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t got[4];
        philox4x32(cases[i].counter, cases[i].key, got);
        cr_assert(memcmp(got, cases[i].want, sizeof got) == 0, "case %zu", i);
    }
}

/* Box and Muller by the C library, from the same random bits. */
Test(tensor_init, normal_is_box_muller) {
    static double x[20000];
    const struct tensor_init init = {.kind = INIT_NORMAL, .a = 0, .b = 1};
    uint64_t seed = 0x123456789abcdef;
    double sum = 0, squares = 0;
    tensor_fill(TENSOR_FLOAT64, x, 0, 20000, &init, seed, 3);
    for (uint32_t i = 0; i < 20000; i++) {
        const uint32_t counter[4] = {i, 0, 3, 0}, key[2] = {(uint32_t)seed, seed >> 32};
        uint32_t r[4];
        philox4x32(counter, key, r);
        double u = ldexp((double)((r[0] | (uint64_t)r[1] << 32) >> 11), -53);
        double v = ldexp((double)((r[2] | (uint64_t)r[3] << 32) >> 11), -53);
        double want = sqrt(-2 * log1p(-u)) * cos(2 * M_PI * v);
        cr_assert(fabs(x[i] - want) < 1e-13 * (1 + fabs(want)), "%u: %.17g, not %.17g", i,
                  x[i], want);
        sum += x[i];
        squares += x[i] * x[i];
    }
    cr_assert(fabs(sum / 20000) < 0.03);
    cr_assert(fabs(squares / 20000 - 1) < 0.05);
}

/* A seed that somebody noted must mean the same for ever: what the first version of this
 * file gave, one value at a time and without optimisation (gcc 12, -O0). */
Test(tensor_init, the_bytes_of_a_seed_stay) {
    static double x[4097];
    static const uint64_t first[] = {0x3fe5986ac8308746, 0x400f8a3030019fa3,
                                     0x3fc989a187adc6b8, 0x3f826f3379cf0e60,
                                     0x3ffc8347c93f8afe, 0x400c803e0d9f83ec};
    const struct tensor_init init = {.kind = INIT_NORMAL, .a = 0.5, .b = 2};
    tensor_fill(TENSOR_FLOAT64, x, 3, 4097, &init, 0x123456789abcdef, 7);
    for (size_t i = 0; i < 6; i++) {
        cr_assert_eq(tensor_bits(TENSOR_FLOAT64, x, i), first[i], "%zu", i);
    }
    cr_assert_eq(tensor_bits(TENSOR_FLOAT64, x, 4096), 0x4007f9a1616fbe78);
    uint64_t hash = 1469598103934665603u; /* FNV-1a by words */
    for (size_t i = 0; i < 4097; i++) {
        hash = (hash ^ tensor_bits(TENSOR_FLOAT64, x, i)) * 1099511628211u;
    }
    cr_assert_eq(hash, 0x65be55087ee85e83);
}

Test(tensor_init, pieces_equal_the_whole) {
    static const struct tensor_init inits[] = {
        {.kind = INIT_NORMAL, .a = 1, .b = 2},
        {.kind = INIT_UNIFORM, .a = -1, .b = 1},
        {.kind = INIT_INTEGERS, .low = -5, .high = 6},
        {.kind = INIT_ARANGE, .a = 3, .b = 0.5},
    };
    for (size_t k = 0; k < 4; k++) {
        float whole[1000], pieces[1000];
        tensor_fill(TENSOR_FLOAT32, whole, 0, 1000, &inits[k], 9, 1);
        tensor_fill(TENSOR_FLOAT32, pieces + 700, 700, 300, &inits[k], 9, 1);
        tensor_fill(TENSOR_FLOAT32, pieces, 0, 700, &inits[k], 9, 1);
        cr_assert(memcmp(whole, pieces, sizeof whole) == 0, "kind %zu", k);
        for (size_t i = 0; inits[k].kind == INIT_INTEGERS && i < 1000; i++) {
            cr_assert(whole[i] >= -5 && whole[i] <= 5 && whole[i] == floorf(whole[i]));
        }
    }
    float other[1000], one[1000];
    tensor_fill(TENSOR_FLOAT32, one, 0, 1000, &inits[1], 9, 1);
    tensor_fill(TENSOR_FLOAT32, other, 0, 1000, &inits[1], 9, 2);
    cr_assert(memcmp(one, other, sizeof one) != 0);
}
