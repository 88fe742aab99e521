#include "skills/runs/run_answers.h"

static bool is_same(const json_t *a, const json_t *b, const char *key) {
    return json_says(a, key, json_get_string(b, key, ""));
}

/* previous: the run before of the same model, test and arm, or NULL. */
static json_t *answer_of(const json_t *previous, json_t *cell) {
    json_t *answer = json_copy(cell);
    if (previous && is_same(previous, cell, "output") &&
        is_same(previous, cell, "outcome") && is_same(previous, cell, "why")) {
        json_object_set_new(answer, "same", json_true());
    }
    return answer;
}

/* --- one test --- */

/* Arms are in this order, then by name. */
static int arm_place(const json_t *cell) {
    const char *arm = json_get_string(cell, "arm", "");
    return strcmp(arm, "baseline") == 0 ? 0 : strcmp(arm, "skill") == 0 ? 1 : 2;
}

/* The cells of one model and test, arm by arm. */
static json_t *arms_of(json_t *const *cells, size_t count) {
    json_t *arms = json_array(), *answers = NULL;
    for (size_t i = 0; i < count; i++) {
        bool same_arm = i && is_same(cells[i - 1], cells[i], "arm");
        if (!same_arm) {
            answers = json_array();
            json_array_append_new(arms, json_pack("{s:O*,s:o}", "arm",
                                                  json_object_get(cells[i], "arm"),
                                                  "answers", answers));
        }
        json_array_append_new(answers,
                              answer_of(same_arm ? cells[i - 1] : NULL, cells[i]));
    }
    return arms;
}

/* A person's marks of the test's pairs. */
static json_t *marks_of(const json_t *batch, const json_t *cell) {
    json_t *marks = json_array();
    json_each(json_object_get(batch, "marks"), i, mark) {
        if (is_same(mark, cell, "model") && is_same(mark, cell, "test")) {
            json_array_append(marks, mark);
        }
    }
    return marks;
}

static json_t *test_of(const json_t *batch, json_t *const *cells, size_t count) {
    const json_t *questions =
        json_object_get(json_object_get(batch, "meta"), "questions");
    const char *test = json_get_string(cells[0], "test", "");
    return json_pack("{s:O*,s:s,s:O*,s:o,s:o}", "model",
                     json_object_get(cells[0], "model"), "test", test, "question",
                     json_object_get(questions, test), "arms", arms_of(cells, count),
                     "marks", marks_of(batch, cells[0]));
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

json_t *run_answers(const json_t *batch, size_t *ret_more) {
    const json_t *cells = json_object_get(batch, "cells");
    size_t count = json_array_size(cells);
    size_t shown = count < RUN_ANSWERS_MAX ? count : RUN_ANSWERS_MAX;
    json_t *tests = json_array();
    autofree json_t **sorted = xreallocarray(NULL, count + 1, sizeof *sorted);
    json_each(cells, i, cell) {
        sorted[i] = cell;
    }
    qsort(sorted, count, sizeof *sorted, compare_cells);
    for (size_t i = 0, end; i < shown; i = end) {
        end = i + 1;
        while (end < shown && is_same(sorted[i], sorted[end], "model") &&
               is_same(sorted[i], sorted[end], "test")) {
            end++;
        }
        json_array_append_new(tests, test_of(batch, sorted + i, end - i));
    }
    *ret_more = count - shown;
    return tests;
}
