/* The answers of an evaluation, test by test: how often each arm passed, and what was
 * wrong with the skill. */
#include "base/buf.h"
#include "base/find.h"
#include "clients/ctl/render.h"

#define MAX_ARMS 5
#define TESTS_SHOWN 60u

static const char *const arms[MAX_ARMS] = {"baseline", "skill", "placebo", "previous",
                                           "trace"};
static const char *const arm_titles[MAX_ARMS] = {"without", "with", "placebo", "previous",
                                                 "trace"};

/* The first check that did not pass: "contains "x": not found". */
static const char wrong_words[] = "[{check.check} {expected~80}: {check.message|}"
                                  "|{error.message}|{outcome|}][; answered \"{output~60}\"]";

static json_t *what_was_wrong(const json_t *cell) {
    autobuf out = BUF_INIT(4096);
    const json_t *check = json_find(json_object_get(cell, "assertions"), one,
                                    json_is_false(json_object_get(one, "passed")));
    autofree char *expected =
        json_dumps(json_object_get(check, "expected"), JSON_ENCODE_ANY | JSON_COMPACT);
    autojson *told = json_copy((json_t *)(uintptr_t)cell);
    autojson *more = json_pack("{s:O*,s:s*}", "check", check, "expected", expected);
    json_object_update(told, more);
    words_add(&out, wrong_words, told);
    return json_clean(out.data, out.len);
}

/* Adds a cell to {test: {arm: {"passed", "graded"}, "why"}}. */
static void count_cell(json_t *tests, const json_t *cell) {
    const char *test = json_get_string(cell, "test", "");
    const char *arm = json_get_string(cell, "arm", "");
    const char *outcome = json_get_string(cell, "outcome", "");
    bool passed = strcmp(outcome, "passed") == 0;
    bool graded = passed || strcmp(outcome, "failed") == 0;
    json_t *row = json_object_get(tests, test);
    if (!row) {
        row = json_object();
        json_object_set_new(tests, test, row);
    }
    json_t *count = json_object_get(row, arm);
    if (!count) {
        count = json_object();
        json_object_set_new(row, arm, count);
    }
    json_object_set_new(count, "passed",
                        json_integer(json_get_integer(count, "passed", 0) + passed));
    json_object_set_new(count, "graded",
                        json_integer(json_get_integer(count, "graded", 0) + graded));
    if (strcmp(arm, "skill") == 0 && !passed && !json_object_get(row, "why")) {
        json_object_set_new(row, "why", what_was_wrong(cell));
    }
}

static bool has_arm(json_t *tests, const char *arm) {
    json_each_member(tests, id, row) {
        if (json_object_get(row, arm)) {
            return true;
        }
    }
    return false;
}

static void put_row(struct table *table, const char *id, const json_t *row,
                    const bool *shown) {
    bool failed = json_object_get(row, "why") != NULL;
    table_cell(table, id);
    for (size_t i = 0; i < MAX_ARMS; i++) {
        const json_t *count = json_object_get(row, arms[i]);
        if (shown[i] && count) {
            table_cellf(table, "%d of %d", (int)json_get_integer(count, "passed", 0),
                        (int)json_get_integer(count, "graded", 0));
            table_style(table, i == 1 && failed ? STYLE_YELLOW : STYLE_PLAIN);
        } else if (shown[i]) {
            table_cell(table, "–");
        }
    }
    table_cell(table, json_get_string(row, "why", ""));
}

static int by_number(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strverscmp(*x, *y);
}

/* Those that fail with the skill first, each part by id: "t2" before "t10". */
static void put_rows(struct table *table, json_t *tests, const bool *shown) {
    size_t all = 0, count = 0;
    autofree const char **ids = xcalloc(json_object_size(tests) + 1, sizeof *ids);
    json_each_member(tests, id, row) {
        ids[all++] = id;
    }
    qsort(ids, all, sizeof *ids, by_number);
    for (int failed = 1; failed >= 0; failed--) {
        for (size_t i = 0; i < all; i++) {
            const json_t *row = json_object_get(tests, ids[i]);
            if ((json_object_get(row, "why") != NULL) == failed &&
                count++ < TESTS_SHOWN) {
                put_row(table, ids[i], row, shown);
            }
        }
    }
}

void render_cells(const struct terminal *t, const json_t *cells, const char *model) {
    autojson *tests = json_object();
    autobuf titles = BUF_INIT(200);
    bool shown[MAX_ARMS];
    buf_adds(&titles, "test");
    json_each(cells, i, cell) {
        if (json_says(cell, "model", model)) {
            count_cell(tests, cell);
        }
    }
    if (!json_object_size(tests)) {
        return;
    }
    for (size_t i = 0; i < MAX_ARMS; i++) {
        shown[i] = has_arm(tests, arms[i]);
        if (shown[i]) {
            buf_addf(&titles, "\t%s", arm_titles[i]);
        }
    }
    buf_adds(&titles, "\twhat was wrong with the skill");
    putchar('\n');
    struct table *table = table_new(titles.data);
    put_rows(table, tests, shown);
    table_print_and_free(t, table);
    if (json_object_size(tests) > TESTS_SHOWN) {
        printf("… and %zu more tests\n", json_object_size(tests) - TESTS_SHOWN);
    }
}
