#pragma once
/* shell_words: a command line as a shell reads it. */
#include "base/json.h"

/* Its words, an array of strings: blanks part them, ' and " keep blanks, a backslash
 * takes the next character as it is (between ' it means itself, between " it does so
 * before " and \ alone). Nothing is expanded. NULL: a quote is not closed. */
json_t *shell_words(const char *text);
