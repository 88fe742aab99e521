/* An expression of expected values, evaluated for an element. */
#include "base/find.h"
#include "gpu/spec/value_tree.h"

#include "base/err.h"
#include "base/parts.h"

#include <math.h>

enum {
    LOOK_EVERY = 1 << 14,   /* steps between two checks for a stop */
    AT_ONCE = 64,           /* elements; a level of the tree has some arrays of them */
    SHARED_LEAST = 1 << 12, /* elements that a thread takes, or more */
};

/* The last value of a fold: rows share a maximum, and all elements a sum of all. */
struct value_memory {
    bool known;
    double keys[VALUE_MAX_KEYS];
    double value;
};

struct value_run {
    const struct value_expression *e;
    struct value_memory *memories; /* by node */
    double variables[VALUE_MAX_VARIABLES];
    uint64_t steps, look_at; /* left; how many when it is asked again */
    bool (*stopped)(void);
    bool ended;   /* it was stopped */
    bool folds;   /* while the terms of a fold are evaluated */
    bool in_fold; /* so it was when the error was met */
    bool inexact;
    int error; /* -ETIME, -ERANGE */
    const struct value_input *input;
    double index;
};

/* Elements, or terms of a fold, that are computed side by side: one variable differs, the
 * others are run->variables. */
struct lanes {
    unsigned slot;
    size_t count; /* AT_ONCE at most */
    const double *values;
};

static void evaluate(struct value_run *run, uint16_t at, const struct lanes *l,
                     double *ret);

static double evaluate_one(struct value_run *run, uint16_t at) {
    const struct lanes one = {0, 1, &run->variables[0]};
    double value = NAN;
    evaluate(run, at, &one, &value);
    return value;
}

/* From `from` on, one more each. Where one has an error, it is found as if they were
 * computed one after the other. */
static void evaluate_row(struct value_run *run, uint16_t at, unsigned slot, double from,
                         size_t count, double *ret) {
    double values[AT_ONCE];
    const struct lanes all = {slot, count, values};
    for (size_t i = 0; i < count; i++) {
        values[i] = from + (double)i;
    }
    evaluate(run, at, &all, ret);
    if (run->error != -ERANGE || count == 1) {
        return;
    }
    run->error = 0;
    for (size_t i = 0; i < count && !run->error; i++) {
        const struct lanes one = {slot, 1, values + i};
        evaluate(run, at, &one, ret + i);
    }
}

static void note(struct value_run *run, const double *values, size_t count) {
    bool inexact = any_of(i, 0, count, fabs(values[i]) > 0x1p53 && isfinite(values[i]));
    run->inexact |= inexact;
}

static void outside(struct value_run *run, const struct value_node *n, double index) {
    if (!run->error) {
        run->error = -ERANGE;
        run->input = n->input;
        run->index = index;
        run->in_fold = run->folds;
    }
}

/* Whether they are consecutive. Then they are loaded together. */
static bool is_row(const double *index, size_t count) {
    bool row = all_of(i, 1, count, index[i] == index[0] + (double)i);
    return row;
}

static void elements(struct value_run *run, const struct value_node *n,
                     const struct lanes *l, double *ret) {
    const struct value_input *in = n->input;
    double index[AT_ONCE];
    evaluate(run, n->args[0], l, index);
    for (size_t i = 0; i < l->count; i++) {
        index[i] = trunc(index[i]);
        if (!(index[i] >= 0 && index[i] < (double)in->count)) {
            outside(run, n, index[i]);
            return;
        }
    }
    bool row = is_row(index, l->count);
    for (size_t i = 0; i < (row ? 1 : l->count); i++) {
        tensor_load(in->type, in->data, (uint64_t)index[i], row ? l->count : 1, ret + i);
    }
    if (!tensor_type_float(in->type)) {
        note(run, ret, l->count);
    }
}

static bool remembers(struct value_run *run, const struct value_node *n,
                      struct value_memory *m) {
    bool same = m->known;
    for (unsigned k = 0; k < n->key_count; k++) {
        double key = evaluate_one(run, n->keys[k]);
        same = same && m->keys[k] == key;
        m->keys[k] = key;
    }
    return same;
}

