#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "clients/ctl/render.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

struct table {
    const char *const *titles;
    size_t columns, count;
    char **cells; /* row by row */
    enum style *styles;
};

struct table *table_new(const char *const *titles) {
    struct table *t = xcalloc(1, sizeof *t);
    t->titles = titles;
    while (titles[t->columns]) {
        t->columns++;
    }
    return t;
}

void table_cell(struct table *t, const char *text) {
    autobuf clean = BUF_INIT(1024);
    text_clean(&clean, text, text_cut(text, strlen(text), 200));
    t->cells = xreallocarray(t->cells, t->count + 1, sizeof *t->cells);
    t->styles = xreallocarray(t->styles, t->count + 1, sizeof *t->styles);
    t->styles[t->count] = STYLE_PLAIN;
    t->cells[t->count++] = buf_detach(&clean);
}

void table_style(struct table *t, enum style style) {
    t->styles[t->count - 1] = style;
}

void table_cellf(struct table *t, const char *fmt, ...) {
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    table_cell(t, text);
}

static bool is_number(const char *s) {
    return isdigit((unsigned char)*s) || strcmp(s, "–") == 0;
}

/* A column is right-aligned when all its cells look like numbers. */
static bool is_numeric(const struct table *t, size_t column) {
    for (size_t i = column; i < t->count; i += t->columns) {
        if (!is_number(t->cells[i])) {
            return false;
        }
    }
    return true;
}

static int column_width(const struct table *t, size_t column) {
    size_t width = text_width(t->titles[column], strlen(t->titles[column]));
    for (size_t i = column; i < t->count; i += t->columns) {
        size_t w = text_width(t->cells[i], strlen(t->cells[i]));
        width = w > width ? w : width;
    }
    return (int)width;
}

static void put_cell(const char *text, int width, bool right, bool last,
                     const struct terminal *terminal, enum style style) {
    int pad = width - (int)text_width(text, strlen(text));
    printf("%*s%s%s%s%*s", right ? pad : 0, "", terminal_start(terminal, style), text,
           style == STYLE_PLAIN ? "" : terminal_end(terminal), right || last ? 0 : pad,
           "");
    fputs(last ? "\n" : "  ", stdout);
}

static void put_titles(const struct terminal *terminal, const struct table *t,
                       const int *widths, const bool *right) {
    fputs(terminal_start(terminal, STYLE_BOLD), stdout);
    for (size_t i = 0; i < t->columns; i++) {
        put_cell(t->titles[i], widths[i], right[i], i + 1 == t->columns, terminal,
                 STYLE_PLAIN);
    }
    fputs(terminal_end(terminal), stdout);
}

void table_print_and_free(const struct terminal *terminal, struct table *t) {
    int *widths = xcalloc(t->columns, sizeof *widths);
    bool *right = xcalloc(t->columns, sizeof *right);
    for (size_t i = 0; i < t->columns; i++) {
        widths[i] = column_width(t, i);
        right[i] = is_numeric(t, i);
    }
    put_titles(terminal, t, widths, right);
    for (size_t i = 0; i < t->count; i++) {
        size_t column = i % t->columns;
        put_cell(t->cells[i], widths[column], right[column], column + 1 == t->columns,
                 terminal, t->styles[i]);
    }
    for (size_t i = 0; i < t->count; i++) {
        free(t->cells[i]);
    }
    free(t->cells);
    free(t->styles);
    free(widths);
    free(right);
    free(t);
}
