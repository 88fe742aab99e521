#include "gpu/source/kernel_name.h"

const char *kernel_plain_name(const char *name, size_t *ret_len) {
    size_t len = strcspn(name, "<("), start = len;
    while (start > 0 && name[start - 1] != ':') {
        start--;
    }
    *ret_len = len - start;
    return name + start;
}

bool kernel_same_plain_name(const char *a, const char *b) {
    size_t a_len, b_len;
    const char *a_name = kernel_plain_name(a, &a_len),
               *b_name = kernel_plain_name(b, &b_len);
    return a_len == b_len && memcmp(a_name, b_name, a_len) == 0;
}

bool kernel_name_ends_with(const char *name, const char *tail) {
    size_t len = strcspn(tail, "<("), have = strcspn(name, "<(");
    return have >= len && memcmp(name + have - len, tail, len) == 0 &&
           (have == len || name[have - len - 1] == ':');
}

/* Behind blanks, and behind the & that a function's name as an argument may have. */
static const char *next_letter(const char *at, char before) {
    at += strspn(at, " ");
    bool first = before == '<' || before == ',';
    return first && *at == '&' ? at + 1 : at;
}

bool kernel_spelt_alike(const char *a, const char *b) {
    for (char before = 0;; before = *a, a++, b++) {
        a = next_letter(a, before);
        b = next_letter(b, before);
        if (!*a || *a != *b) {
            return *a == *b;
        }
    }
}
