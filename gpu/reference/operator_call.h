#pragma once
/* operator_call: functions for writing the families of operators. */
#include "base/err.h"
#include "gpu/reference/operator.h"
#include "gpu/reference/sums.h"

/* --- the table: operators.txt, from which the build generates operators_FAMILY.h --- */

/* The rows of a family; the last has no name. */
extern const struct operator operators_activations[], operators_attention[],
    operators_convolutions[], operators_elementwise[], operators_indexing[],
    operators_interpolation[], operators_losses[], operators_matmul[], operators_norms[],
    operators_ordering[], operators_pair_losses[], operators_pooling[],
    operators_quantization[], operators_reductions[], operators_scans[],
    operators_shapes[];

/* For cat and stack, which shapes.c lists (joins.c). */
int join_cat_infer(struct operator_call *c);
int join_cat(struct operator_call *c);
int join_stack_infer(struct operator_call *c);
int join_stack(struct operator_call *c);

/* --- attributes: an attribute that the operator does not declare aborts --- */

const struct operator_value *call_attribute(const struct operator_call *c,
                                            const char *name);
int64_t call_integer(const struct operator_call *c, const char *name);
double call_number(const struct operator_call *c, const char *name);
bool call_bool(const struct operator_call *c, const char *name);
int call_choice(const struct operator_call *c, const char *name);
/* The i-th number of a list; a list of one applies to all. */
int64_t call_item(const struct operator_call *c, const char *name, size_t i);
/* Dimension `name`, within the rank; negative ones count from the end. */
int call_dim(struct operator_call *c, const char *name, const struct operator_array *of,
             size_t *ret);
/* A list of count distinct dimensions as flags; absent: all. */
int call_dims(struct operator_call *c, const char *name, const struct operator_array *of,
              bool *ret);
/* -EINVAL unless the list has 1 or `count` numbers of low or more. */
int call_check_list(struct operator_call *c, const char *name, size_t count, int64_t low);

/* --- shapes --- */

/* "AT.FIELD: …" */
int call_error(const struct operator_call *c, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The shape of an input as text, "[3, 4]". */
const char *shape_text(const struct operator_array *a, char *buf, size_t size);
bool shape_equal(const struct operator_array *a, const struct operator_array *b);
/* Counts the elements; -EINVAL if there are too many. */
int call_output(struct operator_call *c, size_t i, const int64_t *shape, size_t rank);
int call_output_like(struct operator_call *c, size_t i, const struct operator_array *of);
/* If r < 0, returns it; otherwise gives the first output the shape of the first input,
 * with all elements written; the cost is per element. */
int call_output_same(struct operator_call *c, int r, double flops, double steps);
/* -EINVAL unless input i has this rank. */
int call_want_rank(const struct operator_call *c, size_t i, size_t rank);
/* -EINVAL unless input i is missing or has exactly this shape. */
int call_want_shape(const struct operator_call *c, size_t i, const int64_t *shape,
                    size_t rank);
int call_want_like(const struct operator_call *c, size_t i, size_t like);
/* -EINVAL unless input i is missing or broadcasts to this shape. */
int call_want_within(const struct operator_call *c, size_t i, const int64_t *shape,
                     size_t rank);
bool call_has(const struct operator_call *c, size_t i);
enum { CALL_ELEMENTS = 512 };
/* Elements [from, from + n) of an input, from its reader or its data, copied to room if
 * needed. */
const double *call_elements(const struct operator_array *a, int64_t from, size_t n,
                            double *room);
/* Marks input i as split by rows (by_rows), if its first dimension is that of a shape of
 * this rank with this number of rows. */
void call_rows(struct operator_call *c, size_t i, size_t rank, int64_t rows);
/* The same for the first `count` inputs, which broadcast to output 0. */
void call_rows_of_broadcast(struct operator_call *c, size_t count);
/* Input 0 has the outputs' rows, unless `whole`: then the rows depend on each other. */
void call_rows_of_first(struct operator_call *c, bool whole);
/* -EINVAL unless the value is an integer of [low, high). */
int call_index(const struct operator_call *c, size_t input, double value, int64_t low,
               int64_t high, int64_t *ret);
/* Sets the cost: flops, and steps of about one nanosecond each. */
void call_cost(struct operator_call *c, double flops, double steps);
/* 0, or -ETIME once the run was stopped: call it every few thousand steps. */
int call_continue(const struct operator_call *c);
/* Returns -ETIME: the run was stopped. */
int call_late(const struct operator_call *c);

/* A tensor as outer x n x inner around dimension dim. */
struct axis_lines {
    int64_t outer, n, inner;
};
struct axis_lines axis_lines_of(const struct operator_array *a, size_t dim);
/* The same shape without one dimension. */
struct operator_array shape_without(struct operator_array a, size_t dim);
/* Elements of dimensions [from, to). */
int64_t shape_count(const struct operator_array *a, size_t from, size_t to);
void shape_strides(const struct operator_array *a, int64_t *ret);
/* NumPy's rule for input i; target has been merged from all. Strides of 0 where it is
 * repeated. */
int call_broadcast(struct operator_call *c, const size_t *inputs, size_t count,
                   int64_t *shape, size_t *rank);
void broadcast_strides(const struct operator_array *a, const int64_t *shape, size_t rank,
                       int64_t *ret);
/* Increments index within shape, row-major; false after the last. */
bool index_next(int64_t *index, const int64_t *shape, size_t rank);
int64_t index_offset(const int64_t *index, const int64_t *strides, size_t rank);

/* Walks the first inputs element by element over their broadcast shape. */
struct axis_walk {
    const double *at[3]; /* the current position in each */
    size_t count, rank;
    const int64_t *shape; /* borrowed */
    int64_t index[OPERATOR_MAX_RANK], strides[3][OPERATOR_MAX_RANK];
};
void walk_start(struct axis_walk *w, const struct operator_call *c, size_t count,
                const int64_t *shape, size_t rank);
void walk_next(struct axis_walk *w, const struct operator_call *c);

/* Elementwise operators, shared with activations and indexing: u.unary or u.parametric of
 * an element, u.broadcast of one of each input (of two: z is 0). */
int infer_unary(struct operator_call *c);
int compute_unary(struct operator_call *c);
int compute_parametric(struct operator_call *c);
int compute_broadcast(struct operator_call *c);
