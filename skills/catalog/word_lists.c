/* What words weigh before any index has counted them (words.txt). */
#include "skills/catalog/key_phrases.h"
#include "skills/format/function_words.h"
#include "skills/words_table.h"

#define GENERIC_WEIGHT 0.35
#define EVERYDAY_WEIGHT 0.3

static int compare(const void *key, const void *element) {
    return strcmp(key, *(const char *const *)element);
}

static bool is_in(const char *word, const char *const *list, size_t count) {
    return bsearch(word, list, count, sizeof *list, compare) != NULL;
}

double word_weight(const char *word) {
    if (is_function_word(word)) {
        return 0;
    }
    return is_in(word, generic_words, ARRAY_LEN(generic_words))     ? GENERIC_WEIGHT
           : is_in(word, everyday_words, ARRAY_LEN(everyday_words)) ? EVERYDAY_WEIGHT
                                                                    : 1;
}

bool word_is_product(const char *word) {
    return is_in(word, product_words, ARRAY_LEN(product_words));
}

static bool is_among(const char *word, const char *row) {
    size_t len = strlen(word);
    for (size_t n; *row; row += n + (row[n] == ' ')) {
        n = strcspn(row, " ");
        if (n == len && memcmp(row, word, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool share_row(const char *const *rows, const char *a, const char *b) {
    for (; *rows; rows++) {
        if (is_among(a, *rows) && is_among(b, *rows)) {
            return true;
        }
    }
    return false;
}

bool words_are_rivals(const char *a, const char *b) {
    return strcmp(a, b) != 0 && share_row(rivals, a, b);
}

bool words_are_aliases(const char *a, const char *b) {
    return strncmp(a, b, strlen(a)) == 0 || strncmp(a, b, strlen(b)) == 0 ||
           share_row(aliases, a, b);
}
