#include "gpu/reference/operator_call.h"

#include "base/find.h"
#include "gpu/tensor/tensor_shape.h"

#include <stdarg.h>

#define MAX_WINDOW 65536 /* so that products of three do not overflow */

/* --- errors --- */

int call_error(const struct operator_call *c, const char *field, const char *fmt, ...) {
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(c->err, -EINVAL, "%s.%s: %s", c->at, field, text);
}

const char *shape_text(const struct operator_array *a, char *buf, size_t size) {
    return tensor_shape_text(a->shape, a->rank, buf, size);
}

int call_continue(const struct operator_call *c) {
    return c->budget->stopped && c->budget->stopped() ? call_late(c) : 0;
}

int call_late(const struct operator_call *c) {
    return err_set(c->err, -ETIME, "%s: time ran out while '%s' was computed", c->at,
                   c->op->name);
}

void call_cost(struct operator_call *c, double flops, double steps) {
    c->flops += flops;
    c->steps += steps;
}

/* --- attributes --- */

const struct operator_value *call_attribute(const struct operator_call *c,
                                            const char *name) {
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && c->op->attributes[i].name; i++) {
        if (!strcmp(c->op->attributes[i].name, name)) {
            return &c->attributes[i];
        }
    }
    abort(); /* a row of the table without what its function reads */
}

int64_t call_integer(const struct operator_call *c, const char *name) {
    return call_attribute(c, name)->ints[0];
}

double call_number(const struct operator_call *c, const char *name) {
    return call_attribute(c, name)->number;
}

bool call_bool(const struct operator_call *c, const char *name) {
    return call_attribute(c, name)->choice != 0;
}

int call_choice(const struct operator_call *c, const char *name) {
    return call_attribute(c, name)->choice;
}

int64_t call_item(const struct operator_call *c, const char *name, size_t i) {
    const struct operator_value *v = call_attribute(c, name);
    return v->ints[v->count == 1 ? 0 : i];
}

int call_check_list(struct operator_call *c, const char *name, size_t count,
                    int64_t low) {
    const struct operator_value *v = call_attribute(c, name);
    if (v->count != 1 && v->count != count) {
        return call_error(c, name, "%zu numbers, 1 or %zu are expected", v->count, count);
    }
    for (size_t i = 0; i < v->count; i++) {
        if (v->ints[i] < low || v->ints[i] > MAX_WINDOW) {
            return call_error(c, name, "%lld is not within %lld and %d",
                              (long long)v->ints[i], (long long)low, MAX_WINDOW);
        }
    }
    return 0;
}

static int dim_within(const struct operator_call *c, const char *name, int64_t value,
                      const struct operator_array *of, size_t *ret) {
    int64_t rank = of->rank ? (int64_t)of->rank : 1; /* as torch: a scalar has dim 0 */
    if (value < -rank || value >= rank) {
        return call_error(c, name, "%lld is outside the rank %zu of '%s'",
                          (long long)value, of->rank, of->name);
    }
    *ret = (size_t)(value < 0 ? value + rank : value);
    return 0;
}

int call_dim(struct operator_call *c, const char *name, const struct operator_array *of,
             size_t *ret) {
    return dim_within(c, name, call_integer(c, name), of, ret);
}

int call_dims(struct operator_call *c, const char *name, const struct operator_array *of,
              bool *ret) {
    const struct operator_value *v = call_attribute(c, name);
    for (size_t i = 0; i < OPERATOR_MAX_RANK; i++) {
        ret[i] = !v->given;
    }
    for (size_t i = 0; v->given && i < v->count; i++) {
        size_t dim = 0;
        int r = dim_within(c, name, v->ints[i], of, &dim);
        if (r < 0) {
            return r;
        }
        if (ret[dim]) {
            return call_error(c, name, "%lld appears twice", (long long)v->ints[i]);
        }
        ret[dim] = true;
    }
    return 0;
}

/* --- shapes --- */

bool call_has(const struct operator_call *c, size_t i) {
    return c->in[i].name != NULL;
}

const double *call_elements(const struct operator_array *a, int64_t from, size_t n,
                            double *room) {
    if (a->v) {
        return a->v + from;
    }
    tensor_load(a->type, a->data, (uint64_t)from, n, room);
    return room;
}

