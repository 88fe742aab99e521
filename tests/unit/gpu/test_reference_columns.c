/* What is computed block by block is what a plain loop gives, to the bit. */
#include "base/json.h"
#include "gpu/reference/operator_call.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(reference_columns);

/* wide: of many magnitudes, so that compensation matters; at `seed` 3 with values that
 * are no numbers. */
static void fill(float *v, size_t count, size_t seed, bool wide) {
    for (size_t i = 0; i < count; i++) {
        size_t mixed = (7919 * i + 31 * i * i + 104729 * seed) % 2047;
        v[i] = ldexpf((float)mixed / 1024 - 1, wide ? (int)(mixed % 7) * 15 - 45 : 0);
    }
    if (seed == 3 && count > 40) {
        v[17] = NAN;
        v[40] = INFINITY;
    }
}

static bool never(void) {
    return false;
}

static bool plain; /* sums as for outputs of float32 */

static void compute(struct operator_call *c, const char *name, const char *attributes,
                    float *const *data, const int64_t shapes[][3], size_t count,
                    size_t rank) {
    static struct operator_budget budget = {UINT64_MAX, never};
    static const char *const names[] = {"a", "b", "c"};
    struct err err = {0};
    autojson *json = json_loads(attributes, 0, NULL);
    int r = operator_call_start(c, operator_find(name), "op", json, &err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        operator_call_input(c, i, names[i], tensor_type_find("float32"), data[i],
                            shapes[i], rank);
    }
    c->plain = plain;
    r = r < 0 ? r : operator_call_infer(c, &err);
    r = r < 0 ? r : operator_call_compute(c, &budget, &err);
    cr_assert(eq(int, r, 0), "%s", err.msg);
}

static void expect_bits(const struct operator_call *c, const double *wanted) {
    size_t bytes = (size_t)c->out[0].count * sizeof *wanted;
    for (int64_t i = 0; memcmp(c->out[0].v, wanted, bytes) != 0; i++) {
        cr_assert(memcmp(&c->out[0].v[i], &wanted[i], sizeof *wanted) == 0,
                  "%lld: %a, one after the other %a", (long long)i, c->out[0].v[i],
                  wanted[i]);
    }
}

/* Sum of n products, one after the other. */
static double product(const double *a, const float *own, const float *b, int64_t n,
                      int64_t stride) {
    struct sum sum = {0};
    for (int64_t i = 0; i < n; i++) {
        sum_add(&sum, (a ? a[i] : (double)own[i]) * (double)b[i * stride]);
    }
    return sum_value(sum);
}

struct attention_case {
    int64_t heads, repeat, l, s, e, ev;
    size_t seed;
    bool causal;
};

static void attend_row(const struct attention_case *a, const float *query,
                       const float *keys, const float *values, int64_t row, double *ret) {
    double *weights = xcalloc((size_t)a->s, sizeof *weights), largest = -INFINITY;
    struct sum total = {0};
    for (int64_t j = 0; j < a->s; j++) {
        weights[j] =
            product(NULL, query, keys + j * a->e, a->e, 1) * (1 / sqrt((double)a->e)) +
            (a->causal && j > row ? -INFINITY : 0);
        largest = weights[j] > largest || isnan(weights[j]) ? weights[j] : largest;
    }
    for (int64_t j = 0; j < a->s; j++) {
        weights[j] = exp(weights[j] - largest);
        sum_add(&total, weights[j]);
    }
    for (int64_t j = 0; j < a->s; j++) {
        weights[j] /= sum_value(total);
    }
    for (int64_t k = 0; k < a->ev; k++) {
        ret[k] = product(weights, NULL, values + k, a->s, a->ev);
    }
    free(weights);
}

Test(reference_columns, attention_sums_as_a_plain_loop_does) {
    static const struct attention_case cases[] = {
        {1, 1, 1, 1, 1, 1, 0, false},    {2, 1, 16, 16, 8, 8, 0, false},
        {6, 3, 9, 21, 13, 11, 0, false}, {1, 1, 19, 19, 7, 17, 0, true},
        {4, 2, 11, 10, 16, 9, 3, false}, {1, 1, 300, 33, 5, 7, 0, false},
    };
    for (size_t n = 0; n < ARRAY_LEN(cases); n++) {
        const struct attention_case *a = &cases[n];
        int64_t shared = a->heads / a->repeat;
        const int64_t shapes[][3] = {
            {a->heads, a->l, a->e}, {shared, a->s, a->e}, {shared, a->s, a->ev}};
        float *data[3];
        for (size_t i = 0; i < 3; i++) {
            size_t count = (size_t)(shapes[i][0] * shapes[i][1] * shapes[i][2]);
            data[i] = xcalloc(count, sizeof **data);
            fill(data[i], count, a->seed + (i == 2 ? 0 : i), i == 2);
        }
        struct operator_call c;
        autofree char *attributes =
            xasprintf("{\"enable_gqa\":%s,\"is_causal\":%s}",
                      a->repeat > 1 ? "true" : "false", a->causal ? "true" : "false");
        compute(&c, "scaled_dot_product_attention", attributes, data, shapes, 3, 3);
        autofree double *wanted = xcalloc((size_t)c.out[0].count, sizeof *wanted);
        for (int64_t i = 0; i < a->heads * a->l; i++) {
            int64_t head = i / a->l / a->repeat;
            attend_row(a, data[0] + i * a->e, data[1] + head * a->s * a->e,
                       data[2] + head * a->s * a->ev, i % a->l, wanted + i * a->ev);
        }
        expect_bits(&c, wanted);
        operator_call_finish(&c);
        for (size_t i = 0; i < 3; i++) {
            free(data[i]);
        }
    }
}

