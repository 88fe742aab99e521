#include "skills/runs/run_answers.h"

#include "base/buf.h"
#include "skills/runs/html.h"

#define SHORT 200     /* bytes of a name */
#define QUESTION 4000 /* of a question */
#define EVIDENCE 300  /* of one assertion's text */
#define OUTPUT 4000   /* of an answer */
#define NOTE 2000     /* of a person's */
#define ASSERTIONS 20 /* of an answer */

/* --- one answer --- */

static void add_member(struct buf *out, const json_t *object, const char *key) {
    html_text(out, json_get_string(object, key, ""), SHORT);
}

/* /a.b/i, as people write it; anything else as JSON. */
static char *write_expected(const json_t *expected) {
    const char *pattern = json_get_string(expected, "pattern", NULL);
    return pattern
               ? xasprintf("/%s/%s", pattern, json_get_string(expected, "flags", ""))
               : json_dumps(expected, JSON_ENCODE_ANY | JSON_COMPACT);
}

static void add_assertion(struct buf *out, const json_t *assertion) {
    bool passed = json_get_bool(assertion, "passed", 0) == 1;
    const json_t *expected = json_object_get(assertion, "expected");
    buf_addf(out, "<li class=\"%s\">%s ", passed ? "passed" : "failed",
             passed ? "✓" : "✗");
    add_member(out, assertion, "check");
    if (expected) {
        autofree char *text = write_expected(expected);
        buf_adds(out, " <code>");
        html_text(out, text ? text : "", EVIDENCE);
        buf_adds(out, "</code>");
    }
    buf_adds(out, " <span class=\"muted\">");
    html_text(out, json_get_string(assertion, "message", ""), EVIDENCE);
    buf_adds(out, "</span></li>\n");
}

static void add_evidence(struct buf *out, const json_t *cell) {
    const json_t *assertions = json_object_get(cell, "assertions");
    size_t count = json_array_size(assertions);
    html_text(out, json_get_string(cell, "why", ""), EVIDENCE);
    buf_adds(out, count ? "<ul>" : "");
    for (size_t i = 0; i < count && i < ASSERTIONS; i++) {
        add_assertion(out, json_array_get(assertions, i));
    }
    buf_adds(out, count ? "</ul>\n" : "");
}

static bool is_same(const json_t *a, const json_t *b, const char *key) {
    return strcmp(json_get_string(a, key, ""), json_get_string(b, key, "")) == 0;
}

static void add_evidence_and_output(struct buf *out, const json_t *cell) {
    const char *output = json_get_string(cell, "output", "");
    add_evidence(out, cell);
    if (*output) {
        buf_adds(out, "<pre>");
        html_text(out, output, OUTPUT);
        buf_adds(out, "</pre>\n");
    }
}

/* previous: the run before of the same model, test and arm, or NULL. */
static void add_answer(struct buf *out, const json_t *previous, const json_t *cell) {
    const char *outcome = json_get_string(cell, "outcome", "");
    buf_adds(out, "<p><span class=\"");
    html_text(out, outcome, SHORT);
    buf_adds(out, "\">");
    html_text(out, outcome, SHORT);
    buf_addf(out, "</span> <span class=\"muted\">run %lld, %lld tokens%s</span></p>\n",
             (long long)json_get_integer(cell, "run", 0),
             (long long)json_get_integer(json_object_get(cell, "tokens"), "total", 0),
             json_get_bool(cell, "cached", 0) == 1 ? ", cached" : "");
    if (previous && is_same(previous, cell, "output") &&
        is_same(previous, cell, "outcome") && is_same(previous, cell, "why")) {
        buf_adds(out, "<p class=\"muted\">The same answer as before.</p>\n");
    } else {
        add_evidence_and_output(out, cell);
    }
}

/* --- one test --- */

/* Arms are in this order, then by name. */
static int arm_place(const json_t *cell) {
    const char *arm = json_get_string(cell, "arm", "");
    return strcmp(arm, "baseline") == 0 ? 0 : strcmp(arm, "skill") == 0 ? 1 : 2;
}

static const char *arm_words(const char *arm) {
    return strcmp(arm, "baseline") == 0 ? "without the skill"
           : strcmp(arm, "skill") == 0  ? "with the skill"
                                        : arm;
}

