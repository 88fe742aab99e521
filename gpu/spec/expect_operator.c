#include "gpu/spec/expect_operator.h"

#include "base/err.h"
#include "gpu/spec/expect_plan.h"
#include "gpu/tensor/tensor_shape.h"

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
    json_each(value, i, item) {
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
    json_each_member(s->json, name, value) {
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

/* Rows [from, to) along the first dimension. */
struct row_range {
    int64_t from, to;
};

struct expect_work {
    struct expect_plan *plan;
    const struct spec_case *c;
    void *const *before;         /* NULL: only shapes */
    struct operator_call *calls; /* whole ones: shapes, and what is kept */
    bool (*stopped)(void);
    uint64_t slice;                 /* bytes that are taken at a time, about */
    struct operator_memory *memory; /* from slice to slice of a step */
};

static void give_buffer(const struct expect_work *w, struct operator_call *call, size_t i,
                        size_t buffer, const struct row_range *rows) {
    const struct spec_buffer *spec = &w->c->spec->buffers[buffer];
    struct case_buffer b = w->c->buffers[buffer];
    const char *data = w->before ? w->before[buffer] : NULL;
    if (rows) {
        uint64_t row = b.bytes / (uint64_t)b.shape[0];
        data = data ? data + (uint64_t)rows->from * row : NULL;
        b.shape[0] = rows->to - rows->from;
    }
    operator_call_input(call, i, spec->name, spec->type, data, b.shape, b.rank);
}

/* From the calls of a part, where the step before is one of it, else from the whole. */
static void give_result(const struct expect_work *w, struct operator_call *call, size_t i,
                        const struct expect_source *from, const struct row_range *rows,
                        const struct operator_array *part) {
    struct operator_array a = w->calls[from->step].out[from->output];
    const char *name = w->plan->steps[from->step].names[from->output];
    const double *v = a.v;
    if (rows && part->v) {
        v = part->v;
    } else if (rows && v) {
        v += rows->from * (a.count / a.shape[0]);
    }
    a.shape[0] = rows ? rows->to - rows->from : a.shape[0];
    operator_call_input(call, i, name ? name : w->plan->steps[from->step].op->name,
                        TENSOR_FLOAT64, v, a.shape, a.rank);
}

/* rows NULL: the whole of each. parts: the steps' calls for those rows. */
static void give_input(const struct expect_work *w, struct operator_call *call, size_t k,
                       size_t i, const struct row_range *rows,
                       const struct operator_call *parts) {
    const struct expect_source *from = &w->plan->steps[k].inputs[i];
    const struct row_range *own = w->calls[k].by_rows >> i & 1 ? rows : NULL;
    if (from->kind == FROM_BUFFER) {
        give_buffer(w, call, i, from->buffer, own);
    } else if (from->kind == FROM_STEP) {
        give_result(w, call, i, from, own,
                    parts ? &parts[from->step].out[from->output] : NULL);
    } else if (from->kind == FROM_NUMBER) {
        operator_call_input(
            call, i, call->op->inputs[i].name ? call->op->inputs[i].name : "a number",
            TENSOR_FLOAT64, &from->number, NULL, 0);
    }
}

/* Whether no output is as exact as the operators are. */
static bool is_plain(const struct kernel_spec *spec) {
    bool plain = true;
    for (size_t i = 0; i < spec->buffer_count; i++) {
        plain = plain &&
                !(spec->buffers[i].output && spec->buffers[i].type == TENSOR_FLOAT64);
    }
    return plain;
}

static int infer_step(const struct expect_work *w, struct operator_call *call, size_t k,
                      const struct row_range *rows, const struct operator_call *parts,
                      struct err *err) {
    int r = call_start(call, &w->plan->steps[k], w->c, err);
    call->plain = is_plain(w->c->spec);
    for (size_t i = 1; i < OPERATOR_MAX_OUTPUTS; i++) {
        const struct expect_step *s = &w->plan->steps[k];
        call->unwanted |= (unsigned)(s->buffers[i] == SIZE_MAX && !s->names[i]) << i;
    }
    for (size_t i = 0; r == 0 && i < OPERATOR_MAX_INPUTS; i++) {
        give_input(w, call, k, i, rows, parts);
    }
    return r < 0 ? r : operator_call_infer(call, err);
}

/* An omitted parameter that could have changed the shape: "sum" without "dim"; or
 * NULL. */
static const char *left_out(const struct operator_call *call) {
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && call->op->attributes[i].name; i++) {
        const struct operator_attribute *a = &call->op->attributes[i];
        if (takes_expression(call->op, a->name) && !call->attributes[i].given) {
            return a->name;
        }
    }
    return NULL;
}

static int check_output(const struct expect_work *w, size_t k, size_t i,
                        struct err *err) {
    const struct expect_step *s = &w->plan->steps[k];
    const struct operator_array *a = &w->calls[k].out[i];
    const struct case_buffer *b = &w->c->buffers[s->buffers[i]];
    char x[160], y[160];
    if (tensor_shape_fits(a->shape, a->rank, b->shape, b->rank)) {
        return 0;
    }
    const char *more = a->rank != b->rank ? left_out(&w->calls[k]) : NULL;
    return err_set(err, -EINVAL, "%s.outputs.%s: '%s' makes shape %s, '%s' has %s%s%s%s",
                   s->at, s->op->outputs[i].name, s->op->name,
                   tensor_shape_text(a->shape, a->rank, x, sizeof x),
                   w->c->spec->buffers[s->buffers[i]].name,
                   tensor_shape_text(b->shape, b->rank, y, sizeof y),
                   more ? ": give \"" : "", more ? more : "", more ? "\"" : "");
}

static int check_outputs(const struct expect_work *w, size_t k, struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < OPERATOR_MAX_OUTPUTS; i++) {
        if (w->plan->steps[k].buffers[i] != SIZE_MAX) {
            r = check_output(w, k, i, err);
        }
    }
    return r;
}

