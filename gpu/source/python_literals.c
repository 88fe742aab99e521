#include "gpu/source/python_literals.h"

#include "base/text.h"

static void read_prefix(const char *text, size_t quote, struct python_literal *l) {
    l->start = quote;
    while (l->start > 0 && quote - l->start < 2 && text[l->start - 1] &&
           strchr("rRbBuUfF", text[l->start - 1])) {
        l->start--;
    }
    if (l->start > 0 && text_is_wide_word(text[l->start - 1])) {
        l->start = quote; /* the end of a name */
    }
    for (size_t i = l->start; i < quote; i++) {
        l->raw |= tolower((unsigned char)text[i]) == 'r';
        l->formatted |= tolower((unsigned char)text[i]) == 'f';
    }
}

/* The literal whose first quote is at `quote`. One that does not end, ends its line or,
 * with three quotes, the text. */
static struct python_literal read_literal(const char *text, size_t len, size_t quote) {
    struct python_literal l = {0};
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

/* Whether nothing but blanks stands before `at` on its line, which continues none. */
static bool begins_line(const char *text, size_t at) {
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) {
        at--;
    }
    if (at > 1 && text[at - 1] == '\n') {
        at -= text[at - 2] == '\r' && at > 2 ? 2 : 1;
        return text[at - 1] != '\\';
    }
    return at == 0 || text[at - 1] == '\n';
}

static bool ends_line(const char *text, size_t len, size_t at) {
    while (at < len && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) {
        at++;
    }
    return at == len || strchr("\n#;", text[at]);
}

bool python_literal_next(struct python_reader *r, struct python_literal *ret) {
    for (; r->at < r->len; r->at++) {
        char c = r->text[r->at];
        if (c == '#') {
            const char *line_end = memchr(r->text + r->at, '\n', r->len - r->at);
            r->at = line_end ? (size_t)(line_end - r->text) : r->len - 1;
        } else if (c == '"' || c == '\'') {
            *ret = read_literal(r->text, r->len, r->at);
            ret->alone = r->depth == 0 && begins_line(r->text, ret->start) &&
                         ends_line(r->text, r->len, ret->end);
            r->at = ret->end > r->at ? ret->end : r->at + 1;
            return true;
        } else if (c && strchr("([{", c)) {
            r->depth++;
        } else if (c && strchr(")]}", c)) {
            r->depth -= r->depth > 0;
        }
    }
    return false;
}

static bool holds(const char *text, size_t from, size_t to, const char *word) {
    return from < to && memmem(text + from, to - from, word, strlen(word));
}

bool python_literal_is_cuda(const char *text, const struct python_literal *l) {
    return l->triple && !l->alone &&
           (holds(text, l->from, l->to, "__global__") ||
            holds(text, l->from, l->to, "__device__"));
}
