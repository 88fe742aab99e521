/* Past evaluations. */
#include "base/buf.h"
#include "clients/ctl/render.h"

#define NARROW 100 /* columns */

#define VERDICT                                                                          \
    "[{?verdict=no_evidence}no evidence|{?verdict=not_measurable}not measurable"          \
    "|{verdict}|not judged]"
/* "40 → 85 %", as far as the rates are known. */
#define RATES                                                                            \
    "[{baseline_rate%.0p} → {skill_rate%.0p} %|{baseline_rate%.0p} → ?"                   \
    "|{skill_rate%.0p} %|–]"
#define ROW                                                                              \
    "{run}\t{skill}\t{model}\t[{?state=complete}[{kind} ]" VERDICT "|{state}]\t" RATES                 \
    "\t[{lift.estimate%+.0p}]"
static const char row_words[] = ROW "[ \\[{lift.low%+.0p}, {lift.high%+.0p}\\]]\t[{tests%.0f}]";

/* Skills down, models across: the newest evaluation of each pair. */
static void matrix(const struct terminal *t, const json_t *m) {
    const json_t *skills = json_object_get(m, "skills"),
                 *models = json_object_get(m, "models");
    size_t columns = json_array_size(models);
    if (columns == 0 || (columns == 1 && json_array_size(skills) == 1)) {
        return;
    }
    autobuf titles = BUF_INIT(1u << 20);
    words_add_as(&titles, &(struct words_manner){.escape = words_one_line},
                 "skill{.:\t{.}}", models);
    putchar('\n');
    struct table *table = table_new(titles.data);
    json_each(skills, i, skill) {
        const json_t *row = json_array_get(json_object_get(m, "cells"), i);
        table_row(table, "{.}", skill);
        for (size_t k = 0; k < columns; k++) {
            table_row(table, RATES, json_array_get(row, k));
        }
    }
    table_print_and_free(t, table);
}

/* "9f2c01ab" of "2026_01_02_03_04_05_678_9f2c01ab", which names the run as well. */
static const char *short_name(const char *run) {
    const char *tail = strrchr(run, '_');
    return tail && strlen(tail + 1) == 8 ? tail + 1 : run;
}

static json_t *shortened(const json_t *rows) {
    json_t *list = json_array();
    json_each(rows, i, row) {
        json_t *one = json_copy((json_t *)(uintptr_t)row);
        const char *run = json_get_string(row, "run", "");
        json_object_set_new(one, "run", json_string(short_name(run)));
        json_array_append_new(list, one);
    }
    return list;
}

/* A narrow terminal has room for the end of a run's name, which is enough to show it. */
void render_run_list(const struct terminal *t, const json_t *result) {
    bool narrow = t->tty && t->width < NARROW;
    const json_t *rows = json_object_get(result, "runs");
    autojson *brief = narrow ? shortened(rows) : NULL;
    if (!table_print(t,
                     narrow ? "run\tskill\tmodel\tverdict\twithout → with\tlift"
                            : "run\tskill\tmodel\tverdict\twithout → with\tlift\ttests",
                     narrow ? ROW : row_words, narrow ? brief : rows)) {
        puts("no evaluations on record");
        return;
    }
    json_int_t more = json_get_integer(result, "omitted", 0);
    if (more) {
        printf("… and %lld more\n", more);
    }
    matrix(t, json_object_get(result, "matrix"));
}

static const char result_words[] =
    "\n" BOLD "{model}" END ": {.#style}" VERDICT END "[, {lift.estimate%+.0p} points]"
    "[, p {?lift.p=*}[{?lift.p>0.1}= {lift.p%.2f}|{?lift.p>0.001}= {lift.p%.3f}|"
    "< 0.001]]\n"
    "[  without  {baseline_rate#bar} {baseline_rate%3.0p} %\n]"
    "[  with     {.#style}{skill_rate#bar}" END " {skill_rate%3.0p} %\n]"
    "{arms:[{!name=baseline}{!name=skill}  {name%-9s}{pass_rate#bar} {pass_rate%3.0p} %\n]}";

/* With the arms of its student, of which placebo and others have bars, too. */
static json_t *row_with_arms(const json_t *row, const json_t *evaluation) {
    json_t *all = json_copy((json_t *)(uintptr_t)row);
    json_each(json_object_get(evaluation, "students"), i, student) {
        if (json_says(student, "model", json_get_string(row, "model", ""))) {
            json_object_set(all, "arms", json_object_get(student, "arms"));
        }
    }
    return all;
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
        autojson *all = row_with_arms(row, evaluation);
        terminal_words(t, 0, result_words, all);
        render_cells(t, cells, json_get_string(row, "model", ""));
    }
    preference_lines(t, json_object_get(result, "preference"), true);
    printf("\n%zu answers in ", json_array_size(cells));
    terminal_put(t, STYLE_PLAIN, json_get_string(result, "folder", ""));
    puts("\nall of them, in full: --out report.html, .csv or .json");
}
