#pragma once
/* builtin_words: a command's words, as tests and recipes of the builtin teacher look at
 * them. Pure. */
#include "base/json.h"

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
bool words_have(const struct words *w, const char *word); /* to the letter */
/* Looks like a file's name: an ending of up to five characters, no option, nothing that a
 * shell would expand. The disk is not asked. */
bool word_is_file(const char *word);
/* The command with its files called otherwise; malloc'ed. */
char *words_rename_files(const char *command, const char *name);
/* A regular expression for the word as a whole; malloc'ed. */
char *word_regex(const char *word);
/* Appends it to a list of expressions. */
void word_want(json_t *regexes, const char *word);

/* Some part of the command line publishes, sends, deploys or deletes. What was right
 * once, when somebody had asked for it, is no step for everybody. */
bool command_reaches_out(const char *command);