int expect_work_new(struct expect_work **ret, const struct spec_case *c,
                    const json_t *expect, void *const *before, bool (*stopped)(void),
                    struct err *err) {
    struct expect_work *w = *ret = xcalloc(1, sizeof *w);
    *w = (struct expect_work){.plan = xcalloc(1, sizeof *w->plan),
                              .c = c,
                              .before = before,
                              .calls = xcalloc(EXPECT_MAX_STEPS, sizeof *w->calls),
                              .memory = xcalloc(1, sizeof *w->memory),
                              .stopped = stopped,
                              .slice = EXPECT_SLICE_BYTES};
    int r = expect_plan_start(w->plan, c->spec, expect, err);
    for (size_t k = 0; r == 0 && k < w->plan->count; k++) {
        r = infer_step(w, &w->calls[k], k, NULL, NULL, err);
        r = r < 0 ? r : check_outputs(w, k, err);
    }
    return r;
}

void expect_work_free(struct expect_work *w) {
    for (size_t k = 0; w && k < EXPECT_MAX_STEPS; k++) {
        operator_call_finish(&w->calls[k]);
    }
    if (w) {
        operator_memory_finish(w->memory);
        free(w->memory);
        free(w->calls);
        free(w->plan);
    }
    free(w);
}

void expect_work_slice(struct expect_work *w, uint64_t bytes) {
    w->slice = bytes;
}

/* --- a step, some rows at a time, with the steps before it that go by the same rows ---
 */

/* By steps: computed for the same rows as the last of them. */
struct expect_branch {
    bool in[EXPECT_MAX_STEPS];
    int64_t rows, at_once;
    double bytes; /* while so many are computed at once */
};

static bool is_whole(const struct operator_call *call) {
    return !call->by_rows || !call->out[0].rank || call->out[0].shape[0] < 2;
}

/* The rows that step k takes from the steps before it. */
static void branch_grow(const struct expect_work *w, struct expect_branch *b, size_t k) {
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        const struct expect_source *from = &w->plan->steps[k].inputs[i];
        if (from->kind == FROM_STEP && w->calls[k].by_rows >> i & 1 &&
            !is_whole(&w->calls[from->step])) {
            b->in[from->step] = true;
        }
    }
}

/* Elements in double precision: of a row, and those that stay the same. */
static void add_elements(const struct expect_work *w, size_t k, int64_t rows,
                         double *ret_row, double *ret_whole) {
    const struct operator_call *call = &w->calls[k];
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        bool own = w->plan->steps[k].inputs[i].kind == FROM_BUFFER;
        double count = own && !call->streams ? (double)call->in[i].count : 0;
        bool by_rows = rows > 1 && call->by_rows >> i & 1;
        *(by_rows ? ret_row : ret_whole) += by_rows ? count / (double)rows : count;
    }
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
        *ret_row += (double)call->out[i].count / (double)rows;
    }
}

