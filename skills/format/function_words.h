#pragma once
/* function_words: English words that say nothing alone, such as "the" and "should". */
#include "base/mem.h"

bool is_function_word(const char *word); /* in lower case */
