/* skill/trigger's result on a terminal. */
#include "clients/ctl/evaluation_plot.h"
#include "clients/ctl/render.h"

#include "base/buf.h"

#include <math.h>

#define INDENT 11
#define NAME_COLUMN 20 /* of the rates */

static const struct facts facts = {STYLE_DIM, 2, INDENT};

/* --- a student --- */

static void rate_line(const struct terminal *t, const json_t *student, const char *key,
                      const char *words) {
    const json_t *rate = json_object_get(student, key);
    double estimate = number_of(rate, "estimate");
    if (isnan(estimate)) {
        return;
    }
    autobuf bar = BUF_INIT(1024);
    evaluation_plot_rate(&bar, estimate, number_of(rate, "low"), number_of(rate, "high"),
                         PLOT_CELLS);
    printf("  %-*s", NAME_COLUMN, words);
    if (t->width >= 60) {
        terminal_putf(t, STYLE_BLUE, "%s  ", bar.data);
    }
    printf("%3.0f %%  %2lld of %lld  (%.0f – %.0f %%)\n", 100 * estimate,
           count_of(rate, "right"), count_of(rate, "of"), 100 * number_of(rate, "low"),
           100 * number_of(rate, "high"));
}

/* A query with a wrong answer, and what was loaded in place of the skill. */
static const char query_words[] =
    "  " RED "[{?should_trigger}missed|wrong ]" END " {loaded|0}/{runs|0}  \t{query~300}"
    "[; instead: {others/, /:{@}}]\n";

static void student_lines(const struct terminal *t, const json_t *student, bool alone) {
    const char *verdict = json_get_string(student, "verdict", "");
    render_student_head(t, student, alone);
    if (strcmp(verdict, "not_measurable") == 0) {
        return;
    }
    rate_line(t, student, "recall", "needed, loaded");
    rate_line(t, student, "specificity", "not needed, left");
    rate_line(t, student, "precision", "loaded, needed");
    json_each(json_object_get(student, "queries"), i, q) {
        if (json_is_false(json_object_get(q, "right"))) {
            terminal_words(t, 0, query_words, q);
        }
    }
}

/* --- a better description --- */

static void diff_lines(const struct terminal *t, const char *diff) {
    autofree char *copy = xstrdup(diff);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        enum style style = *line == '+'   ? STYLE_GREEN
                           : *line == '-' ? STYLE_RED
                                          : STYLE_PLAIN;
        if (*line) {
            terminal_line(t, style, line);
        }
    }
}

static void proposal_lines(const struct terminal *t, const json_t *result) {
    const json_t *proposal = json_object_get(result, "proposal");
    const char *problem = json_get_string(result, "save_problem", NULL);
    if (!proposal) {
        return;
    }
    putchar('\n');
    diff_lines(t, json_get_string(proposal, "diff", ""));
    if (json_is_true(json_object_get(result, "saved"))) {
        terminal_fact(t, &facts, "saved", STYLE_GREEN, "in the skill's SKILL.md");
    } else {
        terminal_fact(t, &facts, problem ? "not saved" : "next", STYLE_PLAIN, "%s",
                      problem ? problem : "the same command with --save writes it");
    }
}

void render_trigger(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students");
    render_sentence(t, result);
    json_each(students, i, student) {
        student_lines(t, student, json_array_size(students) == 1);
    }
    putchar('\n');
    terminal_words(t, INDENT,
                   "  " DIM "beside" END "\t" DIM
                   "[{neighbours/, /:{.}}|no other skill: a real list is harder]\n"
                   "[  " DIM "record" END "\tupskillctl run show {run}\n]",
                   result);
    render_refinement(t, json_object_get(result, "refinement"));
    proposal_lines(t, result);
}
