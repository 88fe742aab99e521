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

static void others_text(const json_t *others, struct buf *out) {
    json_each_member(others, name, times) {
        buf_addf(out, "%s%.64s", out->len ? ", " : "; instead: ", name);
        (void)times;
    }
}

static void query_line(const struct terminal *t, const json_t *q) {
    bool wanted = json_is_true(json_object_get(q, "should_trigger"));
    autobuf others = BUF_INIT(4096);
    others_text(json_object_get(q, "others"), &others);
    fputs("  ", stdout);
    terminal_put(t, STYLE_RED, wanted ? "missed" : "wrong ");
    printf(" %lld/%lld  ", count_of(q, "loaded"), count_of(q, "runs"));
    terminal_wrapf(t, STYLE_PLAIN, 15, 15, "%.300s%s", json_get_string(q, "query", ""),
                   others.data ? others.data : "");
}

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
            query_line(t, q);
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

static void neighbours_line(const struct terminal *t, const json_t *names) {
    autobuf text = BUF_INIT(8192);
    json_each(names, i, name) {
        buf_addf(&text, "%s%.64s", i ? ", " : "", json_string_value(name));
    }
    terminal_fact(t, &facts, "beside", STYLE_DIM, "%s",
                  text.len ? text.data : "no other skill: a real list is harder");
}

void render_trigger(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students");
    const char *run = json_get_string(result, "run", NULL);
    render_sentence(t, result);
    json_each(students, i, student) {
        student_lines(t, student, json_array_size(students) == 1);
    }
    putchar('\n');
    neighbours_line(t, json_object_get(result, "neighbours"));
    if (run) {
        terminal_fact(t, &facts, "record", STYLE_PLAIN, "upskillctl run show %s", run);
    }
    render_refinement(t, json_object_get(result, "refinement"));
    proposal_lines(t, result);
}
