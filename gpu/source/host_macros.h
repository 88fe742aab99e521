#pragma once
/* host_macros: the function-like macros that host code launches kernels through, and what
 * a use of one becomes. Part of host_code. */
#include "gpu/source/host_tokens.h"

#include <stdbool.h>

#define HOST_MACROS_MAX 512
#define HOST_MACRO_PARAMETERS_MAX 16

struct host_macro {
    uint64_t name;
    size_t offset; /* of its #define; 0 where that is in another file */
    uint64_t parameters[HOST_MACRO_PARAMETERS_MAX];
    size_t parameter_count; /* the variadic one is the last of them */
    bool variadic;
    bool launches; /* its body holds <<<, or a macro before it that does */
    char *body;
    unsigned uses; /* counted by who expands them */
};

struct host_macros {
    struct host_macro list[HOST_MACROS_MAX];
    size_t count;
    uint64_t named[64]; /* a bit for each name's low bits: most names are no macro's */
};

/* Adds the macros that t defines; those without room, with a long body or with nothing
 * that a declaration or a launch can come of are left out. */
void host_macros_read(struct host_macros *m, const struct code_tokens *t);
/* Adds copies of `from`, as macros of another file, and leaves room for the file's own.
 */
void host_macros_copy(struct host_macros *m, const struct host_macros *from);
void host_macros_finish(struct host_macros *m);

/* The macro of this name, as defined last before offset `at`; NULL when it is none. */
struct host_macro *host_macros_find(struct host_macros *m, uint64_t name, size_t at);
/* A use with its arguments between the parentheses `open` and `close`: the body with the
 * arguments in place, in one line; NULL when it grows too long. */
char *host_macro_expand(const struct host_macro *m, const struct code_tokens *t,
                        size_t open, size_t close);
