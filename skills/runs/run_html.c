#include "skills/runs/run_html.h"

#include "base/buf.h"
#include "skills/runs/html.h"
#include "skills/runs/run_answers.h"
#include "skills/runs/run_plot.h"
#include "skills/runs/run_queries.h"

#include <math.h>

#define SHORT 200 /* bytes of a name */
#define LONG 1000 /* of a sentence */

#include "skills/report_texts.h"

/* --- small parts --- */

static void add_member(struct buf *out, const json_t *object, const char *key) {
    html_text(out, json_get_string(object, key, ""), SHORT);
}

/* A cell of a table; digits: after the point. */
static void add_number(struct buf *out, double value, int digits, const char *unit) {
    if (isnan(value)) {
        buf_adds(out, "<td class=\"n muted\">–</td>");
    } else {
        buf_addf(out, "<td class=\"n\">%.*f%s</td>", digits, value, unit);
    }
}

static void add_count(struct buf *out, const json_t *object, const char *key) {
    add_number(out, json_get_number(object, key, NAN), 0, "");
}

/* A rate as a bar and in digits. */
static void add_rate(struct buf *out, double rate, double low, double high,
                     const char *tone) {
    buf_adds(out, "</td><td>");
    if (!isnan(rate)) {
        plot_rate(out, rate, low, high, tone);
    }
    buf_adds(out, "</td>");
    add_number(out, round(100 * rate), 0, " %");
}

/* --- the arms --- */

static void add_arm(struct buf *out, const json_t *arm, const char *tone) {
    const json_t *tokens = json_object_get(arm, "tokens");
    const char *name = json_get_string(arm, "name", "");
    buf_adds(out, "<tr><td class=\"word\">");
    html_text(out, name, SHORT);
    add_rate(out, json_get_number(arm, "pass_rate", NAN),
             json_get_number(arm, "low", NAN), json_get_number(arm, "high", NAN),
             strcmp(name, "skill") == 0 ? tone : "even");
    add_count(out, arm, "passed");
    add_count(out, arm, "errored");
    add_count(out, arm, "refused");
    add_count(out, tokens, "input");
    add_count(out, tokens, "output");
    add_number(out, json_get_number(arm, "cost", NAN), 4, "");
    buf_adds(out, "</tr>\n");
}

static void add_arms(struct buf *out, const json_t *student, const char *tone) {
    const json_t *arms = json_object_get(student, "arms");
    buf_adds(out, arms_head);
    json_each(arms, i, arm) {
        add_arm(out, arm, tone);
    }
    buf_adds(out, "</table></div>\n");
}

/* --- the tests --- */

/* Mean of an arm over those runs that hold both arms. */
static struct plot_pair pair_of(const json_t *test) {
    double before = 0, after = 0, runs = 0;
    json_each(json_object_get(test, "pairs"), i, pair) {
        const json_t *a = json_object_get(pair, "baseline");
        const json_t *b = json_object_get(pair, "skill");
        if (json_is_boolean(a) && json_is_boolean(b)) {
            before += json_is_true(a);
            after += json_is_true(b);
            runs++;
        }
    }
    return (struct plot_pair){.label = json_get_string(test, "id", ""),
                              .note = json_get_string(test, "split", ""),
                              .before = runs > 0 ? before / runs : NAN,
                              .after = runs > 0 ? after / runs : NAN};
}

static void add_tests(struct buf *out, const json_t *student) {
    const json_t *tests = json_object_get(student, "tests");
    size_t count = json_array_size(tests);
    size_t shown = count < RUN_HTML_TESTS ? count : RUN_HTML_TESTS;
    if (!count) {
        return;
    }
    autofree struct plot_pair *pairs = xcalloc(shown, sizeof *pairs);
    for (size_t i = 0; i < shown; i++) {
        pairs[i] = pair_of(json_array_get(tests, i));
    }
    buf_adds(out, "<h3>Each test</h3><p class=\"muted\">Ring: without the skill; disc: "
                  "with it.</p>");
    plot_pairs(out, pairs, shown);
    if (shown < count) {
        buf_addf(out, "<p class=\"muted\">… and %zu more tests</p>", count - shown);
    }
}

/* --- a student --- */

