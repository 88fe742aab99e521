#pragma once
/* launch_types: deduces the template arguments that a call leaves out. Part of host_code.
 * Uses only plain declarations of the host function: "float *x, *y;", "int n = 4", its
 * own parameters, casts, literals and data_ptr<T>(). */
#include "gpu/source/host_parameters.h"

#define LAUNCH_TYPES_LOOKED_MAX (1u << 22) /* tokens for all calls of a file */

struct bindings;

/* Where the variables in a call's arguments may be declared: before the call in a macro's
 * expansion, then in the surrounding text. */
struct launch_scope {
    const struct code_tokens *t;
    /* params: the '(' of the function's own parameters, 0 if none */
    size_t params, from, to;
    const struct launch_scope *outer;
};

/* ", "-separated types for the parameters of `callee` from `given` on, without those that
 * have a default and cannot be deduced. open: the '(' of the call, in scope->t. looked:
 * tokens examined so far. NULL if one is not clearly known. */
char *launch_types_deduce(const struct code_tokens *own, const struct declaration *callee,
                          size_t given, const struct launch_scope *scope, size_t open,
                          const struct bindings *names, size_t *looked);