void call_rows(struct operator_call *c, size_t i, size_t rank, int64_t rows) {
    const struct operator_array *a = &c->in[i];
    bool has = a->name && rank && a->rank == rank && a->shape[0] == rows;
    c->by_rows |= (unsigned)has << i;
}

void call_rows_of_broadcast(struct operator_call *c, size_t count) {
    for (size_t i = 0; i < count; i++) {
        call_rows(c, i, c->out[0].rank, c->out[0].shape[0]);
    }
}

void call_rows_of_first(struct operator_call *c, bool whole) {
    if (!whole) {
        call_rows(c, 0, c->in[0].rank, c->in[0].shape[0]);
    }
}

bool shape_equal(const struct operator_array *a, const struct operator_array *b) {
    return a->rank == b->rank && all_of(i, 0, a->rank, a->shape[i] == b->shape[i]);
}

int call_output(struct operator_call *c, size_t i, const int64_t *shape, size_t rank) {
    struct operator_array *a = &c->out[i];
    a->name = c->op->outputs[i].name;
    a->rank = rank;
    a->count = 1;
    for (size_t k = 0; k < rank; k++) {
        a->shape[k] = shape[k];
        if (shape[k] < 0 || (shape[k] && a->count > OPERATOR_MAX_ELEMENTS / shape[k])) {
            return err_set(c->err, -EINVAL, "%s: '%s' would make an output of %s", c->at,
                           c->op->name,
                           shape[k] < 0 ? "a negative extent" : "too many elements");
        }
        a->count *= shape[k];
    }
    return 0;
}

int call_output_like(struct operator_call *c, size_t i, const struct operator_array *of) {
    return call_output(c, i, of->shape, of->rank);
}

int call_output_same(struct operator_call *c, int r, double flops, double steps) {
    double count = (double)c->in[0].count;
    call_cost(c, flops * count, steps * count);
    c->fills = true;
    return r < 0 ? r : call_output_like(c, 0, &c->in[0]);
}

static int shape_error(const struct operator_call *c, size_t i, const char *wanted) {
    char have[160];
    size_t first = i;
    while (first && c->op->inputs[first].name == NULL) {
        first--;
    }
    return err_set(c->err, -EINVAL, "%s.inputs.%s: '%s' has shape %s, %s is expected",
                   c->at, c->op->inputs[first].name, c->in[i].name,
                   shape_text(&c->in[i], have, sizeof have), wanted);
}

int call_want_rank(const struct operator_call *c, size_t i, size_t rank) {
    char wanted[240], text[160];
    struct operator_array same = {.rank = rank};
    size_t have = c->in[i].rank;
    if (have == rank) {
        return 0;
    }
    int n = snprintf(wanted, sizeof wanted, "rank %zu", rank);
    for (size_t k = 0; have < rank && k < rank; k++) {
        same.shape[k] = k < rank - have ? 1 : c->in[i].shape[k - (rank - have)];
    }
    if (have < rank) { /* the elements are the same */
        snprintf(wanted + n, sizeof wanted - (size_t)n, ", like %s,",
                 shape_text(&same, text, sizeof text));
    }
    return shape_error(c, i, wanted);
}

int call_want_shape(const struct operator_call *c, size_t i, const int64_t *shape,
                    size_t rank) {
    struct operator_array want = {.rank = rank};
    char text[160];
    for (size_t k = 0; k < rank; k++) {
        want.shape[k] = shape[k];
    }
    return !call_has(c, i) || shape_equal(&c->in[i], &want)
               ? 0
               : shape_error(c, i, shape_text(&want, text, sizeof text));
}

int call_want_like(const struct operator_call *c, size_t i, size_t like) {
    return call_want_shape(c, i, c->in[like].shape, c->in[like].rank);
}

int call_want_within(const struct operator_call *c, size_t i, const int64_t *shape,
                     size_t rank) {
    const struct operator_array *a = &c->in[i];
    for (size_t k = 0; k < a->rank; k++) {
        size_t back = a->rank - k;
        if (back > rank || (a->shape[k] != 1 && a->shape[k] != shape[rank - back])) {
            return call_want_shape(c, i, shape, rank);
        }
    }
    return 0;
}

