#include "gpu/source/python_strings.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>

#define TORCH_INCLUDE "#include <torch/extension.h>"

bool python_strings_is_script(const char *name) {
    size_t len = strlen(name);
    return len > 3 && strcmp(name + len - 3, ".py") == 0;
}

/* A string literal: [start, end) with prefix and quotes, [from, to) without. */
struct literal {
    size_t start, from, to, end;
    bool triple, raw, formatted;
};

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void read_prefix(const char *text, size_t quote, struct literal *l) {
    l->start = quote;
    while (l->start > 0 && quote - l->start < 2 && text[l->start - 1] &&
           strchr("rRbBuUfF", text[l->start - 1])) {
        l->start--;
    }
    if (l->start > 0 && is_word(text[l->start - 1])) {
        l->start = quote; /* the end of a name */
    }
    for (size_t i = l->start; i < quote; i++) {
        l->raw |= tolower((unsigned char)text[i]) == 'r';
        l->formatted |= tolower((unsigned char)text[i]) == 'f';
    }
}

/* The literal whose first quote is at `quote`. One that does not end, ends its line or,
 * with three quotes, the text. */
static struct literal read_literal(const char *text, size_t len, size_t quote) {
    struct literal l = {0};
    char q = text[quote];
    l.triple = quote + 2 < len && text[quote + 1] == q && text[quote + 2] == q;
    read_prefix(text, quote, &l);
    size_t quotes = l.triple ? 3 : 1, at = quote + quotes;
    l.from = at;
    for (; at < len; at++) {
        if (text[at] == '\\') {
            at++;
        } else if (text[at] == '\n' && !l.triple) {
            break;
        } else if (text[at] == q && (!l.triple || (at + 2 < len && text[at + 1] == q &&
                                                   text[at + 2] == q))) {
            l.to = at;
            l.end = at + quotes;
            return l;
        }
    }
    l.to = l.end = at < len ? at : len;
    return l;
}

/* The first literal at or after *at, which moves behind it. Comments have none. */
static bool next_literal(const char *text, size_t len, size_t *at, struct literal *ret) {
    for (; *at < len; ++*at) {
        if (text[*at] == '#') {
            const char *line_end = memchr(text + *at, '\n', len - *at);
            *at = line_end ? (size_t)(line_end - text) : len - 1;
        } else if (text[*at] == '"' || text[*at] == '\'') {
            *ret = read_literal(text, len, *at);
            *at = ret->end > *at ? ret->end : *at + 1;
            return true;
        }
    }
    return false;
}

static bool holds(const char *text, size_t from, size_t to, const char *word) {
    return from < to && memmem(text + from, to - from, word, strlen(word));
}

static bool is_cuda(const char *text, const struct literal *l) {
    return l->triple && (holds(text, l->from, l->to, "__global__") ||
                         holds(text, l->from, l->to, "__device__"));
}

static void blank(char *text, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (text[i] != '\n' && text[i] != '\r') {
            text[i] = ' ';
        }
    }
}

/* What Python makes of two characters, the first of which it drops. */
static void unescape(char *text, const struct literal *l) {
    for (size_t i = l->from; i + 1 < l->to; i++) {
        bool slashes = !l->raw && text[i] == '\\' && text[i + 1] == '\\';
        bool braces =
            l->formatted && text[i] == text[i + 1] && text[i] && strchr("{}", text[i]);
        if (slashes || braces) {
            text[i++] = ' ';
        }
    }
}

/* Into the first blanked line before the kernels that is long enough. */
static void write_torch_include(char *text, size_t end) {
    for (size_t at = 0; at < end;) {
        const char *newline = memchr(text + at, '\n', end - at);
        size_t line_end = newline ? (size_t)(newline - text) : end;
        if (newline && line_end - at >= strlen(TORCH_INCLUDE)) {
            memcpy(text + at, TORCH_INCLUDE, strlen(TORCH_INCLUDE));
            return;
        }
        at = line_end + 1;
    }
}

void python_strings_keep_cuda(char *text, size_t len) {
    bool inlines = holds(text, 0, len, "load_inline");
    size_t at = 0, kept_end = 0, first = len;
    struct literal l;
    while (next_literal(text, len, &at, &l)) {
        if (is_cuda(text, &l)) {
            blank(text, kept_end, l.from);
            unescape(text, &l);
            kept_end = l.to;
            first = first < l.start ? first : l.start;
        }
    }
    blank(text, kept_end, len);
    if (inlines && first < len) {
        write_torch_include(text, first);
    }
}
