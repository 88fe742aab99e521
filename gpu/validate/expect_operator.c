#include "gpu/validate/expect_operator.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/reference/operator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- a plan: who takes what from where, by names alone --- */

struct source {
    enum { FROM_NOWHERE, FROM_BUFFER, FROM_STEP, FROM_NUMBER } kind;
    size_t buffer;       /* of FROM_BUFFER */
    size_t step, output; /* of FROM_STEP */
    double number;
};

struct step {
    const struct operator* op;
    const json_t *json;
    char at[32]; /* "expect.op", "expect.then[0]" */
    struct source inputs[OPERATOR_MAX_INPUTS];
    size_t buffers[OPERATOR_MAX_OUTPUTS]; /* SIZE_MAX: to no buffer */
    const char *names[OPERATOR_MAX_OUTPUTS];
};

struct plan {
    const struct check_spec *spec;
    struct err *err;
    size_t count;
    struct step steps[EXPECT_MAX_STEPS];
};

static bool has_contents(const struct spec_buffer *b) {
    return b->init || b->is_global;
}

/* Later steps hide earlier ones of the same name, and buffers. */
static struct source source_named(const struct plan *plan, size_t step,
                                  const char *name) {
    while (step-- > 0) {
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
            const char *known = plan->steps[step].names[i];
            if (known && !strcmp(known, name)) {
                return (struct source){FROM_STEP, .step = step, .output = i};
            }
        }
    }
    size_t buffer = check_spec_buffer(plan->spec, name);
    return buffer != SIZE_MAX && has_contents(&plan->spec->buffers[buffer])
               ? (struct source){FROM_BUFFER, .buffer = buffer}
               : (struct source){FROM_NOWHERE};
}

static const char *role_list(const struct operator_role *roles, size_t max, char *buf,
                             size_t size) {
    size_t len = 0;
    *buf = 0;
    for (size_t i = 0; i < max && roles[i].name && len < size; i++) {
        len +=
            (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "", roles[i].name);
    }
    return buf;
}

/* --- inputs --- */

static int read_source(const struct plan *plan, size_t k, const char *role,
                       const json_t *value, struct source *ret) {
    const struct step *s = &plan->steps[k];
    if (json_is_number(value)) {
        *ret = (struct source){FROM_NUMBER, .number = json_number_value(value)};
        return 0;
    }
    const char *name = json_string_value(value);
    if (!name) {
        return err_set(plan->err, -EINVAL,
                       "%s.inputs.%s: a buffer's name or a number is expected", s->at,
                       role);
    }
    *ret = source_named(plan, k, name);
    return ret->kind != FROM_NOWHERE
               ? 0
               : err_set(plan->err, -EINVAL,
                         "%s.inputs.%s: there is no buffer '%.64s' with an init, and no "
                         "step before has an output of that name",
                         s->at, role, name);
}

static int read_list(struct plan *plan, size_t k, const char *role, const json_t *list) {
    struct step *s = &plan->steps[k];
    size_t count = json_array_size(list);
    if (!count || count > OPERATOR_MAX_INPUTS) {
        return err_set(plan->err, -EINVAL, "%s.inputs.%s: a list of 1 to %d is expected",
                       s->at, role, OPERATOR_MAX_INPUTS);
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = read_source(plan, k, role, json_array_get(list, i), &s->inputs[i]);
    }
    return r;
}

