#pragma once
/* value_expression: an expected output as arithmetic over inputs, element by element.
 *
 *   "x[i] * 0.5", "max(x[i], 0)", "x[i / cols * cols + (cols - 1 - i % cols)]",
 *   "sum(k, 0, K, A[i / N * K + k] * B[k * N + i % N])"
 * i is the element's flat index; a size or a scalar argument is its name; a buffer's initial contents are
 * name[index] (an index outside it is an error). + - * / % with C's precedence,
 * comparisons and ?:, && || !, exp log sqrt rsqrt sin cos tan tanh erf abs floor ceil
 * round min max pow fma sign, and sum(k, from, to, term), prod, maximum, minimum over an
 * inner index. All in double precision; an index is rounded toward zero; i / cols is
 * integer division if both sides are indices, sizes or whole constants. */
#include "gpu/spec/integer_expression.h"
#include "gpu/tensor/tensor_type.h"

struct value_expression;

struct value_input {
    const char *name;
    enum tensor_type type;
    const void *data;
    uint64_t count;
};
/* A scalar argument as the kernel gets it, rounded to its type. */
struct value_scalar {
    const char *name;
    double value;
    bool whole; /* of an integer type */
};
struct value_inputs {
    const struct value_input *list;
    size_t count;
    const struct value_scalar *scalars;
    size_t scalar_count;
};

/* Names are resolved when it is parsed: sizes and inputs of one case; of a size and a
 * scalar of one name it is the size. -EINVAL with a sentence that lists the known names. inputs and sizes are borrowed for the expression's life. */
int value_expression_new(struct value_expression **ret, const char *text,
                         const struct size_values *sizes,
                         const struct value_inputs *inputs, struct err *err);
void value_expression_free(struct value_expression *e);
struct value_budget {
    uint64_t steps;        /* counted down; a step takes some nanoseconds */
    bool (*stopped)(void); /* called every few thousand steps; NULL: never stopped */
    /* set if an element of an integer buffer, or an intermediate result, exceeded 2^53,
     * above which a double does not represent every integer */
    bool inexact;
};
/* Writes elements [0, count) to ret. -ETIME if the budget is used up or the run was
 * stopped, -ERANGE for an index outside its buffer. */
int value_expression_evaluate(const struct value_expression *e, uint64_t count,
                              double *ret, struct value_budget *budget, struct err *err);

/* One number from sizes only, for a float argument: "n / 2" of integers as in
 * integer_expression, anything else in double precision, "rsqrt(d)". */
int value_expression_number(const char *text, const struct size_values *sizes,
                            double *ret, struct err *err);
