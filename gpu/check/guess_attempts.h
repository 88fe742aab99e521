#pragma once
/* guess_attempts: compiles a source with guessed instantiations.
 *
 * If the first choice of types (gpu/source/host_guesses.h) does not compile, the others
 * are tried in turn, and the first that compiles gives the answer. If none does, only
 * errors that all of them have, word for word, are reported, as the source's own; except
 * errors that depend on a template's arguments, failed assertions, which test types
 * without naming them, and errors in the guess itself. Without such errors the source is
 * compiled without the guesses. A finding that is not an error then says what was guessed
 * and why it did not compile.
 *
 * If the instantiations that host code requests take longer than the compiler's time
 * limit, the source is compiled without those after its last line
 * (gpu/source/host_behind.h), and a finding says so. */
#include "gpu/check/check_input.h"

struct guess_attempts {
    unsigned choice; /* the current choice, or the last one */
    json_t *error;   /* the first choice's first error; NULL if it compiled */
    json_t *common;  /* errors that every choice so far had */
    bool shortened;  /* without the instantiations after the last line */
};

/* Call it with the answer to an attempt: true if another is to be compiled, which is then
 * in the input's sources. Inputs of the same key may take turns. */
bool guess_attempts_next(struct guess_attempts *a, struct check_input *input,
                         const json_t *answer);
/* After guess_attempts_next returned false: puts the sources of the last answer into the
 * input. Returns the answer without findings caused by the guess, a new reference; NULL:
 * unchanged. */
json_t *guess_attempts_settle(const struct guess_attempts *a, struct check_input *input,
                              const json_t *last);
/* The finding about the guesses: a new reference, NULL if there is none. */
json_t *guess_attempts_note(const struct guess_attempts *a,
                            const struct check_input *input, const json_t *last);
/* Whether a template's arguments may be the cause. */
bool guess_may_cause(const json_t *finding);
void guess_attempts_finish(struct guess_attempts *a);