/* The cells of one model and test, arm by arm. */
static void add_arms(struct buf *out, json_t *const *cells, size_t count) {
    buf_adds(out, "<div class=\"arms\">\n");
    for (size_t i = 0; i < count; i++) {
        bool same_arm = i && is_same(cells[i - 1], cells[i], "arm");
        if (!same_arm) {
            buf_adds(out, i ? "</div>\n<div><h4>" : "<div><h4>");
            html_text(out, arm_words(json_get_string(cells[i], "arm", "")), SHORT);
            buf_adds(out, "</h4>\n");
        }
        add_answer(out, same_arm ? cells[i - 1] : NULL, cells[i]);
    }
    buf_adds(out, "</div></div>\n");
}

/* A person's marks of the test's pairs. */
static void add_marks(struct buf *out, const json_t *marks, const json_t *cell) {
    json_each(marks, i, mark) {
        const char *better = json_get_string(mark, "better", "");
        if (is_same(mark, cell, "model") && is_same(mark, cell, "test")) {
            buf_addf(out, "<p class=\"muted\">A person's mark, run %lld%s: ",
                     (long long)json_get_integer(mark, "run", 0),
                     json_get_bool(mark, "blind", 0) ? ", blind" : "");
            buf_adds(out, strcmp(better, "same") == 0    ? "the same"
                          : strcmp(better, "skill") == 0 ? "better with the skill"
                                                         : "better without the skill");
            const char *note = json_get_string(mark, "note", "");
            buf_adds(out, *note ? ". " : "");
            html_text(out, note, NOTE);
            buf_adds(out, "</p>\n");
        }
    }
}

static void add_test(struct buf *out, const json_t *batch, json_t *const *cells,
                     size_t count) {
    const json_t *questions =
        json_object_get(json_object_get(batch, "meta"), "questions");
    const char *test = json_get_string(cells[0], "test", "");
    const char *question = json_get_string(questions, test, "");
    buf_adds(out, "<section class=\"test\"><h3>");
    html_text(out, test, SHORT);
    buf_adds(out, " <span class=\"muted\">");
    add_member(out, cells[0], "model");
    buf_adds(out, "</span></h3>\n");
    if (*question) {
        buf_adds(out, "<p class=\"question\">");
        html_text(out, question, QUESTION);
        buf_adds(out, "</p>\n");
    }
    add_arms(out, cells, count);
    add_marks(out, json_object_get(batch, "marks"), cells[0]);
    buf_adds(out, "</section>\n");
}

/* --- all --- */

/* Sorts by model, test, arm and run, because they were asked in another order. */
static int compare_cells(const void *a, const void *b) {
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    static const char *const keys[] = {"model", "test", NULL, "arm"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        int order = keys[i] ? strcmp(json_get_string(x, keys[i], ""),
                                     json_get_string(y, keys[i], ""))
                            : arm_place(x) - arm_place(y);
        if (order) {
            return order;
        }
    }
    json_int_t run_x = json_get_integer(x, "run", 0),
               run_y = json_get_integer(y, "run", 0);
    return (run_x > run_y) - (run_x < run_y);
}

void run_answers_write(struct buf *out, const json_t *batch) {
    const json_t *cells = json_object_get(batch, "cells");
    size_t count = json_array_size(cells);
    size_t shown = count < RUN_ANSWERS_MAX ? count : RUN_ANSWERS_MAX;
    if (!count) {
        return;
    }
    autofree json_t **sorted = xreallocarray(NULL, count, sizeof *sorted);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = json_array_get(cells, i);
    }
    qsort(sorted, count, sizeof *sorted, compare_cells);
    buf_adds(out, "<h2>Answers</h2>\n");
    for (size_t i = 0, end; i < shown; i = end) {
        end = i + 1;
        while (end < shown && is_same(sorted[i], sorted[end], "model") &&
               is_same(sorted[i], sorted[end], "test")) {
            end++;
        }
        add_test(out, batch, sorted + i, end - i);
    }
    if (count > shown) {
        buf_addf(out, "<p class=\"muted\">… and %zu more in cells.jsonl</p>\n",
                 count - shown);
    }
}
