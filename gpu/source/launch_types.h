#pragma once
/* launch_types: the template arguments that a call leaves to be deduced. Part of
 * host_code.
 *
 * Only what the host function plainly declares counts: "float *x, *y;", "int n = 4",
 * its own parameters, casts, literals and data_ptr<T>(). */
#include "gpu/source/host_parameters.h"

#define LAUNCH_TYPES_LOOKED_MAX (1u << 22) /* tokens of all calls of a file */

struct bindings;

/* Where the variables that a call's arguments name may be declared: up to the call in a
 * macro's expansion, then in what that stands in. */
struct launch_scope {
    const struct code_tokens *t;
    size_t params, from, to; /* params: the '(' of the function's own, 0 when none */
    const struct launch_scope *outer;
};

/* ", "-separated types for the parameters of `callee` from `given` on, those with
 * defaults left out when nothing tells them. open: the '(' of the call, in scope->t.
 * looked: tokens looked at so far. NULL when one is not plainly known. */
char *launch_types_deduce(const struct code_tokens *own, const struct declaration *callee,
                          size_t given, const struct launch_scope *scope, size_t open,
                          const struct bindings *names, size_t *looked);
