/* Past evaluations. */
#include "clients/ctl/render.h"

#include <math.h>

#define BAR_CELLS 20
#define NARROW 100 /* columns */

static long percent(double rate) {
    return lround(100 * rate);
}

static const char *verdict_of(const json_t *row) {
    const char *verdict = json_get_string(row, "verdict", "");
    return strcmp(verdict, "no_evidence") == 0      ? "no evidence"
           : strcmp(verdict, "not_measurable") == 0 ? "not measurable"
           : *verdict                               ? verdict
                                                    : "not judged";
}

static void rates_cell(struct table *table, const json_t *of) {
    double before = number_of(of, "baseline_rate"), after = number_of(of, "skill_rate");
    if (isnan(before) && isnan(after)) {
        table_cell(table, "–");
    } else if (isnan(before)) {
        table_cellf(table, "%ld %%", percent(after));
    } else if (isnan(after)) {
        table_cellf(table, "%ld → ?", percent(before));
    } else {
        table_cellf(table, "%ld → %ld %%", percent(before), percent(after));
    }
}

static void lift_cell(struct table *table, const json_t *lift, bool narrow) {
    double estimate = number_of(lift, "estimate"), low = number_of(lift, "low"),
           high = number_of(lift, "high");
    if (isnan(estimate)) {
        table_cell(table, "");
    } else if (isnan(low) || isnan(high) || narrow) {
        table_cellf(table, "%+ld", percent(estimate));
    } else {
        table_cellf(table, "%+ld [%+ld, %+ld]", percent(estimate), percent(low),
                    percent(high));
    }
}

static void row_cells(struct table *table, const json_t *row, bool narrow) {
    const char *state = json_get_string(row, "state", "");
    table_cell(table, json_get_string(row, "run", ""));
    table_cell(table, json_get_string(row, "skill", ""));
    table_cell(table, json_get_string(row, "model", ""));
    table_cell(table, strcmp(state, "complete") == 0 ? verdict_of(row) : state);
    rates_cell(table, row);
    lift_cell(table, json_object_get(row, "lift"), narrow);
    double tests = number_of(row, "tests");
    if (narrow) {
        return;
    }
    if (isnan(tests)) {
        table_cell(table, "");
    } else {
        table_cellf(table, "%.0f", tests);
    }
}

/* Skills down, models across: the newest evaluation of each pair. */
static void matrix(const struct terminal *t, const json_t *m) {
    const json_t *skills = json_object_get(m, "skills"),
                 *models = json_object_get(m, "models");
    size_t columns = json_array_size(models);
    if (columns == 0 || (columns == 1 && json_array_size(skills) == 1)) {
        return;
    }
    autofree const char **titles = xcalloc(columns + 2, sizeof *titles);
    titles[0] = "skill";
    for (size_t i = 0; i < columns; i++) {
        const char *name = json_string_value(json_array_get(models, i));
        titles[i + 1] = name ? name : "";
    }
    putchar('\n');
    struct table *table = table_new(titles);
    json_each(skills, i, skill) {
        const json_t *row = json_array_get(json_object_get(m, "cells"), i);
        table_cell(table, json_string_value(skill) ? json_string_value(skill) : "");
        for (size_t k = 0; k < columns; k++) {
            rates_cell(table, json_array_get(row, k));
        }
    }
    table_print_and_free(t, table);
}

/* On a narrow terminal the run's name stays whole, to be copied, and others give way. */
void render_run_list(const struct terminal *t, const json_t *result) {
    bool narrow = t->tty && t->width < NARROW;
    const char *const titles[] = {"run",
                                  "skill",
                                  "model",
                                  "verdict",
                                  "without → with",
                                  "lift",
                                  narrow ? NULL : "tests",
                                  NULL};
    const json_t *rows = json_object_get(result, "runs");
    if (!json_array_size(rows)) {
        puts("no evaluations on record");
        return;
    }
    struct table *table = table_new(titles);
    json_each(rows, i, row) {
        row_cells(table, row, narrow);
    }
    table_print_and_free(t, table);
    json_int_t more = json_get_integer(result, "omitted", 0);
    if (more) {
        printf("… and %lld more\n", more);
    }
    matrix(t, json_object_get(result, "matrix"));
}

static void bar(const struct terminal *t, const char *label, double rate,
                enum style style) {
    if (!isnan(rate)) {
        printf("  %-9s", label);
        terminal_bar(t, rate, BAR_CELLS, style);
        printf(" %3ld %%\n", percent(rate));
    }
}

static void show_row(const struct terminal *t, const json_t *row) {
    putchar('\n');
    terminal_put(t, STYLE_BOLD, json_get_string(row, "model", ""));
    fputs(": ", stdout);
    terminal_put(t, verdict_style(row), verdict_of(row));
    terminal_words(
        t, 0,
        "[, {lift.estimate%+.0p} points]"
        "[, p {?lift.p=*}[{?lift.p>0.1}= {lift.p%.2f}|{?lift.p>0.001}= {lift.p%.3f}|"
        "< 0.001]]\n",
        row);
    bar(t, "without", number_of(row, "baseline_rate"), STYLE_PLAIN);
    bar(t, "with", number_of(row, "skill_rate"), verdict_style(row));
}

static void preference_lines(const struct terminal *t, const json_t *list, bool apart) {
    json_each(list, i, one) {
        fputs(apart && !i ? "\n" : "", stdout);
        terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(one, "sentence", ""), 0, 0);
    }
}

void render_preference(const struct terminal *t, const json_t *result) {
    printf("%lld pairs marked\n", count_of(result, "marks"));
    preference_lines(t, json_object_get(result, "preference"), false);
}

void render_run(const struct terminal *t, const json_t *result) {
    const char *path = json_get_string(result, "path", NULL);
    const char *text = json_get_string(result, "text", NULL);
    const json_t *evaluation = json_object_get(result, "evaluation");
    const json_t *cells = json_object_get(result, "cells");
    if (path) {
        fputs("wrote ", stdout);
        terminal_line(t, STYLE_PLAIN, path);
        return;
    }
    if (text) { /* CSV or HTML, to be kept as it is */
        fputs(text, stdout);
        return;
    }
    terminal_line(t, STYLE_BOLD, json_get_string(result, "run", ""));
    terminal_put_wrapped(
        t, STYLE_PLAIN,
        json_get_string(evaluation, "sentence", "no evaluation was finished"), 0, 0);
    json_each(json_object_get(result, "rows"), i, row) {
        show_row(t, row);
        render_cells(t, cells, json_get_string(row, "model", ""));
    }
    preference_lines(t, json_object_get(result, "preference"), true);
    printf("\n%zu answers in ", json_array_size(cells));
    terminal_put(t, STYLE_PLAIN, json_get_string(result, "folder", ""));
    puts("\nall of them, in full: --out report.html, .csv or .json");
}