static double fold(struct value_run *run, const struct value_node *n) {
    struct value_memory *m = &run->memories[n - run->e->nodes];
    bool can = n->key_count <= VALUE_MAX_KEYS;
    if (can && remembers(run, n, m)) {
        return m->value;
    }
    double from = trunc(evaluate_one(run, n->args[0])),
           to = evaluate_one(run, n->args[1]);
    double value = n->fold->start, terms[AT_ONCE];
    bool outer = run->folds;
    run->folds = true;
    for (double k = from; k < to && !run->error; k += AT_ONCE) {
        size_t count = to - k < AT_ONCE ? (size_t)ceil(to - k) : AT_ONCE;
        evaluate_row(run, n->args[2], n->slot, k, count, terms);
        for (size_t i = 0; i < count && !run->error; i++) {
            value = n->fold->add(value, terms[i]);
        }
    }
    run->folds = outer;
    m->known = can && !run->error;
    m->value = value;
    return value;
}

static void folds(struct value_run *run, const struct value_node *n,
                  const struct lanes *l, double *ret) {
    double before = run->variables[l->slot];
    for (size_t i = 0; i < l->count && !run->error; i++) {
        run->variables[l->slot] = l->values[i];
        ret[i] = fold(run, n);
    }
    run->variables[l->slot] = before;
}

static void function(struct value_run *run, const struct value_node *n,
                     const struct lanes *l, double *ret) {
    const struct value_function *f = n->function;
    double args[3][AT_ONCE];
    for (unsigned k = 0; k < f->args; k++) {
        evaluate(run, n->args[k], l, args[k]);
    }
    for (size_t i = 0; i < l->count && !run->error; i++) {
        const double all[] = {args[0][i], f->args > 1 ? args[1][i] : 0,
                              f->args > 2 ? args[2][i] : 0};
        ret[i] = f->one ? f->one(all[0]) : f->two ? f->two(all[0], all[1]) : f->call(all);
    }
}

/* Of the lanes alone whose condition is as wanted. */
static void evaluate_some(struct value_run *run, uint16_t at, const struct lanes *l,
                          const double *condition, bool wanted, double *ret) {
    double values[AT_ONCE], results[AT_ONCE];
    struct lanes some = {l->slot, 0, values};
    for (size_t i = 0; i < l->count; i++) {
        values[some.count] = l->values[i];
        some.count += (condition[i] != 0) == wanted;
    }
    if (some.count && !run->error) {
        evaluate(run, at, &some, results);
    }
    for (size_t i = 0, k = 0; i < l->count && !run->error; i++) {
        if ((condition[i] != 0) == wanted) {
            ret[i] = results[k++];
        }
    }
}

static void choice(struct value_run *run, const struct value_node *n,
                   const struct lanes *l, double *ret) {
    double condition[AT_ONCE];
    evaluate(run, n->args[0], l, condition);
    evaluate_some(run, n->args[1], l, condition, true, ret);
    evaluate_some(run, n->args[2], l, condition, false, ret);
}

/* && and ||: the right side is looked at where the left one does not decide. */
static void both(struct value_run *run, const struct value_node *n, const struct lanes *l,
                 double *ret) {
    bool decides = n->kind == NODE_OR;
    double left[AT_ONCE];
    evaluate(run, n->args[0], l, left);
    evaluate_some(run, n->args[1], l, left, !decides, ret);
    for (size_t i = 0; i < l->count && !run->error; i++) {
        ret[i] = (left[i] != 0) == decides ? decides : ret[i] != 0;
    }
}

/* Whether steps are left and it was not stopped. */
static bool goes_on(struct value_run *run, size_t steps) {
    if (run->steps <= run->look_at) {
        run->look_at = run->steps > LOOK_EVERY ? run->steps - LOOK_EVERY : 0;
        run->ended = run->ended || (run->stopped && run->stopped());
    }
    if (run->ended || run->steps < steps) {
        run->error = run->error ? run->error : -ETIME;
    }
    run->steps -= run->steps < steps ? run->steps : steps;
    return !run->error;
}

static void evaluate(struct value_run *run, uint16_t at, const struct lanes *l,
                     double *ret) {
    const struct value_node *n = &run->e->nodes[at];
    bool own = n->kind == NODE_VARIABLE && n->slot == l->slot;
    if (!goes_on(run, l->count)) {
        return;
    }
    switch (n->kind) {
    case NODE_NUMBER:
    case NODE_VARIABLE:
        for (size_t i = 0; i < l->count; i++) {
            ret[i] = n->kind == NODE_NUMBER ? n->number
                     : own                  ? l->values[i]
                                            : run->variables[n->slot];
        }
        return;
    case NODE_ELEMENT:
        elements(run, n, l, ret);
        return;
    case NODE_CHOICE:
        choice(run, n, l, ret);
        return;
    case NODE_AND:
    case NODE_OR:
        both(run, n, l, ret);
        return;
    default:
        (n->kind == NODE_FUNCTION ? function : folds)(run, n, l, ret);
        if (!run->error) {
            note(run, ret, l->count);
        }
    }
}