Test(reference_columns, products_sum_as_a_plain_loop_does) {
    static const int64_t shapes[][3] = {{13, 37}, {37, 21}};
    float a[13 * 37], b[37 * 21], *data[] = {a, b};
    double wanted[13 * 21];
    fill(a, ARRAY_LEN(a), 0, true);
    fill(b, ARRAY_LEN(b), 3, true);
    for (int64_t i = 0; i < 13 * 21; i++) {
        wanted[i] = product(NULL, a + i / 21 * 37, b + i % 21, 37, 21);
    }
    struct operator_call c;
    compute(&c, "mm", "{}", data, shapes, 2, 2);
    expect_bits(&c, wanted);
    operator_call_finish(&c);
}

/* In this order the 1 is lost, compensated or not; from the end on it would be kept. */
Test(reference_columns, the_terms_keep_their_order) {
    static const int64_t shapes[][3] = {{1, 5}, {5, 9}};
    float a[] = {0x1p120f, 1, 0x1p60f, -0x1p120f, -0x1p60f}, b[5 * 9], *data[] = {a, b};
    static const double wanted[9] = {0};
    for (size_t i = 0; i < ARRAY_LEN(b); i++) {
        b[i] = 1;
    }
    struct operator_call c;
    compute(&c, "mm", "{}", data, shapes, 2, 2);
    expect_bits(&c, wanted);
    operator_call_finish(&c);
}

/* Small whole numbers, whose sums are exact in any order. */
static float *whole_numbers(size_t count, unsigned step) {
    float *v = xcalloc(count, sizeof *v);
    for (size_t i = 0; i < count; i++) {
        v[i] = (float)(i * step % 31) - 15;
    }
    return v;
}

/* More rows, columns and terms than a block has, and none of them a multiple of a tile.
 */
Test(reference_columns, products_of_many_blocks) {
    enum { M = 389, K = 261, N = 491 };
    static const int64_t shapes[][3] = {{M, K}, {K, N}};
    static double wanted[M * N];
    float *data[] = {whole_numbers(M * K, 7), whole_numbers(K * N, 11)};
    for (size_t i = 0; i < M * K; i++) {
        for (size_t j = 0; j < N; j++) {
            wanted[i / K * N + j] += (double)(data[0][i] * data[1][i % K * N + j]);
        }
    }
    for (int k = 0; k < 2; k++) {
        struct operator_call c;
        plain = k;
        compute(&c, "mm", "{}", data, shapes, 2, 2);
        expect_bits(&c, wanted);
        operator_call_finish(&c);
    }
    free(data[0]);
    free(data[1]);
}

/* 997 places with a stride of 2, groups and padding. */
Test(reference_columns, convolutions_of_many_places) {
    enum { IN = 1993, OUT = 997, TAPS = 5, CHANNELS = 4, FILTERS = 6 };
    static const int64_t shapes[][3] = {{2, CHANNELS, IN}, {FILTERS, CHANNELS / 2, TAPS}};
    float *data[] = {whole_numbers(2 * CHANNELS * IN, 7),
                     whole_numbers(FILTERS * CHANNELS / 2 * TAPS, 11)};
    for (int k = 0; k < 2; k++) {
        struct operator_call c;
        plain = k;
        compute(&c, "conv1d", "{\"stride\":2,\"padding\":2,\"groups\":2}", data, shapes,
                2, 3);
        cr_assert(eq(i64, c.out[0].count, 2 * FILTERS * OUT));
        for (int64_t i = 0; i < c.out[0].count; i++) {
            int64_t place = i % OUT, filter = i / OUT % FILTERS,
                    sample = i / OUT / FILTERS;
            double sum = 0;
            for (int64_t t = 0; t < CHANNELS / 2 * TAPS; t++) {
                int64_t channel = filter / (FILTERS / 2) * 2 + t / TAPS;
                int64_t at = place * 2 - 2 + t % TAPS;
                double x = at < 0 || at >= IN
                               ? 0
                               : (double)data[0][(sample * CHANNELS + channel) * IN + at];
                sum += x * (double)data[1][filter * CHANNELS / 2 * TAPS + t];
            }
            cr_assert(c.out[0].v[i] == sum, "plain %d, element %lld", k, (long long)i);
        }
        operator_call_finish(&c);
    }
    free(data[0]);
    free(data[1]);
}