static int read_inputs(struct plan *plan, size_t k) {
    struct step *s = &plan->steps[k];
    const json_t *inputs = json_object_get(s->json, "inputs");
    if (inputs && !json_is_object(inputs)) {
        return err_set(plan->err, -EINVAL,
                       "%s.inputs: an object by input name is expected", s->at);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)inputs, name, value) {
        int i = operator_input(s->op, name);
        if (i < 0) {
            char known[256];
            return err_set(
                plan->err, -EINVAL,
                "%s.inputs.%.64s: '%s' has no input of that name; it has %s", s->at, name,
                s->op->name,
                role_list(s->op->inputs, OPERATOR_MAX_INPUTS, known, sizeof known));
        }
        int r = s->op->inputs[i].repeat
                    ? read_list(plan, k, name, value)
                    : read_source(plan, k, name, value, &s->inputs[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static bool is_taken(const struct step *s, size_t buffer) {
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        if (s->inputs[i].kind == FROM_BUFFER && s->inputs[i].buffer == buffer) {
            return true;
        }
    }
    return false;
}

/* The only buffer with contents that the step does not take yet; SIZE_MAX. */
static size_t only_buffer_left(const struct plan *plan, const struct step *s) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < plan->spec->buffer_count; i++) {
        if (has_contents(&plan->spec->buffers[i]) && !is_taken(s, i)) {
            if (found != SIZE_MAX) {
                return SIZE_MAX;
            }
            found = i;
        }
    }
    return found;
}

static int find_inputs(struct plan *plan, size_t k) {
    struct step *s = &plan->steps[k];
    size_t missing = 0, last = 0;
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS && s->op->inputs[i].name; i++) {
        const struct operator_role *role = &s->op->inputs[i];
        if (s->inputs[i].kind == FROM_NOWHERE && !role->repeat) {
            s->inputs[i] = source_named(plan, k, role->name);
        }
        if (s->inputs[i].kind == FROM_NOWHERE && k && !i) {
            s->inputs[i] = (struct source){FROM_STEP, .step = k - 1};
        }
        if (s->inputs[i].kind == FROM_NOWHERE && !role->optional) {
            missing++;
            last = i;
        }
    }
    size_t buffer = missing == 1 ? only_buffer_left(plan, s) : SIZE_MAX;
    if (missing && buffer == SIZE_MAX) {
        return err_set(plan->err, -EINVAL, "%s.inputs.%s: '%s' needs it: which buffer?",
                       s->at, s->op->inputs[last].name, s->op->name);
    }
    if (missing) {
        s->inputs[last] = (struct source){FROM_BUFFER, .buffer = buffer};
    }
    return 0;
}

/* --- outputs --- */

static bool is_written(const struct plan *plan, size_t buffer) {
    for (size_t k = 0; k < plan->count; k++) {
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
            if (plan->steps[k].op && plan->steps[k].buffers[i] == buffer) {
                return true;
            }
        }
    }
    return false;
}

static int read_output(struct plan *plan, size_t k, const char *role,
                       const json_t *value) {
    struct step *s = &plan->steps[k];
    int i = operator_output(s->op, role);
    const char *name = json_string_value(value);
    if (i < 0) {
        char known[128];
        return err_set(
            plan->err, -EINVAL,
            "%s.outputs.%.64s: '%s' has no output of that name; it has %s", s->at, role,
            s->op->name,
            role_list(s->op->outputs, OPERATOR_MAX_OUTPUTS, known, sizeof known));
    }
    if (!name || !*name) {
        return err_set(plan->err, -EINVAL, "%s.outputs.%s: a name is expected", s->at,
                       role);
    }
    size_t buffer = check_spec_buffer(plan->spec, name);
    bool output = buffer != SIZE_MAX && plan->spec->buffers[buffer].output;
    if (buffer != SIZE_MAX && !output) {
        return err_set(plan->err, -EINVAL, "%s.outputs.%s: '%.64s' is no output", s->at,
                       role, name);
    }
    if (output && is_written(plan, buffer)) {
        return err_set(plan->err, -EINVAL, "%s.outputs.%s: '%.64s' is expected twice",
                       s->at, role, name);
    }
    if (!output && k + 1 == plan->count) {
        return err_set(plan->err, -EINVAL,
                       "%s.outputs.%s: there is no output '%.64s', and no step follows",
                       s->at, role, name);
    }
    s->buffers[i] = output ? buffer : SIZE_MAX;
    s->names[i] = name;
    return 0;
}

