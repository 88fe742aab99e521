/* Names with the scopes that they stand in. */
#include "base/mem.h"
#include "gpu/source/host_blanker.h"

#include <string.h>

static void append(char **s, const char *bytes, size_t len) {
    size_t old = *s ? strlen(*s) : 0;
    *s = xrealloc(*s, old + len + 1);
    memcpy(*s + old, bytes, len);
    (*s)[old + len] = '\0';
}

static void append_scope(const struct host_blanker *b, size_t scope, char **s) {
    size_t path[64], n = 0;
    for (; scope != SIZE_MAX && n < ARRAY_LEN(path);
         scope = b->declarations.scopes[scope].parent) {
        path[n++] = scope;
    }
    while (n > 0) {
        const struct name_scope *sc = &b->declarations.scopes[path[--n]];
        for (size_t i = sc->name; i < sc->name_end; i++) {
            const struct code_token *t = &b->tokens.list[i];
            if (t->word == WORD_NAME || t->word == WORD_SCOPE) {
                append(s, b->tokens.text + t->start, t->end - t->start);
            }
        }
        if (sc->name_end > sc->name) {
            append(s, "::", 2);
        }
    }
}

char *host_scope_name(const struct host_blanker *b, size_t scope) {
    char *s = xstrdup("");
    append_scope(b, scope, &s);
    return s;
}

char *host_qualified_name(const struct host_blanker *b, const struct declaration *d) {
    char *s = host_scope_name(b, d->scope);
    size_t first = d->name;
    while (first >= 2 && first - 2 > d->first &&
           b->tokens.list[first - 1].word == WORD_SCOPE &&
           b->tokens.list[first - 2].word == WORD_NAME) {
        first -= 2;
    }
    for (size_t i = first; i <= d->name; i++) {
        const struct code_token *t = &b->tokens.list[i];
        append(&s, b->tokens.text + t->start, t->end - t->start);
    }
    return s;
}
