#include "gpu/spec/expect_operator.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/spec/expect_plan.h"
#include "gpu/tensor/tensor_shape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- attributes: expressions over sizes become integers --- */

static bool takes_expression(const struct operator* op, const char *name) {
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        const struct operator_attribute *a = &op->attributes[i];
        if (!strcmp(a->name, name)) {
            return a->kind == ATTRIBUTE_INTEGER || a->kind == ATTRIBUTE_INTEGERS;
        }
    }
    return false;
}

/* c NULL: any size is 1. A new reference, or NULL with err. */
static json_t *size_of(const struct spec_case *c, const json_t *value, struct err *err) {
    int64_t n = 1;
    if (!json_is_string(value)) {
        return json_incref((json_t *)(uintptr_t)value);
    }
    return c && case_size_value(c, value, &n, err) < 0 ? NULL : json_integer(n);
}

static json_t *sizes_of(const struct spec_case *c, const json_t *value, struct err *err) {
    if (!json_is_array(value)) {
        return size_of(c, value, err);
    }
    autojson *list = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item) {
        json_t *n = size_of(c, item, err);
        if (!n) {
            return NULL;
        }
        json_array_append_new(list, n);
    }
    return take(list);
}

static json_t *attributes_of(const struct expect_step *s, const struct spec_case *c,
                             struct err *err) {
    autojson *ret = json_object();
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)s->json, name, value) {
        json_t *plain =
            takes_expression(s->op, name) ? sizes_of(c, value, err) : json_incref(value);
        if (!plain) {
            err_wrap(err, "%s.%.64s", s->at, name);
            return NULL;
        }
        json_object_set_new(ret, name, plain);
    }
    return take(ret);
}

static int call_start(struct operator_call *call, const struct expect_step *s,
                      const struct spec_case *c, struct err *err) {
    autojson *attributes = attributes_of(s, c, err);
    return attributes ? operator_call_start(call, s->op, s->at, attributes, err)
                      : -EINVAL;
}

int expect_operator_read(const struct kernel_spec *spec, const json_t *expect,
                         struct err *err) {
    autofree struct expect_plan *plan = xcalloc(1, sizeof *plan);
    int r = expect_plan_start(plan, spec, expect, err);
    for (size_t k = 0; r == 0 && k < plan->count; k++) {
        struct operator_call call;
        r = call_start(&call, &plan->steps[k], NULL, err);
    }
    return r;
}

/* --- a case --- */

struct work {
    struct expect_plan *plan;
    const struct spec_case *c;
    void *const *before; /* NULL: only shapes */
    struct operator_call *calls;
};

static void give_input(const struct work *w, size_t k, size_t i) {
    const struct expect_source *from = &w->plan->steps[k].inputs[i];
    struct operator_call *call = &w->calls[k];
    if (from->kind == FROM_BUFFER) {
        const struct spec_buffer *spec = &w->c->spec->buffers[from->buffer];
        const struct case_buffer *b = &w->c->buffers[from->buffer];
        operator_call_input(call, i, spec->name, spec->type,
                            w->before ? w->before[from->buffer] : NULL, b->shape,
                            b->rank);
    } else if (from->kind == FROM_STEP) {
        const struct operator_array *a = &w->calls[from->step].out[from->output];
        const char *name = w->plan->steps[from->step].names[from->output];
        operator_call_input(call, i, name ? name : w->plan->steps[from->step].op->name,
                            TENSOR_FLOAT64, a->v, a->shape, a->rank);
    } else if (from->kind == FROM_NUMBER) {
        operator_call_input(
            call, i, call->op->inputs[i].name ? call->op->inputs[i].name : "a number",
            TENSOR_FLOAT64, &from->number, NULL, 0);
    }
}

/* Is no output as exact as the operators are? */
static bool is_plain(const struct kernel_spec *spec) {
    bool plain = true;
    for (size_t i = 0; i < spec->buffer_count; i++) {
        plain = plain &&
                !(spec->buffers[i].output && spec->buffers[i].type == TENSOR_FLOAT64);
    }
    return plain;
}

static int infer_step(const struct work *w, size_t k, struct err *err) {
    int r = call_start(&w->calls[k], &w->plan->steps[k], w->c, err);
    w->calls[k].plain = is_plain(w->c->spec);
    for (size_t i = 0; r == 0 && i < OPERATOR_MAX_INPUTS; i++) {
        give_input(w, k, i);
    }
    return r < 0 ? r : operator_call_infer(&w->calls[k], err);
}

