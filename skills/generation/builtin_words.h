#pragma once
/* builtin_words: splits a command into words for the tests and recipes of the builtin
 * teacher. Pure. */
#include "base/mem.h"

#define WORDS_MAX 48

struct words {
    char *list[WORDS_MAX];
    size_t count;
};
/* Separated by blanks and quotes; words beyond the limit are dropped. */
void words_read(struct words *w, const char *text);
void words_free(struct words *w);
/* A regular expression for the word as a whole; malloc'ed. */
char *word_regex(const char *word);

/* Whether some part of the command line publishes, sends, deploys or deletes. Such a
 * command was requested once; it is not a step for everybody. */
bool command_reaches_out(const char *command);
