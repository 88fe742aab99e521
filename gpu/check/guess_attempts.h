#pragma once
/* guess_attempts: compilations of a source whose instantiations were guessed.
 *
 * When the first choice of types (gpu/source/host_guesses.h) does not compile, the others
 * are tried in turn, and the first that compiles makes the answer. When none does, errors
 * that all of them have, word for word, are the source's own and alone are told; but
 * nothing that the compiler finds only with a template's arguments, no failed assertions,
 * which ask for types without naming them, and nothing that stands in the guess itself.
 * Without such errors the source is compiled without the guesses. What was guessed and
 * why it did not compile is then a finding that calls nothing wrong.
 *
 * What host code asks for may also be more than the compiler is given time for: then the
 * source is compiled without what stands behind its last line (gpu/source/host_behind.h),
 * and a finding says so. */
#include "gpu/check/check_input.h"

struct guess_attempts {
    unsigned choice; /* that is compiled, or was last */
    json_t *error;   /* the first choice's first error; NULL when it compiled */
    json_t *common;  /* errors that every choice had so far */
    bool shortened;  /* without what stands behind the last line */
};

/* With the answer to the attempt: true when another is to be compiled, which the input's
 * sources then hold. Inputs of the same key may take turns. */
bool guess_attempts_next(struct guess_attempts *a, struct check_input *input,
                         const json_t *answer);
/* After that said false: puts the sources that the last answer is about into the input.
 * The answer without what only the guess brought, a new reference; NULL: as it is. */
json_t *guess_attempts_settle(const struct guess_attempts *a, struct check_input *input,
                              const json_t *last);
/* What is to be told of the guesses: a new reference, NULL when there is nothing. */
json_t *guess_attempts_note(const struct guess_attempts *a,
                            const struct check_input *input, const json_t *last);
/* Whether the arguments of a template may be what is wrong. */
bool guess_may_cause(const json_t *finding);
void guess_attempts_finish(struct guess_attempts *a);
