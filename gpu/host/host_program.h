#pragma once
/* host_program: the host code of a source as far as it can be followed without running
 * it: from a launch to the functions that lead to it, and from a name to the expression
 * that gives it its value there.
 *
 * Only what stands in the text counts: the first of a function's callers, the first turn
 * of a loop, a variable as its own function sets it before, macros and constants. A value
 * that an if may change afterwards keeps the one from before it; whose address was taken,
 * or that is added to, is not known. Bounded; never fails: what cannot be followed is not
 * found.
 *
 * Who asks for certainty gets less: only what has one value whoever runs the code. A
 * parameter and what stands in an #if are not known then, nor is a variable that is
 * written twice, nor one outside of functions that is no constant. */
#include "gpu/source/host_blanker.h"

struct host_frame;

/* Tokens [from, to) of t, read as they would be at token `before` of frame's function. */
struct place {
    const struct host_frame *frame;
    const struct code_tokens *t;
    size_t from, to, before;
};

/* A function in its course, called at token `call` (the callee's name) of `at`. */
struct host_frame {
    const struct declaration *in; /* NULL: outside of functions */
    bool called;                  /* somebody calls it: `at` says who */
    struct place at;              /* from: the callee's name */
};

#define HOST_LOOKED_MAX (1u << 26) /* tokens for all questions about a program */

struct host_program {
    struct host_blanker b;
    bool certain; /* see above */
    char *text;
    size_t own;                    /* where the last file begins in it */
    size_t looked;                 /* tokens so far, for all questions */
    struct code_tokens *expanded;  /* what macros stand for; their texts are ours */
    bool *active;                  /* host_conditions.h: for each token */
    struct host_frame **functions; /* by their declarations, as they were asked for */
    struct host_frame **frames;
    size_t expanded_count, frame_count;
};

/* files: the texts, one behind the other, the one that is asked about last. False: too
 * large. */
bool host_program_init(struct host_program *p, const char *const *files,
                       const size_t *lens, size_t count, bool certain);
void host_program_finish(struct host_program *p);

/* The ) ] or } that closes what token i opens; t->count: none does. */
size_t host_close(const struct code_tokens *t, size_t i);
/* The n'th part of a list with commas, from 0 on. False: there is no such part. */
bool host_part(const struct place *list, size_t n, struct place *ret);
/* The place between the brackets that token i of at->t opens. */
struct place host_inside(const struct place *at, size_t i);

/* The frame of the function around token i; outside of functions one without `in`. */
const struct host_frame *host_frame_at(struct host_program *p, size_t i);
/* A function's own kernel or host function by its name at token i of t, with a body;
 * NULL: there is none. */
const struct declaration *host_function_find(const struct host_program *p,
                                             const struct code_tokens *t, size_t i);
/* The function `in` as called at `at` (from: its name; a '(' follows). */
const struct host_frame *host_frame_call(struct host_program *p,
                                         const struct declaration *in,
                                         const struct place *at);
/* The '(' of a call of the name at token i, behind its template arguments; 0: none. */
size_t host_call_paren(const struct code_tokens *t, size_t i);
