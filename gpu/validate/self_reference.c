#include "gpu/validate/self_reference.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

struct text {
    const char *at, *end;
};

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* Lines that tell places, not instructions. */
static bool is_place(const struct text *t) {
    static const char *const words[] = {".loc", ".file"};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(t->end - t->at) > len && !strncmp(t->at, words[i], len) &&
            !is_word(t->at[len])) {
            return true;
        }
    }
    return false;
}

static void skip_to_line_end(struct text *t) {
    const char *end = memchr(t->at, '\n', (size_t)(t->end - t->at));
    t->at = end ? end : t->end;
}

/* The next character that means something; '\0' at the end. */
static char next(struct text *t) {
    while (t->at < t->end) {
        bool comment = t->at + 1 < t->end && t->at[0] == '/' && t->at[1] == '/';
        if (isspace((unsigned char)*t->at)) {
            t->at++;
        } else if (comment || is_place(t)) {
            skip_to_line_end(t);
        } else {
            return *t->at++;
        }
    }
    return '\0';
}

static bool is_same(struct text a, struct text b) {
    for (;;) {
        char x = next(&a), y = next(&b);
        if (x != y) {
            return false;
        }
        if (!x) {
            return true;
        }
    }
}

/* From the entry's name to the brace that ends its body. */
static bool find_entry(const char *ptx, const char *symbol, struct text *ret) {
    size_t len = strlen(symbol);
    for (const char *at = ptx; (at = strstr(at, ".entry")); at++) {
        const char *name = at + strlen(".entry");
        name += strspn(name, " \t");
        if (strncmp(name, symbol, len) != 0 || is_word(name[len])) {
            continue;
        }
        int depth = 0;
        for (const char *c = name; *c; c++) {
            depth += (*c == '{') - (*c == '}');
            if (*c == '}' && depth == 0) {
                *ret = (struct text){name, c + 1};
                return true;
            }
        }
        return false;
    }
    return false;
}

static bool calls(const struct text *t) {
    return memmem(t->at, (size_t)(t->end - t->at), "call", 4) != NULL;
}

bool ptx_entry_is_same(const char *a, const char *b, const char *symbol) {
    struct text x, y;
    if (!find_entry(a, symbol, &x) || !find_entry(b, symbol, &y) || !is_same(x, y)) {
        return false;
    }
    return !calls(&x) ||
           is_same((struct text){a, a + strlen(a)}, (struct text){b, b + strlen(b)});
}
