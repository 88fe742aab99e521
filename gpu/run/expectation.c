#include "gpu/run/expectation.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/spec/expect_operator.h"
#include "gpu/spec/value_expression.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Steps of all expressions of one trial: some seconds. */
#define EXPRESSION_STEPS 1000000000ull

static void expectation_start(struct expectation *ret, const struct check_case *c) {
    size_t count = c->spec->buffer_count;
    *ret = (struct expectation){
        .outputs = xcalloc(count ? count : 1, sizeof *ret->outputs),
        .count = count,
    };
}

void expectation_finish(struct expectation *e) {
    for (size_t i = 0; i < e->count; i++) {
        free(e->outputs[i].data);
    }
    free(e->outputs);
    *e = (struct expectation){0};
}

/* --- values --- */

static void set_number(enum tensor_type type, void *data, size_t i, const json_t *value) {
    const char *word = json_string_value(value);
    if (json_is_integer(value) || json_is_boolean(value)) {
        tensor_set_integer(type, data, i,
                           json_is_true(value) + json_integer_value(value));
    } else if (json_is_real(value)) {
        tensor_set(type, data, i, json_real_value(value));
    } else {
        tensor_set(type, data, i,
                   word && *word == 'N'   ? NAN
                   : word && *word == '-' ? -INFINITY
                                          : INFINITY);
    }
}

static int values_of(struct expected_output *ret, const struct check_case *c,
                     size_t buffer, const json_t *values, struct err *err) {
    const struct spec_buffer *spec = &c->spec->buffers[buffer];
    uint64_t count = c->buffers[buffer].count;
    if (json_array_size(values) != count) {
        return err_set(err, -EINVAL,
                       "expect.values.%s: it has %zu numbers, the output %llu elements",
                       spec->name, json_array_size(values), (unsigned long long)count);
    }
    /* In double precision for floats, so that a value is rounded once, by the compare. */
    ret->type = tensor_type_float(spec->type) ? TENSOR_FLOAT64 : spec->type;
    ret->data = xcalloc(count ? count : 1, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        set_number(ret->type, ret->data, i, json_array_get(values, i));
    }
    return 0;
}

static int file_of(struct expected_output *ret, const struct check_case *c, size_t buffer,
                   struct err *err) {
    const struct spec_array *a = check_spec_array(c->spec, buffer, true);
    uint64_t count = c->buffers[buffer].count;
    if (!a || !a->data || a->bytes != count * tensor_type_bytes(a->type)) {
        return err_set(err, -EINVAL, "expect.files.%s: the file is not here",
                       c->spec->buffers[buffer].name);
    }
    ret->type = a->type;
    ret->data = xmalloc(a->bytes ? a->bytes : 1);
    memcpy(ret->data, a->data, a->bytes);
    return 0;
}

/* --- expressions --- */

static void inputs_of(const struct check_case *c, void *const *before,
                      struct value_input *list, struct value_inputs *ret) {
    ret->list = list;
    ret->count = c->spec->buffer_count;
    for (size_t i = 0; i < ret->count; i++) {
        const struct spec_buffer *spec = &c->spec->buffers[i];
        list[i] = (struct value_input){.name = spec->name,
                                       .type = spec->type,
                                       .data = before[i],
                                       .count = c->buffers[i].count};
    }
}

static int expression_of(struct expected_output *ret, const struct check_case *c,
                         size_t buffer, const char *text,
                         const struct value_inputs *inputs, uint64_t *steps,
                         struct err *err) {
    struct value_expression *e = NULL;
    int r = value_expression_new(&e, text, &c->size_list, inputs, err);
    if (r == 0) {
        uint64_t count = c->buffers[buffer].count;
        ret->type = TENSOR_FLOAT64;
        ret->data = xcalloc(count ? count : 1, sizeof(double));
        r = value_expression_evaluate(e, count, ret->data, steps, err);
    }
    value_expression_free(e);
    return r < 0
               ? (err_wrap(err, "expect.expression.%s", c->spec->buffers[buffer].name), r)
               : 0;
}

/* --- operators --- */

static int operators_of(struct expectation *ret, const struct check_case *c,
                        void *const *before, struct err *err) {
    double *outputs[SPEC_MAX_BUFFERS] = {0};
    int r = expect_operator_compute(c, c->spec->expect_operator, before, trials_stopped,
                                    outputs, err);
    for (size_t i = 0; i < ret->count; i++) {
        ret->outputs[i].type = TENSOR_FLOAT64;
        ret->outputs[i].data = outputs[i];
    }
    return r;
}

int expectation_compute(struct expectation *ret, const struct check_case *c,
                        void *const *before, struct err *err) {
    struct value_input list[SPEC_MAX_BUFFERS];
    struct value_inputs inputs;
    uint64_t steps = EXPRESSION_STEPS;
    inputs_of(c, before, list, &inputs);
    expectation_start(ret, c);
    if (c->spec->expect == EXPECT_OPERATOR) {
        int r = operators_of(ret, c, before, err);
        if (r < 0) {
            expectation_finish(ret);
        }
        return r;
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)c->spec->expected, name, value) {
        size_t buffer = check_spec_buffer(c->spec, name);
        struct expected_output *out = &ret->outputs[buffer];
        int r = c->spec->expect == EXPECT_FILES ? file_of(out, c, buffer, err)
                : json_is_string(value)
                    ? expression_of(out, c, buffer, json_string_value(value), &inputs,
                                    &steps, err)
                    : values_of(out, c, buffer, value, err);
        if (r < 0) {
            expectation_finish(ret);
            return r;
        }
    }
    return 0;
}

/* --- a reference kernel --- */

static uint64_t unwritten(const struct trial *t, size_t i, uint64_t *ret_first) {
    const struct spec_buffer *spec = &t->check->spec->buffers[i];
    *ret_first = 0;
    return spec->init || spec->is_global
               ? 0
               : t->class->unwritten(t->backend, t->addresses[i], ret_first);
}

int expectation_take(struct expectation *ret, const struct trial *reference,
                     struct err *err) {
    const struct check_spec *spec = reference->check->spec;
    expectation_start(ret, reference->check);
    for (size_t i = 0; i < spec->buffer_count; i++) {
        if (!spec->buffers[i].output || spec->buffers[i].scratch) {
            continue;
        }
        uint64_t first, left = unwritten(reference, i, &first);
        if (left && left == reference->check->buffers[i].bytes) {
            continue; /* the reference says nothing of it */
        }
        if (left) {
            expectation_finish(ret);
            return err_set(err, -EINVAL,
                           "the reference leaves %llu bytes of '%s' unwritten, the first "
                           "at offset %llu",
                           (unsigned long long)left, spec->buffers[i].name,
                           (unsigned long long)first);
        }
        ret->outputs[i].type = spec->buffers[i].type;
        ret->outputs[i].data = trial_read(reference, i, err);
        if (!ret->outputs[i].data) {
            expectation_finish(ret);
            return -EIO;
        }
    }
    return 0;
}
