#pragma once
/* builtin_wanted: what an answer must hold that somebody could not give who had only read
 * the question. For the tests that the builtin teacher writes. */
#include <jansson.h>
#include <stddef.h>

/* Append to contains (3 at most) the tokens of a change's new lines that stand neither in
 * its old lines nor in the question. diff: lines that begin with '+' or '-'. */
void wanted_tokens(json_t *contains, const char *diff, const char *asked);
/* The same with a sentence's technical words (2 at most): those with a digit, a capital
 * or one of "_.:-" inside. */
void wanted_terms(json_t *contains, const char *sentence, const char *asked);

/* A change's old lines as they stood, without their marks, indented as code. Freed by the
 * caller. */
char *wanted_old_lines(const char *diff);
size_t wanted_new_lines(const char *diff); /* how many */