static void add_lift(struct buf *out, const json_t *student, const char *tone) {
    const json_t *lift = json_object_get(student, "lift");
    double estimate = json_get_number(lift, "estimate", NAN),
           p = json_get_number(lift, "p", NAN);
    bool measurable = !json_says(student, "verdict", "not_measurable");
    double smallest =
        measurable ? json_get_number(lift, "smallest_detectable", NAN) : NAN;
    if (isnan(estimate)) {
        return;
    }
    buf_addf(out, "<h3>Lift: %+.0f points", round(100 * estimate));
    if (!isnan(p)) {
        buf_addf(out,
                 p < 0.001 ? ", p &lt; 0.001"
                 : p < 0.1 ? ", p = %.3f"
                           : ", p = %.2f",
                 p);
    }
    buf_adds(out, "</h3>\n");
    plot_lift(out, estimate, json_get_number(lift, "low", NAN),
              json_get_number(lift, "high", NAN), smallest, tone);
    buf_adds(out, "<p class=\"muted\">Points of tests solved, ");
    add_member(out, lift, "method");
    buf_addf(out, ", %.0f tests.", fmax(0, json_get_number(lift, "n_tests", NAN)));
    if (smallest > 0) {
        buf_addf(out, " Shaded: smaller than what these tests find (%.0f points).",
                 round(100 * smallest));
    }
    buf_adds(out, "</p>\n");
}

/* The tokens of an answer with the skill compared with one without. */
static void add_saving(struct buf *out, const json_t *student) {
    const json_t *ratio = json_object_get(student, "token_ratio");
    double estimate = json_get_number(ratio, "estimate", NAN),
           low = json_get_number(ratio, "low", NAN),
           high = json_get_number(ratio, "high", NAN);
    if (!isnan(estimate)) {
        bool less = estimate < 1;
        double size = less ? 100 * (1 - estimate) : estimate;
        buf_addf(out,
                 less ? "<p>An answer with the skill takes %.0f %% fewer tokens"
                      : "<p>An answer with the skill takes %.2f times the tokens",
                 size);
        buf_addf(out,
                 " (95 %% interval %.2f to %.2f times those without; the skill's own "
                 "text is among them).</p>\n",
                 low, high);
    }
}

/* Of an answer in that arm; NAN where no price is known. */
static double answer_cost(const json_t *student, const char *name) {
    json_each(json_object_get(student, "arms"), i, arm) {
        if (json_says(arm, "name", name)) {
            return json_get_number(arm, "cost", NAN) / json_get_number(arm, "runs", NAN);
        }
    }
    return NAN;
}

static void add_cost(struct buf *out, const json_t *student) {
    double with = answer_cost(student, "skill"),
           without = answer_cost(student, "baseline");
    if (with > 0 && without > 0) {
        bool less = with < without;
        buf_addf(out,
                 less ? "<p>It costs %.0f %% less (%.4f instead of %.4f).</p>\n"
                      : "<p>It costs %.2f times as much (%.4f instead of %.4f).</p>\n",
                 less ? 100 * (1 - with / without) : with / without, with, without);
    }
}

/* said: a sentence that the page shows already, which is not repeated. */
static void add_student(struct buf *out, const json_t *student, const char *said) {
    const char *verdict = json_get_string(student, "verdict", "");
    const char *sentence = json_get_string(student, "sentence", "");
    buf_adds(out, "<section><h2>");
    add_member(out, student, "model");
    buf_adds(out, " ");
    html_badge(out, verdict);
    buf_adds(out, "</h2>\n<p>");
    html_text(out, strcmp(sentence, said) == 0 ? "" : sentence, LONG);
    buf_adds(out, "</p>\n");
    if (json_object_get(student, "queries")) {
        run_queries_write(out, student);
    } else {
        add_lift(out, student, html_tone(verdict));
        add_saving(out, student);
        add_cost(out, student);
        add_arms(out, student, html_tone(verdict));
        add_tests(out, student);
    }
    buf_adds(out, "</section>\n");
}

/* Without an evaluation: upskill's runs, or an interrupted batch. */
static void add_bare_row(struct buf *out, const json_t *row) {
    static const char *const arms[][2] = {{"baseline", "baseline_rate"},
                                          {"skill", "skill_rate"}};
    buf_adds(out, "<section><h2>");
    add_member(out, row, "model");
    buf_adds(out, " ");
    html_badge(out, "");
    buf_adds(out, bare_head);
    for (size_t i = 0; i < ARRAY_LEN(arms); i++) {
        buf_addf(out, "<tr><td>%s", arms[i][0]);
        add_rate(out, json_get_number(row, arms[i][1], NAN), NAN, NAN, "even");
        buf_adds(out, "</tr>\n");
    }
    buf_adds(out, "</table></section>\n");
}

static void add_students(struct buf *out, const json_t *batch) {
    const json_t *evaluation = json_object_get(batch, "evaluation");
    const json_t *students = json_object_get(evaluation, "students");
    const char *said = json_get_string(evaluation, "sentence", "");
    json_each(students, i, item) {
        add_student(out, item, said);
    }
    if (json_array_size(students) == 0) {
        json_each(json_object_get(batch, "rows"), i, item) {
            add_bare_row(out, item);
        }
    }
}

