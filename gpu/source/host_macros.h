#pragma once
/* host_macros: the function-like macros through which host code launches kernels, and
 * their expansion. Part of host_code. */
#include "gpu/source/host_tokens.h"

#define HOST_MACROS_MAX 512
#define HOST_MACRO_PARAMETERS_MAX 16

struct host_macro {
    uint64_t name;
    size_t offset; /* of its #define; 0 if that is in another file */
    uint64_t parameters[HOST_MACRO_PARAMETERS_MAX];
    size_t parameter_count; /* including the variadic one, which is last */
    bool variadic;
    bool launches; /* its body contains <<<, or an earlier macro whose body does */
    char *body;
    unsigned uses; /* counted by the code that expands them */
};

struct host_macros {
    struct host_macro list[HOST_MACROS_MAX];
    size_t count;
    /* a bit for the low bits of each name: a quick test, since most names are not
     * macros */
    uint64_t named[64];
};

/* Adds the macros that t defines, except those without room, with a long body, or whose
 * expansion cannot contain a declaration or a launch. */
void host_macros_read(struct host_macros *m, const struct code_tokens *t);
/* Adds copies of `from` as macros of another file, and leaves room for the file's own. */
void host_macros_copy(struct host_macros *m, const struct host_macros *from);
void host_macros_finish(struct host_macros *m);

/* The latest macro of this name defined before offset `at`; NULL if there is none. */
struct host_macro *host_macros_find(struct host_macros *m, uint64_t name, size_t at);
/* The expansion of a use with its arguments between the parentheses `open` and `close`,
 * on one line; NULL if it grows too long. */
char *host_macro_expand(const struct host_macro *m, const struct code_tokens *t,
                        size_t open, size_t close);
