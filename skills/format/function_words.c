#include "skills/format/function_words.h"

#include "skills/function_words_table.h"

static int compare(const void *key, const void *element) {
    return strcmp(key, *(const char *const *)element);
}

bool is_function_word(const char *word) {
    return bsearch(word, function_words, ARRAY_LEN(function_words),
                   sizeof *function_words, compare) != NULL;
}
