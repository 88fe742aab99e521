#pragma once
/* builtin_words: a command's words, as tests and recipes of the builtin teacher look at
 * them. Pure. */
#include <stdbool.h>
#include <stddef.h>

#define WORDS_MAX 48

struct words {
    char *list[WORDS_MAX];
    size_t count;
};
/* Separated by blanks and quotes; those behind the last are left out. */
void words_read(struct words *w, const char *text);
void words_free(struct words *w);
/* A regular expression for the word as a whole; malloc'ed. */
char *word_regex(const char *word);

/* Some part of the command line publishes, sends, deploys or deletes. What was right
 * once, when somebody had asked for it, is no step for everybody. */
bool command_reaches_out(const char *command);
