/* Every reference operator against what PyTorch computes (tests/kernels/
 * make_reference_vectors.py made data/reference/). */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "gpu/reference/operator.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Both compute in float64, but torch sums without compensation and by other formulas: of
 * the largest element, and of the element itself. */
#define SCALE_ERROR 2e-15
#define OWN_ERROR 5e-15

/* --- inputs by formula, as in the script --- */

static double number_of(const json_t *json) {
    const char *word = json_string_value(json);
    return !word ? json_number_value(json)
                 : (*word == 'N'   ? NAN
                    : *word == '-' ? -INFINITY
                                   : INFINITY);
}

static int64_t mixed(const json_t *make, int64_t i) {
    return 7919 * i + 31 * i * i + 104729 * json_integer_value(json_array_get(make, 1));
}

static double made(const json_t *make, int64_t i) {
    const char *kind = json_string_value(json_array_get(make, 0));
    double a = number_of(json_array_get(make, 2)), b = number_of(json_array_get(make, 3));
    if (kind && !strcmp(kind, "wave")) {
        return ((double)(mixed(make, i) % 2047) / 1024 - 1) * a + b;
    }
    if (kind && !strcmp(kind, "apart")) {
        int64_t seed = json_integer_value(json_array_get(make, 1));
        return (double)((7919 * i + 104729 * seed) % 2003) / 64 - 16;
    }
    if (kind && !strcmp(kind, "integers")) {
        return (double)(mixed(make, i) % (int64_t)(b - a)) + a;
    }
    return number_of(json_array_get(make, (size_t)i));
}

struct tensor {
    enum tensor_type type;
    int64_t shape[OPERATOR_MAX_RANK], count;
    size_t rank;
    void *data;
};

static void shape_of(const json_t *json, struct tensor *ret) {
    ret->rank = json_array_size(json);
    ret->count = 1;
    for (size_t i = 0; i < ret->rank; i++) {
        ret->shape[i] = json_integer_value(json_array_get(json, i));
        ret->count *= ret->shape[i];
    }
}

static struct tensor tensor_of(const json_t *json) {
    struct tensor t = {.type = tensor_type_find(json_get_string(json, "type", ""))};
    cr_assert(t.type != TENSOR_TYPES);
    shape_of(json_object_get(json, "shape"), &t);
    size_t count = t.count ? (size_t)t.count : 1;
    t.data = xcalloc(count, tensor_type_bytes(t.type));
    for (int64_t i = 0; i < t.count; i++) {
        tensor_set(t.type, t.data, (size_t)i, made(json_object_get(json, "make"), i));
    }
    return t;
}

/* --- one case --- */

static bool more_steps(void) {
    return false;
}

/* "tensors2" is the third of a list. */
static int role_of(const struct operator* op, const char *name) {
    size_t len = op->inputs[0].repeat ? strlen(op->inputs[0].name) : 0;
    if (len && !strncmp(name, op->inputs[0].name, len)) {
        return name[len] - '0';
    }
    return operator_input(op, name);
}

static double error_of(double actual, double expected, double scale) {
    if (isnan(expected) || isinf(expected) || !isfinite(actual)) {
        bool same = isnan(expected) ? isnan(actual) != 0 : actual == expected;
        return same ? 0 : INFINITY;
    }
    double allowed = SCALE_ERROR * scale + OWN_ERROR * fabs(expected);
    double off = fabs(actual - expected);
    return off == 0 ? 0 : off / (allowed > 0 ? allowed : 1e-300);
}

/* The worst error of an output in units of what is allowed; 1 is the limit. */
static double compare(const struct operator_array *a, const json_t *wanted,
                      const char *label) {
    struct tensor shape = {0};
    const json_t *values = json_object_get(wanted, "values");
    shape_of(json_object_get(wanted, "shape"), &shape);
    cr_assert(a->name && a->rank == shape.rank &&
                  !memcmp(a->shape, shape.shape, shape.rank * sizeof *a->shape),
              "%s: another shape, rank %zu, count %lld", label, a->rank,
              (long long)a->count);
    double scale = 0, worst = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double x = fabs(number_of(json_array_get(values, (size_t)i)));
        scale = isfinite(x) && x > scale ? x : scale;
    }
    for (int64_t i = 0; i < a->count; i++) {
        double e = error_of(a->v[i], number_of(json_array_get(values, (size_t)i)), scale);
        worst = e > worst ? e : worst;
        cr_expect(e <= 1, "%s: element %lld is %.17g, torch has %.17g", label,
                  (long long)i, a->v[i], number_of(json_array_get(values, (size_t)i)));
    }
    return worst;
}