static void evaluate_rows(struct value_run *run, uint64_t from, uint64_t to,
                          double *ret) {
    for (uint64_t i = from; i < to && !run->error; i += AT_ONCE) {
        size_t n = to - i < AT_ONCE ? (size_t)(to - i) : AT_ONCE;
        evaluate_row(run, run->e->root, 0, (double)i, n, ret + i);
    }
}

/* --- on all cores --- */

struct sharing {
    const struct value_expression *e;
    bool (*stopped)(void);
    double *ret;
    bool inexact; /* atomic */
};

static int share_some(void *data, int64_t from, int64_t to) {
    struct sharing *s = data;
    struct value_run run = {.e = s->e, .steps = UINT64_MAX, .look_at = UINT64_MAX};
    run.stopped = s->stopped;
    evaluate_rows(&run, (uint64_t)from, (uint64_t)to, s->ret);
    if (run.inexact) {
        __atomic_store_n(&s->inexact, true, __ATOMIC_RELAXED);
    }
    return run.error;
}

/* Following elements reuse the result of a fold: they stay on one thread. */
static bool has_folds(const struct value_expression *e) {
    bool found = any_of(i, 0, e->count, e->nodes[i].kind == NODE_FOLD);
    return found;
}

/* False: it is not done, or has an error, which is then found in the order of elements.
 */
static bool evaluate_shared(const struct value_expression *e, uint64_t count, double *ret,
                            struct value_budget *budget) {
    struct sharing s = {e, budget->stopped, ret, false};
    if (budget->steps < UINT64_MAX || count <= SHARED_LEAST || has_folds(e) ||
        parts_run((int64_t)count, SHARED_LEAST, share_some, &s, budget->stopped) < 0) {
        return false;
    }
    budget->inexact |= s.inexact;
    return true;
}

int value_expression_evaluate(const struct value_expression *e, uint64_t count,
                              double *ret, struct value_budget *budget, struct err *err) {
    if (evaluate_shared(e, count, ret, budget)) {
        return 0;
    }
    autofree struct value_memory *memories =
        xcalloc(e->count ? e->count : 1, sizeof *memories);
    struct value_run run = {.e = e,
                            .memories = memories,
                            .steps = budget->steps,
                            .look_at = budget->steps,
                            .stopped = budget->stopped};
    evaluate_rows(&run, 0, count, ret);
    budget->steps = run.steps;
    budget->inexact |= run.inexact;
    if (run.error == -ETIME) {
        return err_set(err, -ETIME, "evaluating '%s' takes too long", e->text);
    }
    if (run.error && !isfinite(run.index)) {
        return err_set(err, -ERANGE,
                       "in '%s' an index of '%s' is %s: something is divided by zero, "
                       "or is not a number itself",
                       e->text, run.input->name,
                       isnan(run.index) ? "not a number" : "infinite");
    }
    if (run.error) {
        return err_set(
            err, -ERANGE,
            "in '%s' the index %.0f lies outside '%s', which has %llu elements%s",
            e->text, run.index, run.input->name, (unsigned long long)run.input->count,
            run.in_fold ? " (sum(k, from, to, term) takes k from `from` to `to` - 1)"
                        : "");
    }
    return 0;
}

#define NUMBER_STEPS 100000

int value_expression_number(const char *text, const struct size_values *sizes,
                            double *ret, struct err *err) {
    struct err whole_only = {0};
    int64_t whole;
    if (integer_expression(text, sizes, &whole, &whole_only) == 0) {
        *ret = (double)whole;
        return 0;
    }
    struct value_expression *e;
    const struct value_inputs none = {0};
    struct value_budget budget = {NUMBER_STEPS, NULL};
    int r = value_expression_new(&e, text, sizes, &none, err);
    if (r == 0) {
        r = value_expression_evaluate(e, 1, ret, &budget, err);
        value_expression_free(e);
    }
    return r;
}
