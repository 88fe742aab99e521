#include "gpu/ptx/read/ptx_reader.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

/* Room doubles at powers of two, so it need not be kept beside each array. */
void *ptx_grow(void *array, size_t count, size_t size) {
    bool full = count < 8 ? count == 0 : (count & (count - 1)) == 0;
    return full ? xreallocarray(array, count < 8 ? 8 : count * 2, size) : array;
}

/* "k.cu:12", if the CUDA source of the current line is known. `.file` is at the end of
 * the text, so it is searched there. */
static const char *source_place(struct ptx_reader *r, char *out, size_t size) {
    if (r->place == 0 || r->function < 0) {
        return NULL;
    }
    const struct ptx_place *place = &r->m->places[r->place];
    char word[32];
    int len = snprintf(word, sizeof word, ".file\t%u \"", place->file);
    const char *at = memmem(r->m->text, r->m->len, word, (size_t)len);
    if (!at) {
        return NULL;
    }
    const char *name = at + len;
    size_t name_len = strcspn(name, "\"\n");
    snprintf(out, size, "%.*s:%u", name_len > 200 ? 200 : (int)name_len, name,
             place->line);
    return out;
}

__attribute__((format(printf, 4, 0))) static bool
fail(struct ptx_reader *r, uint32_t line, int code, const char *fmt, va_list args) {
    if (r->code) {
        return false;
    }
    r->code = code;
    char words[256], place[256];
    vsnprintf(words, sizeof words, fmt, args);
    const char *source = source_place(r, place, sizeof place);
    if (source) {
        err_set(r->err, code, "line %u: %s (from %s)", line, words, source);
    } else {
        err_set(r->err, code, "line %u: %s", line, words);
    }
    return false;
}

bool ptx_fail(struct ptx_reader *r, int code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fail(r, r->token.line, code, fmt, args);
    va_end(args);
    return false;
}

bool ptx_fail_at(struct ptx_reader *r, uint32_t line, int code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fail(r, line, code, fmt, args);
    va_end(args);
    return false;
}

bool ptx_fail_expected(struct ptx_reader *r, const char *what) {
    struct ptx_token t = r->token;
    if (t.kind == PTX_TOKEN_END) {
        return ptx_fail(r, -EINVAL, "expected %s, but the text ends", what);
    }
    if (t.kind == PTX_TOKEN_STRING) {
        return ptx_fail(r, -EINVAL, "expected %s, got a string", what);
    }
    bool word = t.kind == PTX_TOKEN_WORD;
    return ptx_fail(r, -EINVAL, "expected %s, got '%s%.*s'", what, word ? "." : "",
                    ptx_shown(t), ptx_spelling(r, t));
}

void ptx_next(struct ptx_reader *r) {
    r->token = ptx_lexer_next(&r->lexer);
    if (r->token.kind == PTX_TOKEN_BAD) {
        ptx_fail(r, -EINVAL, "this is not PTX: %s",
                 r->token.len > 1 ? "a string does not end" : "a stray byte or comment");
    }
}

bool ptx_at(const struct ptx_reader *r, int kind) {
    return r->token.kind == kind;
}

bool ptx_accept(struct ptx_reader *r, int kind) {
    if (r->token.kind != kind) {
        return false;
    }
    ptx_next(r);
    return true;
}

bool ptx_expect(struct ptx_reader *r, int kind) {
    if (ptx_accept(r, kind)) {
        return r->code == 0;
    }
    char what[4] = {'\'', (char)kind, '\'', '\0'};
    return ptx_fail_expected(r, kind == PTX_TOKEN_NAME     ? "a name"
                                : kind == PTX_TOKEN_STRING ? "a string"
                                : kind < 128               ? what
                                                           : "something else");
}

bool ptx_skip_pragma(struct ptx_reader *r) {
    while (!r->code && !ptx_at(r, ';') && !ptx_at(r, PTX_TOKEN_END)) {
        ptx_next(r);
    }
    return ptx_expect(r, ';');
}

static bool is_text(const struct ptx_reader *r, int kind, const char *text) {
    size_t len = strlen(text);
    return r->token.kind == kind && r->token.len == len &&
           memcmp(r->lexer.text + r->token.at, text, len) == 0;
}

bool ptx_at_word(const struct ptx_reader *r, const char *word) {
    return is_text(r, PTX_TOKEN_WORD, word);
}

bool ptx_at_name(const struct ptx_reader *r, const char *name) {
    return is_text(r, PTX_TOKEN_NAME, name);
}

const char *ptx_spelling(const struct ptx_reader *r, struct ptx_token t) {
    return r->lexer.text + t.at;
}

int ptx_shown(struct ptx_token t) {
    return t.len > 80 ? 80 : (int)t.len;
}

/* Names live in chunks: there are a thousand constants in a text that uses one. */
struct ptx_names {
    struct ptx_names *next;
    size_t used, room;
    char bytes[];
};
#define NAMES_ROOM 65536

char *ptx_name_keep(struct ptx_reader *r, struct ptx_token t) {
    struct ptx_names *n = r->m->names;
    if (!n || n->room - n->used < t.len + 1) {
        size_t room = t.len + 1 > NAMES_ROOM ? t.len + 1 : NAMES_ROOM;
        n = xmalloc(sizeof *n + room);
        *n = (struct ptx_names){.next = r->m->names, .room = room};
        r->m->names = n;
    }
    char *name = n->bytes + n->used;
    memcpy(name, ptx_spelling(r, t), t.len);
    name[t.len] = '\0';
    n->used += t.len + 1;
    return name;
}

void ptx_names_free(struct ptx_names *n) {
    while (n) {
        struct ptx_names *next = n->next;
        free(n);
        n = next;
    }
}

struct ptx_symbol *ptx_declare(struct ptx_reader *r, struct ptx_token name, int kind) {
    struct ptx_scopes *scopes = r->function < 0 ? &r->module_scope : &r->scope;
    if (scopes->count >= PTX_MAX_SYMBOLS) {
        ptx_fail(r, -EFBIG, "more than %u names", PTX_MAX_SYMBOLS);
        return NULL;
    }
    struct ptx_symbol *old;
    struct ptx_symbol *symbol = ptx_symbol_add(scopes, name.at, name.len, kind, &old);
    if (!symbol) {
        ptx_fail_at(r, name.line, -EINVAL, "'%.*s' is declared twice", ptx_shown(name),
                    ptx_spelling(r, name));
    }
    return symbol;
}

struct ptx_symbol *ptx_resolve(struct ptx_reader *r, struct ptx_token name,
                               uint32_t *ret_number) {
    *ret_number = 0;
    struct ptx_symbol *symbol = NULL;
    if (r->function >= 0) {
        symbol = ptx_symbol_find_numbered(&r->scope, r->scope.current,
                                          ptx_spelling(r, name), name.len, ret_number);
    }
    return symbol ? symbol
                  : ptx_symbol_find(&r->module_scope, r->module_scope.current,
                                    ptx_spelling(r, name), name.len);
}
