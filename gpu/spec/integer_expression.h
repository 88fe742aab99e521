#pragma once
/* integer_expression: sizes and launches as arithmetic over names.
 *
 *   expression = integers, names, + - * / % ( ), ceil_div(a, b), min(a, b, …),
 *   max(a, b, …); / and % round toward zero as in C.
 * Evaluated in signed 64 bits; an overflow, a division by zero and an unknown name are
 * errors that quote the expression. */
#include "base/mem.h"

#define INTEGER_EXPRESSION_MAX 1024 /* bytes */

struct size_value {
    const char *name;
    int64_t value;
};
/* The sizes of one case. */
struct size_values {
    const struct size_value *list;
    size_t count;
};

/* -EINVAL with a sentence ("cannot evaluate 'rows / cols': division by zero"). */
int integer_expression(const char *text, const struct size_values *sizes, int64_t *ret,
                       struct err *err);
/* Whether it can be evaluated and one of its divisions leaves a remainder. */
bool integer_expression_rounds(const char *text, const struct size_values *sizes);
/* Whether it requires multiples: one of its divisions leaves no remainder ("n / 4",
 * unlike "(n + 255) / 256"), it has a '%', or it cannot be evaluated. */
bool integer_expression_divides(const char *text, const struct size_values *sizes);