static struct expect_branch branch_of(const struct expect_work *w, size_t last) {
    bool whole = is_whole(&w->calls[last]);
    struct expect_branch b = {.rows = whole ? 1 : w->calls[last].out[0].shape[0]};
    double row = 0, same = 0;
    b.in[last] = true;
    for (size_t k = last + 1; k-- > 0;) {
        if (b.in[k]) {
            add_elements(w, k, b.rows, &row, &same);
        }
        if (b.in[k] && !whole) {
            branch_grow(w, &b, k);
        }
    }
    double fit = (double)w->slice / (sizeof(double) * row + 1);
    b.at_once = fit < 1 ? 1 : fit < (double)b.rows ? (int64_t)fit : b.rows;
    b.bytes = sizeof(double) * (row * (double)b.at_once + same);
    return b;
}

/* Rows of the branch's last step, output by output to `to`, where that is not NULL. */
static int branch_compute(const struct expect_work *w, const struct expect_branch *b,
                          size_t last, struct row_range rows, double *const *to,
                          struct err *err) {
    autofree struct operator_call *parts = xcalloc(EXPECT_MAX_STEPS, sizeof *parts);
    struct operator_budget budget = {UINT64_MAX /* expect_operator_foresee */, w->stopped,
                                     w->memory};
    int r = 0;
    for (size_t k = 0; r == 0 && k <= last; k++) {
        r = b->in[k] ? infer_step(w, &parts[k], k, is_whole(&w->calls[k]) ? NULL : &rows,
                                  parts, err)
                     : 0;
        for (size_t i = 0; r == 0 && k == last && i < OPERATOR_MAX_OUTPUTS; i++) {
            if (to[i]) {
                operator_call_output(&parts[k], i, to[i]);
            }
        }
        r = r < 0 || !b->in[k] ? r : operator_call_compute(&parts[k], &budget, err);
    }
    for (size_t k = 0; k <= last; k++) {
        operator_call_finish(&parts[k]);
    }
    return r;
}

/* Elements of a row of an output. */
static int64_t row_of(const struct expect_branch *b, const struct operator_array *a) {
    return a->count / b->rows;
}

/* The whole of a step's outputs, which are kept. */
static int step_compute(struct expect_work *w, size_t k, struct err *err) {
    const struct expect_branch b = branch_of(w, k);
    struct operator_array *out = w->calls[k].out;
    int r = 0;
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS && out[i].name; i++) {
        out[i].v = xmalloc(((size_t)out[i].count + 1) * sizeof(double));
        memory_advise_huge(out[i].v, (size_t)out[i].count * sizeof(double));
    }
    for (int64_t at = 0; r == 0 && at < b.rows; at += b.at_once) {
        int64_t end = b.rows - at < b.at_once ? b.rows : at + b.at_once;
        double *to[OPERATOR_MAX_OUTPUTS] = {0};
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS && out[i].name; i++) {
            to[i] = out[i].v + at * row_of(&b, &out[i]);
        }
        r = branch_compute(w, &b, k, (struct row_range){at, end}, to, err);
    }
    operator_memory_finish(w->memory);
    return r;
}

/* Marks what step k and those of its branch take as a whole, and so on. */
static void mark_kept(const struct expect_work *w, size_t last, bool *kept) {
    struct expect_branch b = branch_of(w, last);
    for (size_t k = last + 1; k-- > 0;) {
        for (size_t i = 0; b.in[k] && i < OPERATOR_MAX_INPUTS; i++) {
            const struct expect_source *from = &w->plan->steps[k].inputs[i];
            bool by_rows = w->calls[k].by_rows >> i & 1 && !is_whole(&w->calls[k]);
            if (from->kind == FROM_STEP &&
                (!by_rows || is_whole(&w->calls[from->step])) && !kept[from->step]) {
                kept[from->step] = true;
                mark_kept(w, from->step, kept);
            }
        }
    }
}

/* The step and the output of it that make a buffer; false: none. */
static bool find_output(const struct expect_work *w, size_t buffer, size_t *ret_step,
                        size_t *ret_output) {
    for (size_t k = 0; k < w->plan->count; k++) {
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
            if (w->plan->steps[k].buffers[i] == buffer) {
                *ret_step = k;
                *ret_output = i;
                return true;
            }
        }
    }
    return false;
}

/* Marks the buffers needed before a buffer's rows can be computed: whole, and the buffer
 * too. */
static void mark_for(const struct expect_work *w, size_t buffer, bool whole, bool *kept) {
    size_t k, i;
    if (find_output(w, buffer, &k, &i)) {
        kept[k] |= whole;
        mark_kept(w, k, kept);
    }
}