/* Rows [from, to) of the outputs, from those of the inputs that go by rows: the same bits
 * as in the whole. */
static void same_rows(const struct operator_call *whole, const json_t *attributes,
                      int64_t from, int64_t to, const char *label) {
    struct operator_call c;
    struct operator_budget budget = {1000000, more_steps};
    struct err err = {0};
    int r = operator_call_start(&c, whole->op, "expect.op", attributes, &err);
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        struct operator_array a = whole->in[i];
        bool by_rows = whole->by_rows >> i & 1;
        size_t row = by_rows ? (size_t)(a.count / a.shape[0]) : 0;
        a.shape[0] = by_rows ? to - from : a.shape[0];
        operator_call_input(&c, i, a.name, a.type,
                            a.name ? (const char *)a.data +
                                         (size_t)from * row * tensor_type_bytes(a.type)
                                   : NULL,
                            a.shape, a.rank);
    }
    c.plain = whole->plain;
    r = r < 0 ? r : operator_call_infer(&c, &err);
    r = r < 0 ? r : operator_call_compute(&c, &budget, &err);
    cr_assert_eq(r, 0, "%s: %s", label, err.msg);
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS && c.out[i].name; i++) {
        int64_t row = whole->out[i].count / whole->out[i].shape[0];
        cr_assert_eq(c.out[i].count, row * (to - from), "%s", label);
        cr_expect_arr_eq(c.out[i].v, whole->out[i].v + from * row,
                         (size_t)c.out[i].count * sizeof(double), "%s: rows %lld to %lld",
                         label, (long long)from, (long long)to);
    }
    operator_call_finish(&c);
}

static unsigned by_rows_count;

/* Row by row, and two at a time. */
static void check_rows(const struct operator_call *c, const json_t *attributes,
                       const char *label) {
    int64_t rows = c->by_rows ? c->out[0].shape[0] : 0;
    for (int64_t at_once = 1; at_once <= 2; at_once++) {
        for (int64_t at = 0; at < rows; at += at_once) {
            same_rows(c, attributes, at, rows - at < at_once ? rows : at + at_once,
                      label);
        }
    }
    by_rows_count += rows > 1;
}

/* plain: as for outputs of float32. */
static double run_case(const json_t *record, bool plain) {
    const char *name = json_get_string(record, "op", "");
    const struct operator* op = operator_find(name);
    cr_assert_not_null(op, "no operator %s", name);
    autofree char *attributes = json_dumps(json_object_get(record, "attributes"), 0);
    autofree char *label = xasprintf("%s %s", name, attributes);
    struct operator_call c;
    struct operator_budget budget = {1000000, more_steps};
    struct err err = {0};
    void *data[OPERATOR_MAX_INPUTS] = {0};
    int r = operator_call_start(&c, op, "expect.op",
                                json_object_get(record, "attributes"), &err);
    cr_assert_eq(r, 0, "%s: %s", label, err.msg);
    const char *role;
    json_t *value;
    json_object_foreach(json_object_get(record, "inputs"), role, value) {
        struct tensor t = tensor_of(value);
        int i = role_of(op, role);
        cr_assert(i >= 0, "%s: no input %s", label, role);
        data[i] = t.data;
        operator_call_input(&c, (size_t)i, role, t.type, t.data, t.shape, t.rank);
    }
    c.plain = plain;
    r = operator_call_infer(&c, &err);
    r = r < 0 ? r : operator_call_compute(&c, &budget, &err);
    cr_assert_eq(r, 0, "%s: %s", label, err.msg);
    check_rows(&c, json_object_get(record, "attributes"), label);
    double worst = 0;
    json_object_foreach(json_object_get(record, "outputs"), role, value) {
        int i = operator_output(op, role);
        cr_assert(i >= 0, "%s: no output %s", label, role);
        double e = compare(&c.out[i], value, label);
        worst = e > worst ? e : worst;
    }
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        free(data[i]);
    }
    operator_call_finish(&c);
    return worst;
}

/* --- families --- */

