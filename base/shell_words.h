#pragma once
/* shell_words: splits a command line like a shell. */
#include "base/json.h"

/* An array of its words. Blanks separate words; ' and " quote blanks; a backslash quotes
 * the next character (within '…' it is literal, within "…" it quotes only " and \).
 * Nothing is expanded. NULL: a quote is not closed. */
json_t *shell_words(const char *text);
