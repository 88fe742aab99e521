#include "gpu/spec/expect_plan.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "gpu/spec/spec_words.h"

static bool has_contents(const struct spec_buffer *b) {
    return b->init || b->is_global;
}

/* Later steps hide earlier ones of the same name, and buffers. */
static struct expect_source source_named(const struct expect_plan *plan, size_t step,
                                         const char *name) {
    while (step-- > 0) {
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
            const char *known = plan->steps[step].names[i];
            if (known && !strcmp(known, name)) {
                return (struct expect_source){FROM_STEP, .step = step, .output = i};
            }
        }
    }
    size_t buffer = kernel_spec_buffer(plan->spec, name);
    return buffer != SIZE_MAX && has_contents(&plan->spec->buffers[buffer])
               ? (struct expect_source){FROM_BUFFER, .buffer = buffer}
               : (struct expect_source){FROM_NOWHERE};
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

static int read_source(const struct expect_plan *plan, size_t k, const char *role,
                       const json_t *value, struct expect_source *ret) {
    const struct expect_step *s = &plan->steps[k];
    if (json_is_number(value)) {
        *ret = (struct expect_source){FROM_NUMBER, .number = json_number_value(value)};
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

static int read_list(struct expect_plan *plan, size_t k, const char *role,
                     const json_t *list) {
    struct expect_step *s = &plan->steps[k];
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

static int read_inputs(struct expect_plan *plan, size_t k) {
    struct expect_step *s = &plan->steps[k];
    const json_t *inputs = json_object_get(s->json, "inputs");
    if (inputs && !json_is_object(inputs)) {
        char known[256];
        return err_set(
            plan->err, -EINVAL,
            "%s.inputs: an object by input name is expected; '%s' has %s", s->at,
            s->op->name,
            role_list(s->op->inputs, OPERATOR_MAX_INPUTS, known, sizeof known));
    }
    json_each_member(inputs, name, value) {
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

static bool is_taken(const struct expect_step *s, size_t buffer) {
    return any_of(i, 0, OPERATOR_MAX_INPUTS,
                  s->inputs[i].kind == FROM_BUFFER && s->inputs[i].buffer == buffer);
}

/* The only buffer with contents that the step does not take yet, of those that are no
 * output, or else (a kernel that works in place) of all; SIZE_MAX. */
static size_t only_buffer_left(const struct expect_plan *plan,
                               const struct expect_step *s) {
    size_t found[2] = {SIZE_MAX, SIZE_MAX}, count[2] = {0};
    list_each(i, b, plan->spec->buffers, plan->spec->buffer_count) {
        if (has_contents(b) && !is_taken(s, i)) {
            found[b->output] = i;
            count[b->output]++;
        }
    }
    bool in_place = !count[false];
    return count[in_place] == 1 ? found[in_place] : SIZE_MAX;
}

static bool may_be_input(const struct expect_plan *plan, const struct expect_step *s,
                         size_t buffer) {
    const struct spec_buffer *b = &plan->spec->buffers[buffer];
    return has_contents(b) && !b->output && !is_taken(s, buffer);
}

/* "\"input\": \"A\", \"other\": \"B\"" where as many buffers are left as inputs are
 * missing, in the spec's order: to be suggested, not to be assumed. Else "…" for each. */
static void suggest(const struct expect_plan *plan, const struct expect_step *s,
                    const char *const *missing, size_t count, struct buf *form) {
    const struct kernel_spec *spec = plan->spec;
    size_t left = 0, at = 0;
    for (size_t i = 0; i < spec->buffer_count; i++) {
        left += may_be_input(plan, s, i);
    }
    for (size_t k = 0; k < count; k++) {
        at = first_of(i, at, spec->buffer_count, may_be_input(plan, s, i)) + 1;
        buf_addf(form, "%s\"%s\": \"%.64s\"", k ? ", " : "", missing[k],
                 left == count ? spec->buffers[at - 1].name : "…");
    }
}

static int find_inputs(struct expect_plan *plan, size_t k) {
    struct expect_step *s = &plan->steps[k];
    const char *names[OPERATOR_MAX_INPUTS];
    size_t missing = 0, last = 0;
    autobuf form = BUF_INIT(800);
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS && s->op->inputs[i].name; i++) {
        const struct operator_role *role = &s->op->inputs[i];
        if (s->inputs[i].kind == FROM_NOWHERE && !role->repeat) {
            s->inputs[i] = source_named(plan, k, role->name);
        }
        if (s->inputs[i].kind == FROM_NOWHERE && k && !i) {
            s->inputs[i] = (struct expect_source){FROM_STEP, .step = k - 1};
        }
        if (s->inputs[i].kind == FROM_NOWHERE && !role->optional) {
            names[missing++] = role->name;
            last = i;
        }
    }
    size_t buffer = missing == 1 ? only_buffer_left(plan, s) : SIZE_MAX;
    if (missing && buffer == SIZE_MAX) {
        suggest(plan, s, names, missing, &form);
        return err_set(plan->err, -EINVAL,
                       "%s.inputs.%s: '%s' needs it: which buffer? Say {\"op\": \"%s\", "
                       "\"inputs\": {%s}}",
                       s->at, s->op->inputs[last].name, s->op->name, s->op->name,
                       form.data);
    }
    if (missing) {
        s->inputs[last] = (struct expect_source){FROM_BUFFER, .buffer = buffer};
    }
    return 0;
}

/* --- outputs --- */

static bool is_result(const struct expect_plan *plan, size_t buffer) {
    return plan->spec->buffers[buffer].judged;
}

static bool is_written(const struct expect_plan *plan, size_t buffer) {
    for (size_t k = 0; k < plan->count; k++) {
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
            if (plan->steps[k].op && plan->steps[k].buffers[i] == buffer) {
                return true;
            }
        }
    }
    return false;
}

static int read_output(struct expect_plan *plan, size_t k, const char *role,
                       const json_t *value) {
    struct expect_step *s = &plan->steps[k];
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
    size_t buffer = kernel_spec_buffer(plan->spec, name);
    bool output = buffer != SIZE_MAX && is_result(plan, buffer);
    if (buffer != SIZE_MAX && !output) {
        return err_set(plan->err, -EINVAL,
                       "%s.outputs.%s: '%.64s' is not an output that is judged", s->at,
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

static size_t only_output_left(const struct expect_plan *plan) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < plan->spec->buffer_count; i++) {
        if (is_result(plan, i) && !is_written(plan, i)) {
            if (found != SIZE_MAX) {
                return SIZE_MAX;
            }
            found = i;
        }
    }
    return found;
}

/* Finds the outputs of the last step whose buffers are not given. */
static int find_outputs(struct expect_plan *plan, size_t k) {
    struct expect_step *s = &plan->steps[k];
    bool any = false;
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS && s->op->outputs[i].name; i++) {
        size_t buffer = kernel_spec_buffer(plan->spec, s->op->outputs[i].name);
        if (!s->names[i] && buffer != SIZE_MAX && is_result(plan, buffer) &&
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

static int read_outputs(struct expect_plan *plan, size_t k) {
    struct expect_step *s = &plan->steps[k];
    const json_t *outputs = json_object_get(s->json, "outputs");
    if (outputs && !json_is_object(outputs)) {
        return err_set(plan->err, -EINVAL,
                       "%s.outputs: an object by output name is expected, like "
                       "{\"%s\": \"y\"}",
                       s->at, s->op->outputs[0].name);
    }
    json_each_member(outputs, name, value) {
        int r = read_output(plan, k, name, value);
        if (r < 0) {
            return r;
        }
    }
    return k + 1 == plan->count ? find_outputs(plan, k) : 0;
}

/* --- steps --- */

static int read_name(struct expect_plan *plan, struct expect_step *s) {
    const char *name = json_get_string(s->json, "op", NULL);
    s->op = name ? operator_find(name) : NULL;
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
        s->buffers[i] = SIZE_MAX;
    }
    if (name && !s->op) {
        char hint[160];
        return err_set(plan->err, -EINVAL, "%s: there is no operator '%.64s'%s", s->at,
                       name, spec_words_operator(name, hint, sizeof hint));
    }
    return name
               ? 0
               : err_set(plan->err, -EINVAL, "%s: an operator's name is expected", s->at);
}

int expect_plan_start(struct expect_plan *plan, const struct kernel_spec *spec,
                      const json_t *expect, struct err *err) {
    const json_t *then = json_object_get(expect, "then");
    size_t count = json_array_size(then) + 1;
    *plan = (struct expect_plan){.spec = spec, .err = err, .count = count};
    if (count > EXPECT_MAX_STEPS || (then && !json_is_array(then))) {
        return err_set(err, -EINVAL,
                       "expect.then: a list of up to %d operators is expected",
                       EXPECT_MAX_STEPS - 1);
    }
    int r = 0;
    for (size_t k = 0; r == 0 && k < count; k++) {
        struct expect_step *s = &plan->steps[k];
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