static const char *const families[] = {
    "activations",   "attention",    "convolutions", "elementwise", "indexing",
    "interpolation", "losses",       "matmul",       "norms",       "ordering",
    "pooling",       "quantization", "reductions",   "scans",       "shapes",
};

static json_t *load(const char *family) {
    autofree char *path = xasprintf(TEST_DATA "/reference/%s.json", family);
    json_t *json = json_load_file(path, 0, NULL);
    cr_assert_not_null(json, "%s", path);
    return json;
}

Test(reference, as_torch) {
    for (size_t f = 0; f < ARRAY_LEN(families); f++) {
        autojson *json = load(families[f]);
        const json_t *cases = json_object_get(json, "cases");
        double worst = 0;
        size_t i;
        json_t *record;
        cr_assert(json_array_size(cases) > 0);
        json_array_foreach(cases, i, record) {
            double e = fmax(run_case(record, false), run_case(record, true));
            worst = e > worst ? e : worst;
        }
        if (getenv("REFERENCE_ERRORS")) {
            fprintf(stderr, "%s: %zu cases, worst error %.2g of the limit\n", families[f],
                    json_array_size(cases), worst);
        }
    }
    cr_expect(by_rows_count > 300, "%u cases went by rows", by_rows_count);
}

/* --- is everything covered? --- */

static void note(json_t *seen, const json_t *record) {
    const char *op = json_get_string(record, "op", ""), *name;
    json_t *value;
    json_object_set_new(seen, op, json_true());
    json_object_foreach(json_object_get(record, "attributes"), name, value) {
        autofree char *key = xasprintf("%s.%s", op, name);
        json_object_set_new(seen, key, json_true());
        if (json_is_string(value)) {
            autofree char *choice =
                xasprintf("%s.%s=%s", op, name, json_string_value(value));
            json_object_set_new(seen, choice, json_true());
        }
    }
    json_object_foreach(json_object_get(record, "inputs"), name, value) {
        autofree char *key = xasprintf("%s(%s)", op, name);
        json_object_set_new(seen, key, json_true());
    }
    json_object_foreach(json_object_get(record, "outputs"), name, value) {
        autofree char *key = xasprintf("%s->%s", op, name);
        json_object_set_new(seen, key, json_true());
    }
}

static void expect_choices(const json_t *seen, const struct operator* op,
                           const struct operator_attribute *a) {
    autofree char *choices = xstrdup(a->choices);
    char *rest = choices;
    for (char *word; (word = strsep(&rest, "|"));) {
        autofree char *key = xasprintf("%s.%s=%s", op->name, a->name, word);
        autofree char *quoted = xasprintf("\"%s\"", word);
        bool fallback = a->fallback && !strcmp(a->fallback, quoted);
        cr_expect(fallback || json_object_get(seen, key), "%s is not tested", key);
    }
}

static void expect_all(const json_t *seen, const struct operator* op) {
    cr_expect_not_null(json_object_get(seen, op->name), "%s is not tested", op->name);
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        const struct operator_attribute *a = &op->attributes[i];
        autofree char *key = xasprintf("%s.%s", op->name, a->name);
        cr_expect_not_null(json_object_get(seen, key), "%s is not tested", key);
        if (a->kind == ATTRIBUTE_CHOICE) {
            expect_choices(seen, op, a);
        }
    }
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS && op->inputs[i].name; i++) {
        autofree char *key = xasprintf("%s(%s%s)", op->name, op->inputs[i].name,
                                       op->inputs[i].repeat ? "1" : "");
        cr_expect_not_null(json_object_get(seen, key), "%s is not tested", key);
    }
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS && op->outputs[i].name; i++) {
        autofree char *key = xasprintf("%s->%s", op->name, op->outputs[i].name);
        cr_expect_not_null(json_object_get(seen, key), "%s is not tested", key);
    }
}

Test(reference, all_is_covered) {
    autojson *seen = json_object();
    for (size_t f = 0; f < ARRAY_LEN(families); f++) {
        autojson *json = load(families[f]);
        size_t i;
        json_t *record;
        json_array_foreach(json_object_get(json, "cases"), i, record) {
            note(seen, record);
        }
    }
    const struct operator* op;
    for (size_t i = 0; (op = operator_at(i)); i++) {
        expect_all(seen, op);
        cr_expect(operator_find(op->name) == op, "%s is there twice", op->name);
    }
}
