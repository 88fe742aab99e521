#include "gpu/run/self_reference.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { MAX_RENAMED = 256 };

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

/* A word, or a character that is none; empty at the end. */
static struct text next_word(struct text *t) {
    char c = next(t);
    const char *from = c ? t->at - 1 : t->at;
    while (c && is_word(*from) && t->at < t->end && is_word(*t->at)) {
        t->at++;
    }
    return (struct text){from, t->at};
}

static bool equal(struct text a, struct text b) {
    return a.end - a.at == b.end - b.at && !memcmp(a.at, b.at, (size_t)(a.end - a.at));
}

/* Maps the names of one entry to those of the other. */
struct renaming {
    const char *symbols[2];
    struct text names[2][MAX_RENAMED];
    size_t count;
};

static bool begins(struct text word, const char *with) {
    size_t len = strlen(with);
    return (size_t)(word.end - word.at) >= len && !memcmp(word.at, with, len);
}

/* Labels, static variables of functions and what begins with the entry's own name. */
static bool may_be_renamed(struct text word, const char *symbol) {
    return *word.at == '$' || begins(word, "_ZZ") || begins(word, symbol);
}

static bool is_renamed(struct renaming *r, struct text a, struct text b) {
    if (a.at == a.end || b.at == b.end) {
        return a.at == a.end && b.at == b.end;
    }
    for (size_t i = 0; i < r->count; i++) {
        bool same_a = equal(r->names[0][i], a), same_b = equal(r->names[1][i], b);
        if (same_a || same_b) {
            return same_a && same_b;
        }
    }
    if (!may_be_renamed(a, r->symbols[0]) || !may_be_renamed(b, r->symbols[1]) ||
        r->count == MAX_RENAMED) {
        return equal(a, b);
    }
    r->names[0][r->count] = a;
    r->names[1][r->count++] = b;
    return true;
}

static bool is_same(struct text a, struct text b, const char *symbol_a,
                    const char *symbol_b) {
    struct renaming r = {.symbols = {symbol_a, symbol_b}};
    for (;;) {
        struct text x = next_word(&a), y = next_word(&b);
        if (!is_renamed(&r, x, y)) {
            return false;
        }
        if (x.at == x.end) {
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

static struct text whole(const char *ptx) {
    return (struct text){ptx, ptx + strlen(ptx)};
}

bool ptx_entry_is_same(const char *a, const char *symbol_a, const char *b,
                       const char *symbol_b) {
    struct text x, y;
    if (!find_entry(a, symbol_a, &x) || !find_entry(b, symbol_b, &y) ||
        !is_same(x, y, symbol_a, symbol_b)) {
        return false;
    }
    return !calls(&x) || !strcmp(a, b) || is_same(whole(a), whole(b), symbol_a, symbol_b);
}