/* --- what the tests prove --- */

/* The tests about which the same is said, in one row. */
static json_t *tests_by_message(const json_t *marks) {
    json_t *rows = json_object();
    json_each(marks, i, test) {
        const char *message = json_get_string(test, "message", "");
        if (!json_object_get(rows, message)) {
            json_object_set_new(rows, message, json_array());
        }
        json_array_append(json_object_get(rows, message), json_object_get(test, "id"));
    }
    return rows;
}

static void add_doubts(struct buf *out, const json_t *batch) {
    const json_t *marks =
        json_object_get(json_object_get(batch, "evaluation"), "marks");
    autojson *rows = tests_by_message(marks);
    if (!json_object_size(rows)) {
        return;
    }
    buf_adds(out, "<h2>Tests that prove little</h2>\n<table>\n");
    json_each_member(rows, message, ids) {
        buf_adds(out, "<tr><td>");
        json_each(ids, i, id) {
            buf_adds(out, i ? ", " : "");
            html_text(out, json_string_value(id), SHORT);
        }
        buf_adds(out, "</td><td>");
        html_text(out, message, LONG);
        buf_adds(out, "</td></tr>\n");
    }
    buf_adds(out, "</table>\n");
}

/* --- provenance --- */

static void add_fact(struct buf *out, const char *name, const json_t *value) {
    autofree char *text = json_is_string(value) ? xstrdup(json_string_value(value))
                          : json_is_null(value)
                              ? NULL
                              : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (text) {
        buf_adds(out, "<tr><th>");
        html_text(out, name, SHORT);
        buf_adds(out, "</th><td>");
        html_text(out, text, LONG);
        buf_adds(out, "</td></tr>\n");
    }
}

static void add_facts(struct buf *out, const json_t *object, const char *const *keys) {
    for (; *keys; keys++) {
        add_fact(out, *keys, json_object_get(object, *keys));
    }
}

static void add_provenance(struct buf *out, const json_t *batch) {
    json_t *provenance =
        json_object_get(json_object_get(batch, "evaluation"), "provenance");
    static const char *const of_batch[] = {"run", "state", "folder", "problems", NULL};
    static const char *const of_meta[] = {"skill", "task",    "runs",
                                          "mode",  "version", NULL};
    buf_adds(out, "<h2>Provenance</h2>\n<table>\n");
    add_facts(out, batch, of_batch);
    add_facts(out, json_object_get(batch, "meta"), of_meta);
    size_t count = 0;
    json_each_member(provenance, key, value) {
        if (count++ < 40) {
            add_fact(out, key, value);
        }
    }
    buf_adds(out, "</table>\n");
}

/* --- the page --- */

static const char *skill_name(const json_t *batch) {
    const json_t *skill = json_object_get(json_object_get(batch, "meta"), "skill");
    const json_t *row = json_array_get(json_object_get(batch, "rows"), 0);
    return json_get_string(skill, "name", json_get_string(row, "skill", "skill"));
}

static void add_head(struct buf *out, const json_t *batch) {
    const json_t *evaluation = json_object_get(batch, "evaluation");
    const char *name = skill_name(batch);
    autofree char *title = xasprintf("%s – evaluation", name);
    html_page_begin(out, title);
    buf_adds(out, "<h1>");
    html_text(out, name, SHORT);
    buf_adds(out, " ");
    html_badge(out, json_get_string(evaluation, "verdict", ""));
    buf_adds(out, "</h1>\n<p class=\"lead\">");
    html_text(out,
              json_get_string(evaluation, "sentence",
                              "No verdict: these runs were not judged, or did not end."),
              LONG);
    buf_adds(out, "</p>\n");
}

static void add_preference(struct buf *out, const json_t *batch) {
    json_each(json_object_get(batch, "preference"), i, one) {
        const json_t *share = json_object_get(one, "share");
        double estimate = json_get_number(share, "estimate", NAN);
        buf_adds(out, i ? "<p>" : "<h2>A person's marks</h2>\n<p>");
        html_text(out, json_get_string(one, "sentence", ""), LONG);
        buf_adds(out, "</p>\n");
        if (!isnan(estimate)) {
            plot_rate(out, estimate, json_get_number(share, "low", NAN),
                      json_get_number(share, "high", NAN), "even");
        }
    }
}

int run_html_write(struct buf *out, const json_t *batch) {
    add_head(out, batch);
    add_students(out, batch);
    add_doubts(out, batch);
    add_preference(out, batch);
    run_answers_write(out, batch);
    add_provenance(out, batch);
    return buf_adds(out, "</body></html>\n");
}
