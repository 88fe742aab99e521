#include "gpu/run/expectation.h"

#include "gpu/spec/expect_operator.h"

#include <math.h>

static void expectation_start(struct expectation *ret, const struct spec_case *c) {
    size_t count = c->spec->buffer_count;
    *ret = (struct expectation){
        .outputs = xcalloc(count ? count : 1, sizeof *ret->outputs),
        .count = count,
    };
}

void expectation_finish(struct expectation *e) {
    for (size_t i = 0; i < e->count; i++) {
        free(e->outputs[i].owned);
        free(e->outputs[i].judged);
    }
    free(e->outputs);
    expect_work_free(e->work);
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

static int values_of(struct expected_output *ret, const struct spec_case *c,
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
    ret->data = ret->owned = xcalloc(count ? count : 1, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        set_number(ret->type, ret->owned, i, json_array_get(values, i));
    }
    return 0;
}

static int file_of(struct expected_output *ret, const struct spec_case *c, size_t buffer,
                   struct err *err) {
    const struct spec_array *a = kernel_spec_array(c->spec, buffer, true);
    uint64_t count = c->buffers[buffer].count;
    if (!a || !a->data || a->bytes != count * tensor_type_bytes(a->type)) {
        return err_set(err, -EINVAL, "expect.files.%s: the file is not here",
                       c->spec->buffers[buffer].name);
    }
    ret->type = a->type;
    ret->data = a->data;
    return 0;
}

/* --- expressions --- */

/* The buffer's elements as the text has them. Its end is the run's: it may take as long
 * as that. */
static int evaluate(double **ret, bool *ret_inexact, const struct spec_case *c,
                    size_t buffer, const char *text, const struct value_inputs *inputs,
                    struct err *err) {
    struct value_expression *e = NULL;
    struct value_budget budget = {.steps = UINT64_MAX, .stopped = trials_stopped};
    int r = value_expression_new(&e, text, &c->size_list, inputs, err);
    if (r == 0) {
        uint64_t count = c->buffers[buffer].count;
        *ret = xcalloc(count ? count : 1, sizeof **ret);
        r = value_expression_evaluate(e, count, *ret, &budget, err);
    }
    value_expression_free(e);
    *ret_inexact = budget.inexact;
    return r;
}

static int expression_of(struct expected_output *ret, const struct spec_case *c,
                         size_t buffer, const char *text,
                         const struct value_inputs *inputs, struct err *err) {
    double *values = NULL;
    int r = evaluate(&values, &ret->inexact, c, buffer, text, inputs, err);
    ret->type = TENSOR_FLOAT64;
    ret->data = ret->owned = values;
    return r < 0
               ? (err_wrap(err, "expect.expression.%s", c->spec->buffers[buffer].name), r)
               : 0;
}

/* --- which elements are judged --- */

static int mask_of(struct expected_output *ret, const struct spec_case *c, size_t buffer,
                   const struct value_inputs *inputs, struct err *err) {
    const struct spec_buffer *spec = &c->spec->buffers[buffer];
    uint64_t count = c->buffers[buffer].count;
    autofree double *values = NULL;
    bool inexact;
    if (evaluate(&values, &inexact, c, buffer, spec->judge, inputs, err) < 0) {
        return err_wrap(err, "%s.judge", spec->name);
    }
    ret->judged = xcalloc(count ? count : 1, sizeof *ret->judged);
    for (uint64_t i = 0; i < count; i++) {
        ret->judged[i] = values[i] != 0;
    }
    return 0;
}

static int masks_of(struct expectation *e, const struct spec_case *c,
                    const struct value_inputs *inputs, struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < e->count; i++) {
        r = c->spec->buffers[i].judge ? mask_of(&e->outputs[i], c, i, inputs, err) : 0;
    }
    return r;
}

/* --- operators --- */

