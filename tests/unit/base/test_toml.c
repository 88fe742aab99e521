#include "base/buf.h"
#include "base/file.h"
#include "base/toml.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

/* data/toml_cases.json is what Python's tomllib says (data/make_toml_cases.py). */
static json_t *cases_read(void) {
    autobuf text = BUF_INIT(1 << 20);
    cr_assert(file_read(TEST_DATA "/toml_cases.json", &text, NULL) == 0);
    json_t *cases = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);
    cr_assert(cases != NULL && json_array_size(cases) > 250);
    return cases;
}

/* Of a key, of an array's item its value; 0 when there is none. */
static int toml_line(const struct toml_document *doc, const char *pointer, int *column) {
    const struct toml_node *node = toml_find(doc, pointer);
    bool keyed = node && node->key_end > node->key_start;
    return node ? toml_place(doc, keyed ? node->key_start : node->start, column) : 0;
}

Test(toml, reads_and_refuses_what_tomllib_does) {
    autojson *cases = cases_read();
    size_t i, wrong = 0;
    json_t *item;
    json_array_foreach(cases, i, item) {
        const json_t *text = json_object_get(item, "text"),
                     *want = json_object_get(item, "value");
        struct toml_error error = {.msg = ""};
        struct toml_document *doc =
            toml_parse(json_string_value(text), json_string_length(text), &error);
        autofree char *got =
            doc ? json_dumps(toml_json(doc), JSON_COMPACT) : xstrdup(error.msg);
        if (!!doc != !!want || (doc && !json_equal(toml_json(doc), want))) {
            printf("# %s\n#   gave %s\n", json_string_value(text), got);
            wrong++;
        }
        cr_assert(doc || (error.msg[0] && error.line >= 1 && error.column >= 1));
        toml_free(doc);
    }
    cr_assert(eq(sz, wrong, 0));
}

/* What tomllib takes apart from its own forms: RFC 3339 by hand. */
Test(toml, dates_and_times_keep_their_text) {
    static const char *const moments[] = {
        "1979-05-27T07:32:00Z",  "1979-05-27t07:32:00z",      "1979-05-27 07:32:00Z",
        "1979-05-27 07:32:00.5", "1979-05-27T00:32:00-07:00", "07:32:00.123456789"};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct toml_error error;
        autofree char *text = xasprintf("a = %s\nb = [%s]", moments[i], moments[i]);
        autoptr(toml_free) struct toml_document *doc =
            toml_parse(text, strlen(text), &error);
        cr_assert(doc != NULL, "%s", moments[i]);
        const struct toml_node *a = toml_find(doc, "/a"), *b = toml_find(doc, "/b/0");
        cr_assert(a->kind == TOML_DATE && b->kind == TOML_DATE);
        cr_assert_str_eq(json_string_value(a->value), moments[i]);
        cr_assert_str_eq(json_string_value(b->value), moments[i]);
    }
}

Test(toml, an_error_has_one_finding_at_its_place) {
    static const struct {
        const char *text, *says;
        int line, column;
    } cases[] = {
        {"a = 1\nb = \n", "a value is missing", 2, 5},
        {"[a]\n[b]\n  [a]\n", "\"a\" is already there (line 1)", 3, 4},
        {"a = [1,\n2\n", "no closing ]", 1, 5},
        {"a = 1\na = 2", "already there (line 1)", 2, 1},
        {"a = \"x\n", "no closing \"", 1, 5},
        {"a = 1\nb = \"\"\"\nx\n", "no closing \"\"\"", 2, 5},
        {"a = \"\\d\"", "\\d is not an escape", 1, 6},
        {"a = 1979-02-30", "not a date", 1, 5},
        {"a = 99999999999999999999", "64 bits", 1, 5},
        {"a = relu", "text needs quotes", 1, 5},
        {"a = 1 b = 2", "nothing may follow", 1, 7},
        {"x\n", "an = is missing", 1, 2},
        {"a = {b = 1\n}", "no closing }", 1, 5},
        {"a = 1\r\nb = \xff\n", "not UTF-8", 2, 5},
        {"a = 0123", "begins with a 0", 1, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toml_error error = {0};
        struct toml_document *doc =
            toml_parse(cases[i].text, strlen(cases[i].text), &error);
        cr_assert_null(doc, "%s", cases[i].text);
        cr_assert_not_null(strstr(error.msg, cases[i].says), "%s: %s", cases[i].text,
                           error.msg);
        cr_assert_eq(error.line, cases[i].line, "%s", cases[i].text);
        cr_assert_eq(error.column, cases[i].column, "%s column %d", cases[i].text,
                     error.column);
    }
}

Test(toml, every_key_and_item_has_its_place) {
    static const char text[] = "top = 1\n"
                               "[a.\"b/c\"] # header\n"
                               "  d = [ 1,\n"
                               "    {e = 'x'} ]\n"
                               "f.g = 2\n"
                               "[[list]]\n"
                               "[[list]]\n"
                               "h = 3\n";
    static const struct {
        const char *pointer;
        int line, column;
    } places[] = {{"/top", 1, 1},        {"/a", 2, 2},          {"/a/b~1c", 2, 4},
                  {"/a/b~1c/d", 3, 3},   {"/a/b~1c/d/0", 3, 9}, {"/a/b~1c/d/1/e", 4, 6},
                  {"/a/b~1c/f/g", 5, 3}, {"/list", 6, 3},       {"/list/1/h", 8, 1},
                  {"/nothing", 0, 0},    {"/list/7", 0, 0},     {"/top/x", 0, 0}};
    struct toml_error error;
    autoptr(toml_free) struct toml_document *doc =
        toml_parse(text, sizeof text - 1, &error);
    cr_assert(doc != NULL, "%s", error.msg);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int column = 0, line = toml_line(doc, places[i].pointer, &column);
        cr_assert_eq(line, places[i].line, "%s: line %d", places[i].pointer, line);
        cr_assert_eq(column, places[i].column, "%s: column %d", places[i].pointer,
                     column);
    }
}

static char *repeated(const char *head, const char *part, size_t times,
                      const char *tail) {
    struct buf text = BUF_INIT(1 << 20);
    buf_adds(&text, head);
    for (size_t i = 0; i < times; i++) {
        buf_adds(&text, part);
    }
    buf_adds(&text, tail);
    return buf_detach(&text);
}

Test(toml, size_depth_and_count_are_bounded) {
    const struct {
        char *text;
        const char *says;
    } cases[] = {
        {repeated("a = ", "[", 20, "]]]]]]]]]]]]]]]]]]]]"), NULL},
        {repeated("a = ", "[", 100000, ""), "32 levels"},
        {repeated("a = ", "{a=", 50000, ""), "32 levels"},
        {repeated("a", ".a", 40, " = 1"), "32 parts"},
        {repeated("[a", ".a", 30, "]\nb.c.d = 1"), "32 levels"},
        {repeated("a = [", "1,", 20000, "]"), "10000 values"},
        {repeated("", "[[a]]\n", 20000, ""), "10000 values"},
        {repeated("a = '", "x", 300000, "'"), "256 KiB"},
        {repeated("", "\n", 200000, ""), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toml_error error = {.msg = ""};
        struct toml_document *doc =
            toml_parse(cases[i].text, strlen(cases[i].text), &error);
        cr_assert_eq(!!doc, !cases[i].says, "case %zu: %s", i, error.msg);
        cr_assert(cases[i].says == NULL || strstr(error.msg, cases[i].says),
                  "case %zu: %s", i, error.msg);
        toml_free(doc);
        free(cases[i].text);
    }
}
