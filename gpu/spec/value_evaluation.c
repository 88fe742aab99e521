/* An expression of expected values, evaluated for an element. */
#include "gpu/spec/value_tree.h"

#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { LOOK_EVERY = 1 << 14 }; /* steps, until somebody may have stopped it */

/* The last value of a fold: rows share a maximum, and all elements a sum of all. */
struct memory {
    bool known;
    double keys[VALUE_MAX_KEYS];
    double value;
};

struct run {
    const struct value_expression *e;
    struct memory *memories; /* by node */
    double variables[VALUE_MAX_VARIABLES];
    uint64_t steps;
    bool (*stopped)(void);
    bool folds;   /* while the terms of a fold are evaluated */
    bool in_fold; /* so it was when the error was met */
    bool inexact;
    int error; /* -ETIME, -ERANGE */
    const struct value_input *input;
    double index;
};

static double evaluate(struct run *run, uint16_t at);

static double noted(struct run *run, double value) {
    run->inexact |= fabs(value) > 0x1p53 && isfinite(value);
    return value;
}

static double element(struct run *run, const struct value_node *n) {
    double index = trunc(evaluate(run, n->args[0]));
    if (!(index >= 0 && index < (double)n->input->count)) {
        if (!run->error) {
            run->error = -ERANGE;
            run->input = n->input;
            run->index = index;
            run->in_fold = run->folds;
        }
        return NAN;
    }
    double value = tensor_get(n->input->type, n->input->data, (size_t)index);
    return tensor_type_float(n->input->type) ? value : noted(run, value);
}

static bool remembers(struct run *run, const struct value_node *n, struct memory *m) {
    bool same = m->known;
    for (unsigned k = 0; k < n->key_count; k++) {
        double key = evaluate(run, n->keys[k]);
        same = same && m->keys[k] == key;
        m->keys[k] = key;
    }
    return same;
}

static double fold(struct run *run, const struct value_node *n) {
    struct memory *m = &run->memories[n - run->e->nodes];
    bool can = n->key_count <= VALUE_MAX_KEYS;
    if (can && remembers(run, n, m)) {
        return m->value;
    }
    double from = trunc(evaluate(run, n->args[0])), to = evaluate(run, n->args[1]);
    double value = n->fold->start;
    bool outer = run->folds;
    run->folds = true;
    for (double k = from; k < to && !run->error; k++) {
        run->variables[n->slot] = k;
        value = n->fold->add(value, evaluate(run, n->args[2]));
    }
    run->folds = outer;
    m->known = can;
    m->value = value;
    return value;
}

static double function(struct run *run, const struct value_node *n) {
    double args[3] = {0};
    for (unsigned i = 0; i < n->function->args; i++) {
        args[i] = evaluate(run, n->args[i]);
    }
    return n->function->one   ? n->function->one(args[0])
           : n->function->two ? n->function->two(args[0], args[1])
                              : n->function->call(args);
}

static double evaluate(struct run *run, uint16_t at) {
    const struct value_node *n = &run->e->nodes[at];
    if (!run->steps || (run->steps % LOOK_EVERY == 0 && run->stopped && run->stopped())) {
        run->error = run->error ? run->error : -ETIME;
        return NAN;
    }
    run->steps--;
    switch (n->kind) {
    case NODE_NUMBER:
        return n->number;
    case NODE_VARIABLE:
        return run->variables[n->slot];
    case NODE_ELEMENT:
        return element(run, n);
    case NODE_FUNCTION:
        return noted(run, function(run, n));
    case NODE_CHOICE:
        return evaluate(run, evaluate(run, n->args[0]) != 0 ? n->args[1] : n->args[2]);
    case NODE_AND:
        return evaluate(run, n->args[0]) != 0 && evaluate(run, n->args[1]) != 0;
    case NODE_OR:
        return evaluate(run, n->args[0]) != 0 || evaluate(run, n->args[1]) != 0;
    default:
        return noted(run, fold(run, n));
    }
}

int value_expression_evaluate(const struct value_expression *e, uint64_t count,
                              double *ret, struct value_budget *budget, struct err *err) {
    autofree struct memory *memories = xcalloc(e->count ? e->count : 1, sizeof *memories);
    struct run run = {
        .e = e, .memories = memories, .steps = budget->steps, .stopped = budget->stopped};
    for (uint64_t i = 0; i < count && !run.error; i++) {
        run.variables[0] = (double)i;
        ret[i] = evaluate(&run, e->root);
    }
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
