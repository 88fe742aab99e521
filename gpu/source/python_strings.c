#include "gpu/source/python_strings.h"

#include "gpu/source/python_literals.h"
#include "gpu/source/python_units.h"

#define TORCH_INCLUDE "#include <torch/extension.h>"

static void blank(char *text, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (text[i] != '\n' && text[i] != '\r') {
            text[i] = ' ';
        }
    }
}

/* What Python makes of two characters, the first of which it drops. */
static void unescape(char *text, const struct python_literal *l) {
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

size_t python_strings_keep_cuda(char *text, size_t len, size_t unit) {
    bool inlines = memmem(text, len, "load_inline", strlen("load_inline")) != NULL;
    struct python_units units;
    python_units_find(text, len, &units);
    struct python_reader reader = {.text = text, .len = len};
    size_t kept_end = 0, first = len, index = 0;
    struct python_literal l;
    while (python_literal_next(&reader, &l)) {
        if (python_literal_is_cuda(text, &l) && python_units_has(&units, unit, index++)) {
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
    return units.count;
}
