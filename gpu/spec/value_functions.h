#pragma once
/* value_functions: the functions of value expressions (value_expression.h). */
#include "base/mem.h"

struct value_function {
    const char *name;        /* operators are functions too: "+" */
    unsigned args;           /* 1 to 3 */
    bool keeps_whole;        /* integers give an integer */
    bool makes_whole;        /* the result is always an integer */
    double (*one)(double a); /* one of these three */
    double (*two)(double a, double b);
    double (*call)(const double *args);
};
struct value_fold {
    const char *name; /* "sum" */
    double start;
    double (*add)(double so_far, double term);
};
const struct value_function *value_function_find(const char *name, size_t len);
const struct value_fold *value_fold_find(const char *name, size_t len);
/* pi, inf, nan. */
bool value_constant_find(const char *name, size_t len, double *ret);
/* Whether these bytes of a text are the word. */
bool expression_word_is(const char *name, size_t len, const char *word);