static size_t only_output_left(const struct plan *plan) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < plan->spec->buffer_count; i++) {
        if (plan->spec->buffers[i].output && !is_written(plan, i)) {
            if (found != SIZE_MAX) {
                return SIZE_MAX;
            }
            found = i;
        }
    }
    return found;
}

/* What the last step makes without being told where to. */
static int find_outputs(struct plan *plan, size_t k) {
    struct step *s = &plan->steps[k];
    bool any = false;
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS && s->op->outputs[i].name; i++) {
        size_t buffer = check_spec_buffer(plan->spec, s->op->outputs[i].name);
        if (!s->names[i] && buffer != SIZE_MAX && plan->spec->buffers[buffer].output &&
            !is_written(plan, buffer)) {
            s->buffers[i] = buffer;
        }
        any = any || s->buffers[i] != SIZE_MAX;
    }
    if (!any) {
        s->buffers[0] = only_output_left(plan);
        any = s->buffers[0] != SIZE_MAX;
    }
    return any ? 0
               : err_set(plan->err, -EINVAL,
                         "%s.outputs.%s: which buffer is it? There is not exactly one "
                         "output left",
                         s->at, s->op->outputs[0].name);
}

static int read_outputs(struct plan *plan, size_t k) {
    struct step *s = &plan->steps[k];
    const json_t *outputs = json_object_get(s->json, "outputs");
    if (outputs && !json_is_object(outputs)) {
        return err_set(plan->err, -EINVAL,
                       "%s.outputs: an object by output name is expected", s->at);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)outputs, name, value) {
        int r = read_output(plan, k, name, value);
        if (r < 0) {
            return r;
        }
    }
    return k + 1 == plan->count ? find_outputs(plan, k) : 0;
}

/* --- steps --- */

static int read_name(struct plan *plan, struct step *s) {
    const char *name = json_get_string(s->json, "op", NULL);
    s->op = name ? operator_find(name) : NULL;
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
        s->buffers[i] = SIZE_MAX;
    }
    if (name && !s->op) {
        return err_set(
            plan->err, -EINVAL,
            "%s: there is no operator '%.64s'; the guide to operators lists all", s->at,
            name);
    }
    return name
               ? 0
               : err_set(plan->err, -EINVAL, "%s: an operator's name is expected", s->at);
}

static int plan_start(struct plan *plan, const struct check_spec *spec,
                      const json_t *expect, struct err *err) {
    const json_t *then = json_object_get(expect, "then");
    size_t count = json_array_size(then) + 1;
    *plan = (struct plan){.spec = spec, .err = err, .count = count};
    if (count > EXPECT_MAX_STEPS || (then && !json_is_array(then))) {
        return err_set(err, -EINVAL,
                       "expect.then: a list of up to %d operators is expected",
                       EXPECT_MAX_STEPS - 1);
    }
    int r = 0;
    for (size_t k = 0; r == 0 && k < count; k++) {
        struct step *s = &plan->steps[k];
        s->json = k ? json_array_get(then, k - 1) : expect;
        if (k) {
            snprintf(s->at, sizeof s->at, "expect.then[%zu]", k - 1);
        } else {
            snprintf(s->at, sizeof s->at, "expect.op");
        }
        r = read_name(plan, s);
        r = r == 0 && k && json_object_get(s->json, "then")
                ? err_set(err, -EINVAL, "%s.then: only the first operator has it", s->at)
                : r;
    }
    for (size_t k = 0; r == 0 && k < count; k++) {
        r = read_inputs(plan, k);
        r = r < 0 ? r : find_inputs(plan, k);
        r = r < 0 ? r : read_outputs(plan, k);
    }
    return r;
}

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
static json_t *size_of(const struct check_case *c, const json_t *value, struct err *err) {
    int64_t n = 1;
    if (!json_is_string(value)) {
        return json_incref((json_t *)(uintptr_t)value);
    }
    return c && case_size_value(c, value, &n, err) < 0 ? NULL : json_integer(n);
}