static int operators_of(struct expectation *ret, const struct spec_case *c,
                        void *const *before, bool by_rows, struct err *err) {
    double *outputs[SPEC_MAX_BUFFERS] = {0};
    int64_t rows, at_once;
    int r = expect_work_new(&ret->work, c, c->spec->expect_operator, before,
                            trials_stopped, err);
    r = r < 0 || by_rows ? r : expect_work_whole(ret->work, outputs, err);
    for (size_t i = 0; i < ret->count; i++) {
        bool known = r == 0 && expect_work_rows(ret->work, i, &rows, &at_once);
        ret->outputs[i].type = TENSOR_FLOAT64;
        ret->outputs[i].data = ret->outputs[i].owned = outputs[i];
        ret->outputs[i].work = by_rows && known ? ret->work : NULL;
    }
    return r;
}

bool expectation_has(const struct expected_output *e) {
    return e->data || e->work;
}

bool expectation_source(const struct expected_output *e, size_t buffer,
                        struct compare_source *ret) {
    return !e->data && e->work &&
           expect_work_rows(e->work, buffer, &ret->rows, &ret->at_once);
}

static int outputs_of(struct expectation *ret, const struct spec_case *c,
                      const struct value_inputs *inputs, struct err *err) {
    int r = 0;
    json_each_member(c->spec->expected, name, value) {
        size_t buffer = kernel_spec_buffer(c->spec, name);
        struct expected_output *out = &ret->outputs[buffer];
        r = r < 0                             ? r
            : c->spec->expect == EXPECT_FILES ? file_of(out, c, buffer, err)
            : json_is_string(value)
                ? expression_of(out, c, buffer, json_string_value(value), inputs, err)
                : values_of(out, c, buffer, value, err);
    }
    return r;
}

int expectation_compute(struct expectation *ret, const struct spec_case *c,
                        void *const *before, bool by_rows, struct err *err) {
    struct value_input list[SPEC_MAX_BUFFERS];
    struct value_inputs inputs = case_value_inputs(c, before, list);
    expectation_start(ret, c);
    int r = masks_of(ret, c, &inputs, err);
    r = r < 0                                ? r
        : c->spec->expect == EXPECT_OPERATOR ? operators_of(ret, c, before, by_rows, err)
                                             : outputs_of(ret, c, &inputs, err);
    if (r < 0) {
        expectation_finish(ret);
    }
    return r;
}

/* --- a reference kernel --- */

/* Bytes that the reference should have written, and the first one's offset. */
static uint64_t unwritten(const struct trial *t, size_t i, const bool *judged,
                          uint64_t *ret_first) {
    const struct spec_buffer *spec = &t->check->spec->buffers[i];
    *ret_first = 0;
    return spec->init || spec->is_global ? 0 : trial_unwritten(t, i, judged, ret_first);
}

/* Nothing where the reference says nothing of it. */
static int take_output(struct expected_output *ret, const struct trial *reference,
                       size_t i, struct err *err) {
    const struct spec_buffer *spec = &reference->check->spec->buffers[i];
    uint64_t first, left = unwritten(reference, i, NULL, &first);
    if (left && left == reference->check->buffers[i].bytes) {
        return 0;
    }
    left = left && ret->judged ? unwritten(reference, i, ret->judged, &first) : left;
    if (left) {
        return err_set(err, -EINVAL,
                       "the reference leaves %llu bytes of '%s' unwritten, the first "
                       "at offset %llu",
                       (unsigned long long)left, spec->name, (unsigned long long)first);
    }
    ret->type = spec->type;
    ret->data = ret->owned = trial_read(reference, i, err);
    return ret->data ? 0 : -EIO;
}

int expectation_take(struct expectation *ret, const struct trial *reference,
                     struct err *err) {
    const struct spec_case *c = reference->check;
    struct value_input list[SPEC_MAX_BUFFERS];
    struct value_inputs inputs = case_value_inputs(c, reference->before, list);
    expectation_start(ret, c);
    int r = masks_of(ret, c, &inputs, err);
    for (size_t i = 0; r == 0 && i < ret->count; i++) {
        r = c->spec->buffers[i].judged ? take_output(&ret->outputs[i], reference, i, err)
                                       : 0;
    }
    if (r < 0) {
        expectation_finish(ret);
    }
    return r;
}