bool expect_work_rows(const struct expect_work *w, size_t buffer, int64_t *ret_rows,
                      int64_t *ret_at_once) {
    size_t k, i;
    if (!find_output(w, buffer, &k, &i)) {
        return false;
    }
    struct expect_branch b = branch_of(w, k);
    *ret_rows = b.rows;
    *ret_at_once = b.at_once;
    return true;
}

static int keep(struct expect_work *w, const bool *kept, struct err *err) {
    int r = 0;
    for (size_t k = 0; r == 0 && k < w->plan->count; k++) {
        r = kept[k] && !w->calls[k].out[0].v ? step_compute(w, k, err) : 0;
    }
    return r;
}

int expect_work_part(struct expect_work *w, size_t buffer, int64_t from, int64_t to,
                     double *ret, struct err *err) {
    bool kept[EXPECT_MAX_STEPS] = {0};
    double *outputs[OPERATOR_MAX_OUTPUTS] = {0};
    size_t k, i;
    if (!find_output(w, buffer, &k, &i)) {
        return -ENOENT;
    }
    struct expect_branch b = branch_of(w, k);
    outputs[i] = ret;
    mark_for(w, buffer, false, kept);
    int r = keep(w, kept, err);
    return r < 0 ? r
                 : branch_compute(w, &b, k, (struct row_range){from, to}, outputs, err);
}

/* --- what it takes --- */

/* Steps that the run's time allows. */
static double steps_of(const struct spec_case *c) {
    return c->spec->timeout_s * EXPECT_STEPS_PER_S;
}

/* Bytes of the kept buffers, and of the largest rows computed at once. */
static double bytes_of(const struct expect_work *w, bool whole) {
    bool kept[EXPECT_MAX_STEPS] = {0}, made[EXPECT_MAX_STEPS] = {0};
    double bytes = 0, most = 0;
    for (size_t buffer = 0; buffer < w->c->spec->buffer_count; buffer++) {
        size_t k, i;
        mark_for(w, buffer, whole, kept);
        if (find_output(w, buffer, &k, &i)) {
            made[k] = true;
        }
    }
    for (size_t k = 0; k < w->plan->count; k++) {
        for (size_t i = 0; kept[k] && i < OPERATOR_MAX_OUTPUTS; i++) {
            bytes += sizeof(double) * (double)w->calls[k].out[i].count;
        }
        if (kept[k] || made[k]) {
            struct expect_branch b = branch_of(w, k);
            most = b.bytes > most ? b.bytes : most;
        }
    }
    return bytes + most;
}

int expect_operator_foresee(const struct spec_case *c, const json_t *expect,
                            double *ret_bytes, double *ret_sliced, struct err *err) {
    struct expect_work *w;
    int r = expect_work_new(&w, c, expect, NULL, NULL, err);
    double steps = 0;
    *ret_bytes = *ret_sliced = 0;
    for (size_t k = 0; r == 0 && k < w->plan->count; k++) {
        steps += w->calls[k].steps;
    }
    if (r == 0) {
        *ret_bytes = bytes_of(w, true);
        *ret_sliced = bytes_of(w, false);
    }
    expect_work_free(w);
    return r == 0 && steps > steps_of(c)
               ? err_set(
                     err, -ETIME,
                     "expect.op: to compute what is expected takes %.0f s or more, the "
                     "run has %u s: give smaller sizes, or a larger \"timeout_s\"",
                     steps / EXPECT_STEPS_PER_S, c->spec->timeout_s)
               : r;
}

int expect_work_whole(struct expect_work *w, double **ret, struct err *err) {
    bool kept[EXPECT_MAX_STEPS] = {0};
    for (size_t buffer = 0; buffer < w->c->spec->buffer_count; buffer++) {
        mark_for(w, buffer, true, kept);
    }
    int r = keep(w, kept, err);
    for (size_t k = 0; r == 0 && k < w->plan->count; k++) {
        for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
            size_t buffer = w->plan->steps[k].buffers[i];
            if (buffer != SIZE_MAX) {
                ret[buffer] = take(w->calls[k].out[i].v);
            }
        }
    }
    return r;
}

int expect_operator_flops(const struct spec_case *c, const json_t *expect, double *ret,
                          struct err *err) {
    struct expect_work *w;
    int r = expect_work_new(&w, c, expect, NULL, NULL, err);
    *ret = 0;
    for (size_t k = 0; r == 0 && k < w->plan->count; k++) {
        *ret += w->calls[k].flops;
    }
    expect_work_free(w);
    return r;
}
