#pragma once
/* host_walk: reads host functions token by token, with the expansions of macros in them,
 * and finds the kernels they name and the host templates they call. Part of host_code. A
 * kernel's expression that depends only on constants is ready; one with a host template's
 * own parameters waits for that template's callers, which another walk finds. */
#include "gpu/source/host_bindings.h"
#include "gpu/source/host_blanker.h"
#include "gpu/source/host_macros.h"
#include "gpu/source/host_parameters.h"

#define WALK_NESTED_MAX 6 /* depth of macros that expand to macros */

struct template_kernel {
    uint64_t name;
    const struct declaration *declaration;
};

struct collector {
    const struct host_blanker *b;
    struct host_launches *ready;
    /* expressions that contain a host template's own parameters */
    struct host_launches waiting;
    size_t base; /* text before it belongs to other files */
    struct host_macros macros;
    unsigned expansions; /* so far */
    unsigned answers;    /* calls examined so far */
    size_t groups;       /* tokens of macros' arguments examined so far */
    size_t looked;       /* tokens examined for the types of calls' arguments */
    struct template_kernel *kernels;
    size_t kernel_count;
};

/* A walk over a host function, or over the expansion of a macro in it. */
struct walk {
    struct collector *c;
    const struct code_tokens *t;
    size_t from, to;
    size_t index;  /* of the declaration that contains it */
    size_t offset; /* of the macro's use in the source; SIZE_MAX in the source itself */
    unsigned depth;
    /* the walk that contains the macro's use, NULL at depth 0 */
    const struct walk *outer;
    struct bindings *names;
    /* the launch whose callers it looks for; NULL: it looks for kernels */
    const struct host_launch *waiting;
};

/* The first template kernel of this name; NULL if there is none. */
const struct declaration *collector_kernel(const struct collector *c, uint64_t name);
/* Takes ownership of the expression; drops it if there is no room. */
void launches_add(struct host_launches *l, struct host_launch launch);
/* waiting: the launch whose callers it looks for; NULL: it looks for kernels. */
void walk_declaration(struct collector *c, size_t index,
                      const struct host_launch *waiting);

/* The template arguments "<float, 4>" of a call at token i, given explicitly or deduced
 * from its arguments; NULL if not all are known. launches: the call launches a kernel.
 * Malloc'ed. */
char *walk_template_arguments(struct walk *w, const struct declaration *callee, size_t i,
                              bool launches);
/* Binds a template's parameters to the template arguments in such a text, and to their
 * defaults. */
void walk_bind_answers(struct collector *c, const char *text,
                       const struct template_parameters *parameters,
                       struct bindings *ret);
