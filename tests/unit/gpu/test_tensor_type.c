/* Values and roundings against numpy and ml_dtypes (data/make_tensor_types.py), the
 * generator against its authors' known answers. */
#include "base/json.h"
#include "gpu/tensor/tensor_init.h"

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

/* What a loop over many makes of a value: in its vectors and behind them. */
enum { MANY_SAME = 37 };
static unsigned char many[MANY_SAME * 8 + 8];
static double loaded[MANY_SAME];

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
            for (size_t n = 0; n < MANY_SAME; n++) {
                memcpy(many + n * tensor_type_bytes(type), &bits, 8);
            }
            tensor_load(type, many, 0, MANY_SAME, loaded);
            for (size_t n = 0; n < MANY_SAME; n++) {
                cr_assert(same(got, loaded[n]), "%s 0x%llx", names[t],
                          (unsigned long long)bits);
            }
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
            for (size_t n = 0; n < MANY_SAME; n++) {
                loaded[n] = x;
            }
            tensor_store(type, many, 0, MANY_SAME, loaded);
            tensor_round(type, loaded, MANY_SAME, loaded);
            for (size_t n = 0; n < MANY_SAME; n++) {
                cr_assert_eq(tensor_bits(type, many, n), got);
                cr_assert(same(loaded[n], tensor_get(type, &expected, 0)) || both_nan);
            }
        }
    }
}

Test(tensor_type, largest) {
    float v[1000] = {0};
    v[3] = -7;
    v[998] = -INFINITY;
    v[999] = NAN;
    cr_assert_eq(tensor_largest(TENSOR_FLOAT32, v, 0, 1000), 7);
    cr_assert_eq(tensor_largest(TENSOR_FLOAT32, v, 4, 996), 0);
    v[997] = 8.5f;
    cr_assert_eq(tensor_largest(TENSOR_FLOAT32, v, 997, 1), 8.5);
    cr_assert_eq(tensor_largest(TENSOR_FLOAT32, v, 0, 0), 0);
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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum tensor_type type = tensor_type_find(cases[i].type);
        double value = cases[i].value, rounded;
        tensor_round(type, &value, 1, &rounded);
        cr_assert(same(rounded, cases[i].stored), "%s of %g", cases[i].type, value);
    }
    uint64_t big;
    tensor_set_integer(TENSOR_INT64, &big, 0, 9007199254740993);
    cr_assert_eq(big, 9007199254740993u);
    cr_assert_eq(tensor_type_find("float"), TENSOR_TYPES);
}

/* Inside, at edges and in the tail, against another ziggurat (data/make_normals.py); only
 * the tail's logarithms may differ, in the last bits. A seed that somebody noted must
 * mean the same for ever: other bytes want another TENSOR_GENERATOR. */
Test(tensor_init, normal_values_of_a_seed) {
    static double x[60000], u[60000];
    const struct tensor_init normal = {.kind = INIT_NORMAL, .b = 1};
    const struct tensor_init uniform = {.kind = INIT_UNIFORM, .b = 1};
    autojson *known = json_load_file(TEST_DATA "/normals.json", 0, NULL);
    uint64_t seed = strtoull(json_get_string(known, "seed", ""), NULL, 16);
    uint32_t stream = (uint32_t)json_get_integer(known, "stream", 0);
    size_t i;
    json_t *at;
    tensor_fill(TENSOR_FLOAT64, x, 0, 60000, &normal, seed, stream);
    tensor_fill(TENSOR_FLOAT64, u, 0, 60000, &uniform, seed, stream);
    cr_assert_eq(TENSOR_GENERATOR, 2);
    json_array_foreach(json_object_get(known, "at"), i, at) {
        size_t k = (size_t)json_integer_value(at);
        const char *bits =
            json_string_value(json_array_get(json_object_get(known, "bits"), i));
        const char *word =
            json_string_value(json_array_get(json_object_get(known, "words"), i));
        double want = double_of(bits);
        bool good = fabs(want) > 3.6541 ? fabs(x[k] - want) < 1e-14 * fabs(want)
                                        : same(x[k], want);
        cr_assert(good, "%zu: %.17g, not %.17g", k, x[k], want);
        cr_assert_eq(u[k], ldexp((double)(strtoull(word, NULL, 16) >> 11), -53));
    }
    cr_assert_gt(i, 70);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance to the distribution by the C library's erfc. */
static double distance(double *x, size_t n) {
    double most = 0;
    qsort(x, n, sizeof *x, by_value);
    for (size_t i = 0; i < n; i++) {
        double below = 0.5 * erfc(-x[i] / M_SQRT2);
        most = fmax(most, fabs(below - (double)i / (double)n));
        most = fmax(most, fabs(below - (double)(i + 1) / (double)n));
    }
    return most;
}

/* Moments within 4.5 of their standard errors, 6 / n of the fourth's; the tail that the
 * rectangles do not cover as often as erfc says. */
Test(tensor_init, normal_values_are_normal) {
    enum { MANY = 400000 };
    static double x[MANY];
    const struct tensor_init init = {.kind = INIT_NORMAL, .b = 1};
    double sums[5] = {0}, n = MANY, beyond = 0;
    tensor_fill(TENSOR_FLOAT64, x, 0, MANY, &init, 2026, 1);
    for (size_t i = 0; i < MANY; i++) {
        double power = 1;
        for (int k = 1; k <= 4; k++) {
            power *= x[i];
            sums[k] += power;
        }
        beyond += fabs(x[i]) > 3.6541528853610088;
        if (i) { /* neighbours share a draw */
            sums[0] += x[i] * x[i - 1];
        }
    }
    cr_assert_lt(fabs(sums[0] / n), 4.5 / sqrt(n), "neighbours: %g", sums[0] / n);
    cr_assert_lt(fabs(sums[1] / n), 4.5 / sqrt(n), "mean %g", sums[1] / n);
    cr_assert_lt(fabs(sums[2] / n - 1), 4.5 * sqrt(2 / n), "variance %g", sums[2] / n);
    cr_assert_lt(fabs(sums[3] / n), 4.5 * sqrt(15 / n), "third %g", sums[3] / n);
    cr_assert_lt(fabs(sums[4] / n - 3), 4.5 * sqrt(96 / n), "fourth %g", sums[4] / n);
    double expected = n * erfc(3.6541528853610088 / M_SQRT2);
    cr_assert_lt(fabs(beyond - expected), 4.5 * sqrt(expected), "%g beyond", beyond);
    /* 1.95 / sqrt(n) has a chance of 1 in 1000. */
    double d = distance(x, MANY);
    cr_assert_lt(d, 1.95 / sqrt(n), "distance %g", d);
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
