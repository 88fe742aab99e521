/* skill/evaluate's result on a terminal. */
#include "base/mem.h"
#include "clients/ctl/render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_CELLS 20
#define MARKS_SHOWN 10u

static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static enum style style_of(const char *verdict) {
    return strcmp(verdict, "helps") == 0   ? STYLE_GREEN
           : strcmp(verdict, "hurts") == 0 ? STYLE_RED
                                           : STYLE_YELLOW;
}

static void arm_line(const struct terminal *t, const json_t *arm, enum style style) {
    const char *name = json_get_string(arm, "name", "");
    double rate = number(arm, "pass_rate"), cost = number(arm, "cost");
    printf("  %-9s", name);
    if (isnan(rate)) {
        fputs("no graded answer", stdout);
    } else {
        terminal_bar(t, rate, BAR_CELLS, strcmp(name, "skill") ? STYLE_PLAIN : style);
        printf(" %3.0f %% [%.0f, %.0f]", 100 * rate, 100 * number(arm, "low"),
               100 * number(arm, "high"));
    }
    printf("  %.0f tests, %.0f tokens", number(arm, "tests"),
           number(json_object_get(arm, "tokens"), "total"));
    if (!isnan(cost)) {
        printf(", %.4f in money", cost);
    }
    for (size_t i = 0; i < 3; i++) {
        static const char *const more[] = {"errored", "refused", "skipped"};
        double count = number(arm, more[i]);
        if (count > 0) {
            printf(", %.0f %s", count, more[i]);
        }
    }
    putchar('\n');
}

static void student_lines(const struct terminal *t, const json_t *student, bool alone) {
    const char *verdict = json_get_string(student, "verdict", "");
    const json_t *arm, *error = json_object_get(student, "error");
    size_t i;
    putchar('\n');
    terminal_put(t, STYLE_BOLD, json_get_string(student, "model", ""));
    fputs(": ", stdout);
    terminal_put(t, style_of(verdict), verdict);
    putchar('\n');
    if (!alone) {
        terminal_put(t, STYLE_PLAIN, json_get_string(student, "sentence", ""));
        putchar('\n');
    }
    json_array_foreach(json_object_get(student, "arms"), i, arm) {
        arm_line(t, arm, style_of(verdict));
    }
    if (error) {
        fputs("  first error: ", stdout);
        terminal_put(t, STYLE_PLAIN, json_get_string(error, "message", ""));
        putchar('\n');
    }
}

static void marks_lines(const struct terminal *t, const json_t *marks) {
    const json_t *one, *mark;
    size_t i, k;
    json_array_foreach(marks, i, one) {
        if (i == MARKS_SHOWN) {
            printf("… and %zu more tests with marks\n", json_array_size(marks) - i);
            break;
        }
        fputs(i ? "" : "\n", stdout);
        fputs("test ", stdout);
        terminal_put(t, STYLE_BOLD, json_get_string(one, "id", ""));
        json_array_foreach(json_object_get(one, "marks"), k, mark) {
            fputs(k ? ", " : ": ", stdout);
            terminal_put(t, STYLE_YELLOW, json_string_value(mark));
        }
        putchar('\n');
    }
}

int render_evaluation(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students"), *student;
    const char *run = json_get_string(result, "run", NULL);
    size_t i;
    terminal_put(t, style_of(json_get_string(result, "verdict", "")),
                 json_get_string(result, "verdict", ""));
    fputs(": ", stdout);
    terminal_put(t, STYLE_PLAIN, json_get_string(result, "sentence", ""));
    putchar('\n');
    json_array_foreach(students, i, student) {
        student_lines(t, student, json_array_size(students) == 1);
    }
    marks_lines(t, json_object_get(result, "marks"));
    if (run) {
        fputs("\nrecord: upskillctl run show ", stdout);
        terminal_put(t, STYLE_PLAIN, run);
        putchar('\n');
    }
    return result_exit_status("skill/evaluate", result);
}