int call_index(const struct operator_call *c, size_t input, double value, int64_t low,
               int64_t high, int64_t *ret) {
    if (!(value >= (double)low && value < (double)high) || value != floor(value)) {
        char field[64];
        snprintf(field, sizeof field, "inputs.%s", c->op->inputs[input].name);
        return call_error(c, field,
                          "'%s' holds %g, a whole number of %lld to %lld is "
                          "expected",
                          c->in[input].name, value, (long long)low, (long long)high - 1);
    }
    *ret = (int64_t)value;
    return 0;
}

struct operator_array shape_without(struct operator_array a, size_t dim) {
    for (size_t i = dim; i + 1 < a.rank; i++) {
        a.shape[i] = a.shape[i + 1];
    }
    a.rank -= a.rank > 0;
    return a;
}

int64_t shape_count(const struct operator_array *a, size_t from, size_t to) {
    int64_t count = 1;
    for (size_t i = from; i < to; i++) {
        count *= a->shape[i];
    }
    return count;
}

struct axis_lines axis_lines_of(const struct operator_array *a, size_t dim) {
    if (!a->rank) {
        return (struct axis_lines){1, 1, 1};
    }
    return (struct axis_lines){shape_count(a, 0, dim), a->shape[dim],
                               shape_count(a, dim + 1, a->rank)};
}

void shape_strides(const struct operator_array *a, int64_t *ret) {
    int64_t stride = 1;
    for (size_t i = a->rank; i-- > 0;) {
        ret[i] = stride;
        stride *= a->shape[i];
    }
}

static int broadcast_one(struct operator_call *c, size_t input, int64_t *shape,
                         size_t rank) {
    const struct operator_array *a = &c->in[input];
    for (size_t i = 0; i < a->rank; i++) {
        int64_t have = a->shape[i], *want = &shape[rank - a->rank + i];
        if (*want == 1) {
            *want = have;
        } else if (have != 1 && have != *want) {
            return shape_error(c, input, "a shape that broadcasts with the others");
        }
    }
    return 0;
}

int call_broadcast(struct operator_call *c, const size_t *inputs, size_t count,
                   int64_t *shape, size_t *rank) {
    *rank = 0;
    for (size_t i = 0; i < count; i++) {
        size_t have = c->in[inputs[i]].rank;
        *rank = have > *rank ? have : *rank;
    }
    for (size_t i = 0; i < *rank; i++) {
        shape[i] = 1;
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = broadcast_one(c, inputs[i], shape, *rank);
    }
    return r;
}

void broadcast_strides(const struct operator_array *a, const int64_t *shape, size_t rank,
                       int64_t *ret) {
    int64_t own[OPERATOR_MAX_RANK];
    shape_strides(a, own);
    for (size_t i = 0; i < rank; i++) {
        size_t lead = rank - a->rank;
        ret[i] =
            i < lead || (a->shape[i - lead] == 1 && shape[i] != 1) ? 0 : own[i - lead];
    }
}

bool index_next(int64_t *index, const int64_t *shape, size_t rank) {
    for (size_t i = rank; i-- > 0;) {
        if (++index[i] < shape[i]) {
            return true;
        }
        index[i] = 0;
    }
    return false;
}

int64_t index_offset(const int64_t *index, const int64_t *strides, size_t rank) {
    return total_of(int64_t, i, 0, rank, index[i] * strides[i]);
}

/* --- several inputs that broadcast --- */

void walk_start(struct axis_walk *w, const struct operator_call *c, size_t count,
                const int64_t *shape, size_t rank) {
    *w = (struct axis_walk){.count = count, .rank = rank, .shape = shape};
    for (size_t i = 0; i < count; i++) {
        broadcast_strides(&c->in[i], shape, rank, w->strides[i]);
        w->at[i] = c->in[i].v;
    }
}

void walk_next(struct axis_walk *w, const struct operator_call *c) {
    index_next(w->index, w->shape, w->rank);
    for (size_t i = 0; i < w->count; i++) {
        w->at[i] = c->in[i].v + index_offset(w->index, w->strides[i], w->rank);
    }
}
