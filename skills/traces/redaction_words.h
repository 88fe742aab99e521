#pragma once
/* redaction_words: the words of a command, as a shell reads them: quotes, quotes within
 * the quotes that stand around, backslashes, lines that go on. */
#include "skills/traces/redaction_commands.h"

#include <stdbool.h>

struct word {
    size_t start, end; /* with its quotes */
};
struct command_words {
    const char *s;
    size_t len, end; /* s[end] ended what was read */
    struct secret_quote around;
    struct word list[COMMAND_WORDS];
    size_t count;
};

/* The words from s[at] to the end of the command, or of the quotes around it, within
 * COMMAND_WORDS and COMMAND_BYTES. w has s, len and around. lines: also over the ends of
 * lines. */
void command_words_read(struct command_words *w, size_t at, bool lines);
/* What stands in [start, end) without the quotes around it. */
struct word command_word_bare(const struct command_words *w, size_t start, size_t end);
