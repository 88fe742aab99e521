/* A hostile project file, as TOML, as kernel-builder's, and in an editor at any
 * place: findings lie within the text, and so do their edits. */
#include "base/lines.h"
#include "skills/kernel_project/build_toml.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

/* line_key and column_key of value are a place of the text. */
static void check_place(const struct lines *lines, const json_t *value,
                        const char *line_key, const char *column_key) {
    json_int_t line = json_get_integer(value, line_key, 1);
    json_int_t column = json_get_integer(value, column_key, 1);
    check(line >= 1 && (size_t)line <= lines->count && column >= 1);
    check(lines->starts[line - 1] + (size_t)column - 1 <= lines->len);
}

static void check_finding(const struct lines *lines, const json_t *finding) {
    size_t i, k;
    json_t *fix, *edit;
    check(json_get_string(finding, "message", "")[0]);
    check_place(lines, finding, "line", "column");
    json_array_foreach(json_object_get(finding, "fixes"), i, fix) {
        json_array_foreach(json_object_get(fix, "edits"), k, edit) {
            check_place(lines, edit, "line", "column");
            check_place(lines, edit, "end_line", "end_column");
        }
    }
}

static void check_findings(const char *text, size_t len) {
    autojson *findings = json_array();
    struct lines lines;
    size_t i;
    json_t *finding;
    build_toml_check("build.toml", text, len, 1, findings);
    lines_init(&lines, text, len);
    check(json_array_size(findings) <= 400);
    json_array_foreach(findings, i, finding) {
        check_finding(&lines, finding);
    }
    lines_finish(&lines);
}

static void check_editor(const char *text, size_t len, size_t offset) {
    autojson *items = build_toml_completions(text, len, offset);
    size_t i, start = 0, end = 0;
    json_t *item;
    json_array_foreach(items, i, item) {
        json_int_t from = json_get_integer(item, "start", -1);
        json_int_t to = json_get_integer(item, "end", -1);
        check(from >= 0 && from <= to && (size_t)to <= len);
    }
    free(build_toml_hover(text, len, offset, &start, &end));
    check(start <= end && end <= len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = xmalloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    check_findings(text, size);
    check_editor(text, size, size);
    check_editor(text, size, size / 2);
    free(text);
    return 0;
}
