#pragma once
/* host_program: static analysis of a source's host code: from a launch to the functions
 * that lead to it, and from a name to the expression that gives its value there.
 *
 * It considers only the text: a function's first caller, the first iteration of a loop,
 * a variable as its own function sets it before, macros and constants. A conditional
 * assignment is ignored; a variable whose address was taken, or that is incremented, is
 * unknown. Bounded; never fails: values that it cannot follow are unknown.
 *
 * With `certain` it knows less: only values that are the same in every execution. Then
 * parameters and code in an #if are unknown, and so are variables that are written twice
 * and non-constant globals. */
#include "gpu/source/host_blanker.h"

struct host_frame;

/* Tokens [from, to) of t, read as they would be at token `before` of frame's function. */
struct place {
    const struct host_frame *frame;
    const struct code_tokens *t;
    size_t from, to, before;
};

/* A function as called at `at`. */
struct host_frame {
    const struct declaration *in; /* NULL: outside of functions */
    bool called;                  /* it has a caller: `at` */
    struct place at;              /* from: the callee's name */
};

#define HOST_LOOKED_MAX (1u << 26) /* tokens for all questions about a program */

struct host_program {
    struct host_blanker b;
    bool certain; /* see above */
    char *text;
    size_t own;                    /* where the last file begins in it */
    size_t looked;                 /* tokens so far, for all questions */
    struct code_tokens *expanded;  /* the expansions of macros; owns their texts */
    bool *active;                  /* host_conditions.h: for each token */
    struct host_frame **functions; /* by declaration, created on demand */
    struct host_frame **frames;
    size_t expanded_count, frame_count;
};

/* files: the texts in order, the analysed one last. False: too large. */
bool host_program_init(struct host_program *p, const char *const *files,
                       const size_t *lens, size_t count, bool certain);
void host_program_finish(struct host_program *p);

/* The ) ] or } that matches token i; t->count: none. */
size_t host_close(const struct code_tokens *t, size_t i);
/* The nth part of a comma-separated list, from 0. False: there is no such part. */
bool host_part(const struct place *list, size_t n, struct place *ret);
/* The place between the brackets of which token i of at->t is the opening one. */
struct place host_inside(const struct place *at, size_t i);

/* The frame of the function that contains token i; outside functions, one without `in`.
 */
const struct host_frame *host_frame_at(struct host_program *p, size_t i);
/* The kernel or host function, with a body, that the name at token i of t refers to;
 * NULL: there is none. */
const struct declaration *host_function_find(const struct host_program *p,
                                             const struct code_tokens *t, size_t i);
/* The function `in` as called at `at` (from: its name; a '(' follows). */
const struct host_frame *host_frame_call(struct host_program *p,
                                         const struct declaration *in,
                                         const struct place *at);
/* The '(' of a call of the name at token i, after its template arguments; 0: none. */
size_t host_call_paren(const struct code_tokens *t, size_t i);
