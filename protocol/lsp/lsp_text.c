/* A document's text with the starts of its lines, kept up to date by edits. */
#include "protocol/lsp/lsp_internal.h"

void lsp_text_init(struct lsp_text *t, const char *text, size_t len) {
    t->cap = len + 1;
    t->len = len;
    t->text = xmalloc(t->cap);
    memcpy(t->text, text, len);
    t->text[len] = '\0';
    lines_init(&t->lines, t->text, len);
    t->lines_cap = t->lines.count;
}

void lsp_text_finish(struct lsp_text *t) {
    free(t->text);
    lines_finish(&t->lines);
    memset(t, 0, sizeof *t);
}

struct lsp_view lsp_text_view(const struct lsp_text *t) {
    return (struct lsp_view){.text = t->text, .len = t->len, .lines = &t->lines};
}

static bool starts_line(const struct lsp_text *t, size_t at) {
    char before = t->text[at - 1];
    return before == '\n' || (before == '\r' && t->text[at] != '\n');
}

/* The first line that starts at or after the offset; never line 0. */
static size_t line_from(const struct lines *l, size_t offset) {
    return offset ? lines_at(l, offset - 1) + 1 : 1;
}

static void replace_bytes(struct lsp_text *t, size_t start, size_t end, const char *text,
                          size_t len) {
    size_t tail = t->len - end;
    size_t need = start + len + tail + 1;
    if (need > t->cap) {
        t->cap = need + need / 8 + 256;
        t->text = xrealloc(t->text, t->cap);
    }
    memmove(t->text + start + len, t->text + end, tail + 1);
    memcpy(t->text + start, text, len);
    t->len = start + len + tail;
}

/* Make room for `fresh` line starts in place of [first, last), and move the later ones.
 */
static void replace_lines(struct lsp_text *t, size_t first, size_t last, size_t fresh,
                          size_t old_end, size_t new_end) {
    struct lines *l = &t->lines;
    size_t tail = l->count - last;
    size_t count = first + fresh + tail;
    if (count > t->lines_cap) {
        t->lines_cap = count + count / 8 + 16;
        l->starts = xreallocarray(l->starts, t->lines_cap, sizeof *l->starts);
    }
    memmove(l->starts + first + fresh, l->starts + last, tail * sizeof *l->starts);
    if (old_end != new_end) {
        for (size_t i = first + fresh; i < count; i++) {
            l->starts[i] = l->starts[i] - old_end + new_end;
        }
    }
    l->count = count;
    l->len = t->len;
}

/* Whether a line starts at an offset depends on the byte before and the byte at it, so
 * only the offsets from `start` to the end of the new text have to be looked at. */
void lsp_text_splice(struct lsp_text *t, size_t start, size_t end, const char *text,
                     size_t len) {
    size_t first = line_from(&t->lines, start);
    size_t last = line_from(&t->lines, end + 1);
    replace_bytes(t, start, end, text, len);
    size_t new_end = start + len;
    size_t fresh = 0;
    for (size_t at = start ? start : 1; at <= new_end; at++) {
        fresh += starts_line(t, at);
    }
    replace_lines(t, first, last, fresh, end, new_end);
    for (size_t at = start ? start : 1; fresh && at <= new_end; at++) {
        if (starts_line(t, at)) {
            t->lines.starts[first++] = at;
        }
    }
}
