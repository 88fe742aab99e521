#pragma once
/* redaction_words: splits a command into words as a shell does: quotes, quotes within the
 * surrounding quotes, backslashes, continued lines. */
#include "skills/traces/redaction_commands.h"

struct word {
    size_t start, end; /* including its quotes */
};
struct command_words {
    const char *s;
    size_t len, end; /* s[end] ended the command */
    struct secret_quote around;
    struct word list[COMMAND_WORDS];
    size_t count;
};

/* Reads the words from s[at] to the end of the command, or of the surrounding quotes,
 * within COMMAND_WORDS and COMMAND_BYTES. w has s, len and around. lines: continue over
 * line ends. */
void command_words_read(struct command_words *w, size_t at, bool lines);
/* The range [start, end) without its surrounding quotes. */
struct word command_word_bare(const struct command_words *w, size_t start, size_t end);