static json_t *sizes_of(const struct check_case *c, const json_t *value,
                        struct err *err) {
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

static json_t *attributes_of(const struct step *s, const struct check_case *c,
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

static int call_start(struct operator_call *call, const struct step *s,
                      const struct check_case *c, struct err *err) {
    autojson *attributes = attributes_of(s, c, err);
    return attributes ? operator_call_start(call, s->op, s->at, attributes, err)
                      : -EINVAL;
}

int expect_operator_read(const struct check_spec *spec, const json_t *expect,
                         struct err *err) {
    autofree struct plan *plan = xcalloc(1, sizeof *plan);
    int r = plan_start(plan, spec, expect, err);
    for (size_t k = 0; r == 0 && k < plan->count; k++) {
        struct operator_call call;
        r = call_start(&call, &plan->steps[k], NULL, err);
    }
    return r;
}

/* --- a case --- */

struct work {
    struct plan *plan;
    const struct check_case *c;
    void *const *before; /* NULL: only shapes */
    struct operator_call *calls;
};

static void give_input(const struct work *w, size_t k, size_t i) {
    const struct source *from = &w->plan->steps[k].inputs[i];
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

static int infer_step(const struct work *w, size_t k, struct err *err) {
    int r = call_start(&w->calls[k], &w->plan->steps[k], w->c, err);
    for (size_t i = 0; r == 0 && i < OPERATOR_MAX_INPUTS; i++) {
        give_input(w, k, i);
    }
    return r < 0 ? r : operator_call_infer(&w->calls[k], err);
}

static const char *text_of(const int64_t *shape, size_t rank, char *buf, size_t size) {
    size_t len = (size_t)snprintf(buf, size, "[");
    for (size_t i = 0; i < rank && len < size; i++) {
        len += (size_t)snprintf(buf + len, size - len, "%s%lld", i ? ", " : "",
                                (long long)shape[i]);
    }
    if (len < size) {
        snprintf(buf + len, size - len, "]");
    }
    return buf;
}

/* Extents of 1 do not count: a sum to one number is written to an array of one. */
static bool same_shape(const struct operator_array *a, const struct case_buffer *b) {
    size_t i = 0, k = 0;
    while (i < a->rank || k < b->rank) {
        if (i < a->rank && a->shape[i] == 1) {
            i++;
        } else if (k < b->rank && b->shape[k] == 1) {
            k++;
        } else if (i == a->rank || k == b->rank || a->shape[i++] != b->shape[k++]) {
            return false;
        }
    }
    return true;
}

static int check_output(const struct work *w, size_t k, size_t i, struct err *err) {
    const struct step *s = &w->plan->steps[k];
    const struct operator_array *a = &w->calls[k].out[i];
    const struct case_buffer *b = &w->c->buffers[s->buffers[i]];
    char x[160], y[160];
    if (same_shape(a, b)) {
        return 0;
    }
    return err_set(
        err, -EINVAL, "%s.outputs.%s: '%s' makes shape %s, '%s' has %s", s->at,
        s->op->outputs[i].name, s->op->name, text_of(a->shape, a->rank, x, sizeof x),
        w->c->spec->buffers[s->buffers[i]].name, text_of(b->shape, b->rank, y, sizeof y));
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
    int r = plan_start(w->plan, w->c->spec, expect, err);
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

int expect_operator_compute(const struct check_case *c, const json_t *expect,
                            void *const *before, bool (*stopped)(void), double **ret,
                            struct err *err) {
    struct work w = {.c = c, .before = before};
    struct operator_budget budget = {EXPECT_MAX_OPERATOR_STEPS, stopped};
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

int expect_operator_flops(const struct check_case *c, const json_t *expect, double *ret,
                          struct err *err) {
    struct work w = {.c = c};
    int r = work_run(&w, expect, NULL, err);
    *ret = 0;
    for (size_t k = 0; r == 0 && k < w.plan->count; k++) {
        *ret += operator_flops(&w.calls[k]);
    }
    work_finish(&w);
    return r;
}
