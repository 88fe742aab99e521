#pragma once
/* host_walk: host functions, token by token, and what macros in them expand to: which
 * kernels they name and which host templates they call. Part of host_code.
 *
 * A kernel's expression that depends on nothing but constants is ready; one in a host
 * template's own parameters waits for that template's callers, whom another walk looks
 * for. */
#include "gpu/source/host_bindings.h"
#include "gpu/source/host_blanker.h"
#include "gpu/source/host_macros.h"
#include "gpu/source/host_parameters.h"

#define WALK_NESTED_MAX 6 /* macros that expand to macros */

struct template_kernel {
    uint64_t name;
    const struct declaration *declaration;
};

struct collector {
    const struct host_blanker *b;
    struct host_launches *ready;
    struct host_launches waiting; /* expressions in a host template's own parameters */
    size_t base;                  /* what stands before it is other files' */
    struct host_macros macros;
    unsigned expansions; /* made so far */
    unsigned answers;    /* calls looked into so far */
    size_t groups;       /* tokens of macros' arguments looked at so far */
    size_t looked;       /* tokens looked at for the types of calls' arguments */
    struct template_kernel *kernels;
    size_t kernel_count;
};

/* A walk over a host function, or over what a macro in it expands to. */
struct walk {
    struct collector *c;
    const struct code_tokens *t;
    size_t from, to;
    size_t index;  /* of the declaration it is in */
    size_t offset; /* of the macro's use in the source; SIZE_MAX in the source itself */
    unsigned depth;
    const struct walk *outer; /* that the macro's use was met in, NULL at depth 0 */
    struct bindings *names;
    const struct host_launch *waiting; /* whose callers are looked for; NULL: kernels */
};

/* The first template kernel of this name; NULL when there is none. */
const struct declaration *collector_kernel(const struct collector *c, uint64_t name);
/* Takes the expression; what there is no room for is dropped. */
void launches_add(struct host_launches *l, struct host_launch launch);
/* waiting: whose callers are looked for; NULL: kernels are. */
void walk_declaration(struct collector *c, size_t index,
                      const struct host_launch *waiting);

/* "<float, 4>" of a call of a template at token i: what it says and what its arguments
 * tell; NULL when that is not all. launches: it is a kernel's. Malloc'ed. */
char *walk_template_arguments(struct walk *w, const struct declaration *callee, size_t i,
                              bool launches);
/* Binds a template's parameters to the arguments in such a text, and to their defaults.
 */
void walk_bind_answers(struct collector *c, const char *text,
                       const struct template_parameters *parameters,
                       struct bindings *ret);
