#include "skills/kernel_project/build_toml_report.h"

#include "base/edit_distance.h"
#include "base/text.h"

#define MAX_FINDINGS 200

/* Place of the bytes [start, end). */
static struct finding_span build_toml_span(const struct build_toml_report *r,
                                           size_t start, size_t end) {
    struct finding_span span;
    span.line = toml_place(r->doc, start, &span.column) + r->first_line - 1;
    span.end_line = toml_place(r->doc, end, &span.end_column) + r->first_line - 1;
    return span;
}

struct toml_range toml_value_range(const struct toml_node *node) {
    return (struct toml_range){node->start, node->end};
}

struct toml_range toml_key_range(const struct toml_node *node) {
    return node->key_end > node->key_start
               ? (struct toml_range){node->key_start, node->key_end}
               : toml_value_range(node);
}

json_t *build_toml_add(struct build_toml_report *r, const char *code,
                       enum finding_severity severity, struct toml_range at,
                       const char *fmt, ...) {
    char message[512];
    text_format(message, fmt);
    struct finding_span span = build_toml_span(r, at.start, at.end);
    json_t *finding = finding_new("skill", code, severity, message, r->file, &span);
    json_array_append_new(r->findings, finding);
    if (++r->count > MAX_FINDINGS) { /* the newest finding replaces the one before */
        r->left_out++;
        json_array_remove(r->findings, json_array_size(r->findings) - 2);
    }
    return finding;
}

void build_toml_fix_replace(const struct build_toml_report *r, json_t *finding,
                            const char *title, size_t start, size_t end,
                            const char *text) {
    struct finding_span span = build_toml_span(r, start, end);
    finding_add_fix(finding, title, r->file, &span, text);
}

static bool has_header(const struct toml_node *table) {
    return table->kind == TOML_TABLE && table->origin == TOML_FROM_HEADER &&
           table->end > table->start;
}

static size_t line_end(const struct build_toml_report *r, size_t at) {
    const char *newline = memchr(r->text + at, '\n', r->len - at);
    size_t end = newline ? (size_t)(newline - r->text) : r->len;
    return end > at && r->text[end - 1] == '\r' ? end - 1 : end;
}

static size_t next_line(const struct build_toml_report *r, size_t at) {
    const char *newline = memchr(r->text + at, '\n', r->len - at);
    return newline ? (size_t)(newline - r->text) + 1 : r->len;
}

static size_t line_start(const struct build_toml_report *r, size_t at) {
    while (at > 0 && r->text[at - 1] != '\n') {
        at--;
    }
    return at;
}

void build_toml_fix_insert(const struct build_toml_report *r, json_t *finding,
                           const char *title, const struct toml_node *table,
                           const char *line) {
    if (has_header(table)) {
        autofree char *text = xasprintf("\n%s", line);
        size_t at = line_end(r, table->end);
        build_toml_fix_replace(r, finding, title, at, at, text);
    }
}

static bool only_blanks(const struct build_toml_report *r, size_t from, size_t to) {
    while (from < to && strchr(" \t\r\n", r->text[from])) {
        from++;
    }
    return from == to;
}

/* A pair of a table in one line can't be cut out by lines. */
static bool stands_alone(const struct build_toml_report *r,
                         const struct toml_node *pair) {
    return only_blanks(r, line_start(r, pair->key_start), pair->key_start) &&
           only_blanks(r, pair->end, line_end(r, pair->end));
}

void build_toml_fix_remove(const struct build_toml_report *r, json_t *finding,
                           const char *title, const struct toml_node *pair) {
    if (stands_alone(r, pair)) {
        build_toml_fix_replace(r, finding, title, line_start(r, pair->key_start),
                               next_line(r, pair->end), "");
    }
}

const char *build_toml_nearest(const char *word, const char *const *words) {
    struct nearest_name near = {.said = word, .limit = strlen(word) > 4 ? 2 : 1};
    for (size_t i = 0; words[i]; i++) {
        nearest_name_try(&near, words[i]);
    }
    return near.best;
}

/* --- what is in the file --- */

bool build_toml_is_table(const struct toml_node *node) {
    return node && (node->kind == TOML_TABLE || node->kind == TOML_INLINE_TABLE);
}

const struct toml_node *build_toml_table_at(const struct build_toml_report *r,
                                            const char *pointer) {
    const struct toml_node *node = toml_find(r->doc, pointer);
    return build_toml_is_table(node) ? node : NULL;
}

unsigned build_toml_backend_of(const struct build_toml_report *r,
                               const struct toml_node *kernel) {
    const struct toml_node *node = toml_member(r->doc, kernel, "backend");
    return node && node->kind == TOML_STRING
               ? build_toml_backend(json_string_value(node->value))
               : 0;
}
