#include "gpu/source/python_fields.h"

#include "base/text.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/source/python_literals.h"

static size_t word_end(const char *text, size_t at, size_t to) {
    while (at < to && text_is_word(text[at])) {
        at++;
    }
    return at;
}

/* "$name", "${name}" at `at`: its end; 0 when it is none. */
static size_t dollar_end(const char *text, size_t at, size_t to) {
    size_t name = at + 1 + (at + 1 < to && text[at + 1] == '{');
    size_t end = word_end(text, name, to);
    bool named = text[at] == '$' && end > name && !isdigit((unsigned char)text[name]);
    return named ? end + (name > at + 1 && end < to && text[end] == '}') : 0;
}

/* "%(name)s" */
static size_t percent_end(const char *text, size_t at, size_t to) {
    size_t end = at + 2 < to ? word_end(text, at + 2, to) : at;
    return end + 1 < to && text[at] == '%' && text[at + 1] == '(' && end > at + 2 &&
                   text[end] == ')' && text[end + 1] && strchr("sdifrx", text[end + 1])
               ? end + 2
               : 0;
}

/* "{name", or "{name.x[0]:4}", where braces are the script's. */
static size_t brace_end(const char *text, size_t at, size_t to) {
    if (text[at] != '{' || at + 1 >= to) {
        return 0;
    }
    const char *close = memchr(text + at, '}', to - at);
    size_t end = word_end(text, at + 1, to);
    bool field = close && (end > at + 1 || text[at + 1] == '}') &&
                 !memchr(text + at, '\n', (size_t)(close - text) - at);
    return field ? (size_t)(close - text) + 1 : 0;
}

/* Fields that stand for themselves anywhere but in CUDA's own strings and comments. */
static bool find_marks(const char *text, size_t from, size_t to,
                       struct python_field *ret) {
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, to);
    l.at = from;
    for (struct cuda_token t = cuda_lexer_next(&l); t.kind != CUDA_END;
         t = cuda_lexer_next(&l)) {
        bool literal = t.kind == CUDA_STRING || t.kind == CUDA_CHARACTER;
        for (size_t at = t.start; !literal && at < t.end; at++) {
            size_t end = dollar_end(text, at, to);
            end = end ? end : percent_end(text, at, to);
            if (!end && at + 1 < to && memcmp(text + at, "{%", 2) == 0) {
                end = at + 2;
            }
            if (end) {
                *ret = (struct python_field){at, end};
                return true;
            }
        }
    }
    return false;
}

static bool find_braces(const char *text, const struct python_literal *l,
                        struct python_field *ret) {
    bool doubled = memmem(text + l->from, l->to - l->from, "{{", 2) != NULL;
    for (size_t at = l->from; (l->formatted || doubled) && at < l->to; at++) {
        if (at + 1 < l->to && text[at] == '{' && text[at + 1] == '{') {
            at++;
            continue;
        }
        size_t end = brace_end(text, at, l->to);
        if (end) {
            *ret = (struct python_field){at, end};
            return true;
        }
    }
    return false;
}

static bool is_blank(const char *text, size_t from, size_t to) {
    while (from < to && isspace((unsigned char)text[from])) {
        from++;
    }
    return from == to;
}

bool python_field_find(const char *script, const char *kept, size_t len,
                       struct python_field *ret) {
    struct python_reader reader = {.text = script, .len = len};
    struct python_literal l;
    while (python_literal_next(&reader, &l)) {
        if (python_literal_is_cuda(script, &l) && !is_blank(kept, l.from, l.to) &&
            (find_marks(script, l.from, l.to, ret) || find_braces(script, &l, ret))) {
            return true;
        }
    }
    return false;
}