static int check_output(const struct work *w, size_t k, size_t i, struct err *err) {
    const struct expect_step *s = &w->plan->steps[k];
    const struct operator_array *a = &w->calls[k].out[i];
    const struct case_buffer *b = &w->c->buffers[s->buffers[i]];
    char x[160], y[160];
    if (tensor_shape_fits(a->shape, a->rank, b->shape, b->rank)) {
        return 0;
    }
    return err_set(err, -EINVAL, "%s.outputs.%s: '%s' makes shape %s, '%s' has %s", s->at,
                   s->op->outputs[i].name, s->op->name,
                   tensor_shape_text(a->shape, a->rank, x, sizeof x),
                   w->c->spec->buffers[s->buffers[i]].name,
                   tensor_shape_text(b->shape, b->rank, y, sizeof y));
}

static int check_outputs(const struct work *w, size_t k, struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < OPERATOR_MAX_OUTPUTS; i++) {
        if (w->plan->steps[k].buffers[i] != SIZE_MAX) {
            r = check_output(w, k, i, err);
        }
    }
    return r;
}

/* With a budget the steps are computed, without only inferred. */
static int work_run(struct work *w, const json_t *expect, struct operator_budget *budget,
                    struct err *err) {
    w->plan = xcalloc(1, sizeof *w->plan);
    w->calls = xcalloc(EXPECT_MAX_STEPS, sizeof *w->calls);
    int r = expect_plan_start(w->plan, w->c->spec, expect, err);
    for (size_t k = 0; r == 0 && k < w->plan->count; k++) {
        r = infer_step(w, k, err);
        r = r < 0 ? r : check_outputs(w, k, err);
        r = r < 0 || !budget ? r : operator_call_compute(&w->calls[k], budget, err);
    }
    return r;
}

static void work_finish(struct work *w) {
    for (size_t k = 0; k < EXPECT_MAX_STEPS; k++) {
        operator_call_finish(&w->calls[k]);
    }
    free(w->calls);
    free(w->plan);
}

/* Steps that the run's time allows. */
static double steps_of(const struct spec_case *c) {
    return c->spec->timeout_s * EXPECT_STEPS_PER_S;
}

/* A step's factors and results, all of which are kept to the end. */
static double bytes_of(const struct operator_call *call) {
    double elements = 0;
    for (size_t i = 0; !operator_streams(call->op) && i < OPERATOR_MAX_INPUTS; i++) {
        elements += (double)call->in[i].count;
    }
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
        elements += (double)call->out[i].count;
    }
    return sizeof(double) * elements;
}

int expect_operator_foresee(const struct spec_case *c, const json_t *expect,
                            double *ret_bytes, struct err *err) {
    struct work w = {.c = c};
    int r = work_run(&w, expect, NULL, err);
    double steps = 0;
    *ret_bytes = 0;
    for (size_t k = 0; r == 0 && k < w.plan->count; k++) {
        steps += w.calls[k].steps;
        *ret_bytes += bytes_of(&w.calls[k]);
    }
    work_finish(&w);
    return r == 0 && steps > steps_of(c)
               ? err_set(
                     err, -ETIME,
                     "expect.op: to compute what is expected takes %.0f s or more, the "
                     "run has %u s: give smaller sizes, or a larger \"timeout_s\"",
                     steps / EXPECT_STEPS_PER_S, c->spec->timeout_s)
               : r;
}

int expect_operator_compute(const struct spec_case *c, const json_t *expect,
                            void *const *before, bool (*stopped)(void), double **ret,
                            struct err *err) {
    struct work w = {.c = c, .before = before};
    struct operator_budget budget = {UINT64_MAX, stopped}; /* expect_operator_foresee */
    int r = work_run(&w, expect, &budget, err);
    for (size_t k = 0; r == 0 && k < w.plan->count; k++) {
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
            size_t buffer = w.plan->steps[k].buffers[i];
            if (buffer != SIZE_MAX) {
                ret[buffer] = take(w.calls[k].out[i].v);
            }
        }
    }
    work_finish(&w);
    return r;
}

int expect_operator_flops(const struct spec_case *c, const json_t *expect, double *ret,
                          struct err *err) {
    struct work w = {.c = c};
    int r = work_run(&w, expect, NULL, err);
    *ret = 0;
    for (size_t k = 0; r == 0 && k < w.plan->count; k++) {
        *ret += w.calls[k].flops;
    }
    work_finish(&w);
    return r;
}
