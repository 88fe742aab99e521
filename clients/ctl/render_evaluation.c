/* skill/evaluate's result on a terminal. */
#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "clients/ctl/evaluation_plot.h"
#include "clients/ctl/render.h"

#include <math.h>

#define CHANGED_SHOWN 8u
#define INDENT 11
#define LIFT_COLUMN (INDENT + PLOT_LIFT_CELLS + 12) /* behind "-100 … +100  " */

static const struct facts facts = {STYLE_DIM, 2, INDENT};

/* --- the arms --- */

enum column {
    NAME,
    BAR,
    RATE,
    INTERVAL,
    ANSWERS,
    ERRORED,
    REFUSED,
    SKIPPED,
    TOKENS,
    COST
};
static const char *const column_titles[] = {
    "  arm",   "pass rate", "",        "95 % interval", "passed",
    "errored", "refused",   "skipped", "tokens",        "cost"};

static bool any(const json_t *arms, const char *key) {
    return json_any(arms, arm, number_of(arm, key) > 0);
}

/* What is there to say, and fits; returns how many columns. */
static size_t choose_columns(const struct terminal *t, const json_t *arms,
                             enum column *ret) {
    size_t n = 0;
    ret[n++] = NAME;
    if (t->width >= 60) {
        ret[n++] = BAR;
    }
    ret[n++] = RATE;
    if (t->width >= 44) {
        ret[n++] = INTERVAL;
    }
    ret[n++] = ANSWERS;
    for (size_t k = ERRORED; k <= SKIPPED; k++) {
        if (any(arms, column_titles[k])) {
            ret[n++] = (enum column)k;
        }
    }
    if (t->width >= 76) {
        ret[n++] = TOKENS;
    }
    if (t->width >= 76 && any(arms, "cost")) {
        ret[n++] = COST;
    }
    return n;
}

static void put_amount(struct table *table, double value) {
    char plain[32], grouped[48];
    int len = snprintf(plain, sizeof plain, "%.0f", value), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) {
            grouped[at++] = ',';
        }
        grouped[at++] = plain[i];
    }
    table_cellf(table, "%.*s", at, grouped);
}

static void rate_cells(const struct terminal *t, struct table *table, const json_t *arm,
                       enum column column, enum style style) {
    double rate = number_of(arm, "pass_rate"), low = number_of(arm, "low"),
           high = number_of(arm, "high");
    autobuf bar = BUF_INIT(1024);
    if (isnan(rate)) {
        table_cell(table, column == BAR ? "no graded answer" : "–");
    } else if (column == BAR) {
        evaluation_plot_rate(&bar, rate, low, high,
                             t->width >= 76 ? PLOT_CELLS : PLOT_CELLS / 2);
        table_cell(table, bar.data);
        table_style(table, style);
    } else if (column == RATE) {
        table_cellf(table, "%.0f %%", 100 * rate);
        table_style(table, STYLE_BOLD);
    } else {
        table_cellf(table, "%.0f – %.0f %%", 100 * low, 100 * high);
    }
}

static void count_cell(struct table *table, const json_t *arm, const char *key) {
    double count = number_of(arm, key);
    table_cellf(table, "%.0f", count);
    table_style(table, count > 0 ? STYLE_YELLOW : STYLE_DIM);
}

static void arm_cell(const struct terminal *t, struct table *table, const json_t *arm,
                     enum column column, enum style style) {
    double cost = number_of(arm, "cost");
    switch (column) {
    case NAME: {
        table_cellf(table, "  %s", json_get_string(arm, "name", ""));
        break;
    }
    case BAR:
    case RATE:
    case INTERVAL:
        rate_cells(t, table, arm, column, style);
        break;
    case ANSWERS:
        table_cellf(table, "%.0f of %.0f", number_of(arm, "passed"),
                    number_of(arm, "runs"));
        break;
    case TOKENS:
        put_amount(table, number_of(json_object_get(arm, "tokens"), "total"));
        break;
    case COST:
        table_cellf(table, "%.4f", isnan(cost) ? 0 : cost);
        break;
    default:
        count_cell(table, arm, column_titles[column]);
    }
}

static void arms_table(const struct terminal *t, const json_t *arms, enum style style) {
    enum column columns[ARRAY_LEN(column_titles)];
    const char *titles[ARRAY_LEN(column_titles) + 1] = {NULL};
    size_t n = choose_columns(t, arms, columns);
    for (size_t i = 0; i < n; i++) {
        titles[i] = column_titles[columns[i]];
    }
    struct table *table = table_new(titles);
    json_each(arms, i, arm) {
        bool skill = json_says(arm, "name", "skill");
        for (size_t k = 0; k < n; k++) {
            arm_cell(t, table, arm, columns[k], skill ? style : STYLE_PLAIN);
        }
    }
    table_print_and_free(t, table);
}

/* --- the lift --- */

/* Behind what ends at that column, or below it where there is no room. */
static void put_p(const struct terminal *t, double p, int column) {
    char text[32];
    snprintf(text, sizeof text,
             p < 0.001 ? "p < 0.001"
             : p < 0.1 ? "p = %.3f"
                       : "p = %.2f",
             p);
    if (isnan(p) || t->width < 50) {
        return;
    }
    if (column + 2 + (int)strlen(text) <= t->width) {
        printf(", %s", text);
    } else {
        printf("\n%*s%s", INDENT, "", text);
    }
}

static void lift_line(const struct terminal *t, const char *label, const json_t *lift,
                      enum style style) {
    double estimate = number_of(lift, "estimate"), low = number_of(lift, "low"),
           high = number_of(lift, "high"), p = number_of(lift, "p");
    autobuf plot = BUF_INIT(1024);
    if (isnan(estimate)) {
        return;
    }
    terminal_putf(t, STYLE_DIM, "  %-*s", INDENT - 2, label);
    if (t->width >= 76) {
        evaluation_plot_lift(&plot, estimate, low, high);
        terminal_put(t, STYLE_DIM, "-100 ");
        terminal_put(t, style, plot.data);
        terminal_put(t, STYLE_DIM, " +100");
        fputs("  ", stdout);
    }
    autobuf text = BUF_INIT(1024);
    buf_addf(&text, "%+.0f points", 100 * estimate);
    if (!isnan(low) && !isnan(high)) {
        buf_addf(&text, " [%+.0f, %+.0f]", 100 * low, 100 * high);
    }
    fputs(text.data, stdout);
    put_p(t, p, (plot.len ? LIFT_COLUMN : INDENT) + (int)text.len);
    putchar('\n');
}

static void lift_lines(const struct terminal *t, const json_t *student,
                       enum style style) {
    const json_t *ratio = json_object_get(student, "token_ratio");
    lift_line(t, "lift", json_object_get(student, "lift"), style);
    json_each(json_object_get(student, "lifts"), i, one) {
        autofree char *label = xasprintf("%s vs %s", json_get_string(one, "arm", ""),
                                         json_get_string(one, "vs", ""));
        if (strlen(label) >= INDENT - 2) {
            terminal_fact(t, &facts, label, STYLE_PLAIN, "%s", "");
            lift_line(t, "", one, verdict_style(one));
        } else {
            lift_line(t, label, one, verdict_style(one));
        }
    }
    double estimate = number_of(ratio, "estimate");
    if (!isnan(estimate)) {
        terminal_fact(t, &facts, "tokens", STYLE_PLAIN,
                      "%.2f times those without the skill [%.2f, %.2f]", estimate,
                      number_of(ratio, "low"), number_of(ratio, "high"));
    }
}

/* --- tests that changed --- */

struct changed {
    const char *id;
    unsigned before, after, runs;
};

/* Runs that were graded in both arms alone. */
static struct changed test_change(const json_t *test) {
    struct changed c = {.id = json_get_string(test, "id", "")};
    json_each(json_object_get(test, "pairs"), i, pair) {
        const json_t *before = json_object_get(pair, "baseline"),
                     *after = json_object_get(pair, "skill");
        if (json_is_boolean(before) && json_is_boolean(after)) {
            c.before += json_is_true(before);
            c.after += json_is_true(after);
            c.runs++;
        }
    }
    return c;
}

static void changed_line(const struct terminal *t, const json_t *tests, bool better) {
    autobuf text = BUF_INIT(64u << 10);
    size_t count = 0;
    json_each(tests, i, test) {
        struct changed c = test_change(test);
        if (better ? c.after <= c.before : c.after >= c.before) {
            continue;
        }
        if (count++ < CHANGED_SHOWN) {
            buf_addf(&text, "%s%.60s %u→%u/%u", text.len ? ", " : "", c.id, c.before,
                     c.after, c.runs);
        }
    }
    if (count > CHANGED_SHOWN) {
        buf_addf(&text, " and %zu more", count - CHANGED_SHOWN);
    }
    if (count) {
        terminal_fact(t, &facts, better ? "better" : "worse",
                      better ? STYLE_GREEN : STYLE_RED, "%zu of %zu tests: %s", count,
                      json_array_size(tests), text.data);
    }
}

/* --- what may be wrong --- */

static void injection_line(const struct terminal *t, const json_t *student) {
    const json_t *injection = json_object_get(student, "injection");
    const json_t *ok = json_object_get(injection, "ok");
    double expected = number_of(injection, "expected_tokens"),
           seen = number_of(injection, "seen_tokens");
    bool answered = any(json_object_get(student, "arms"), "runs");
    if (!json_is_object(injection) || json_is_true(ok) || !answered) {
        return;
    }
    autofree char *text =
        json_is_false(ok)
            ? xasprintf("the skill did not arrive: prompts grew by only %.0f of its %.0f "
                        "tokens",
                        seen, expected)
            : xasprintf("the endpoint does not count tokens, so nobody checked that the "
                        "skill arrived");
    terminal_fact(t, &facts, "warning", json_is_false(ok) ? STYLE_RED : STYLE_YELLOW,
                  "%s", text);
}

static void activation_line(const struct terminal *t, const json_t *activation) {
    if (json_is_object(activation)) {
        terminal_fact(t, &facts, "opened",
                      number_of(activation, "activated") > 0 ? STYLE_PLAIN : STYLE_YELLOW,
                      "the agent opened the skill in %.0f of %.0f "
                      "answers",
                      number_of(activation, "activated"), number_of(activation, "of"));
    }
}

/* The first error, unless the sentence has told it. */
static void error_lines(const struct terminal *t, const json_t *student) {
    const json_t *error = json_object_get(student, "error");
    const char *sentence = json_get_string(student, "sentence", "");
    const char *message = json_get_string(error, "message", NULL);
    const char *hint = json_get_string(error, "hint", NULL);
    if (message && !strstr(sentence, message)) {
        terminal_fact(t, &facts, "error", STYLE_YELLOW, "test %s: %s",
                      json_get_string(error, "test", "?"), message);
    }
    if (hint && !strstr(sentence, hint)) {
        terminal_fact(t, &facts, "hint", STYLE_BLUE, "%s", hint);
    }
}

void render_student_head(const struct terminal *t, const json_t *student, bool alone) {
    putchar('\n');
    terminal_put(t, STYLE_BOLD, json_get_string(student, "model", ""));
    fputs(": ", stdout);
    terminal_line(t, verdict_style(student), json_get_string(student, "verdict", ""));
    if (!alone) {
        fputs("  ", stdout);
        terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(student, "sentence", ""), 2,
                             2);
    }
}

static void student_lines(const struct terminal *t, const json_t *student, bool alone) {
    enum style style = verdict_style(student);
    const json_t *tests = json_object_get(student, "tests");
    render_student_head(t, student, alone);
    arms_table(t, json_object_get(student, "arms"), style);
    lift_lines(t, student, style);
    changed_line(t, tests, true);
    changed_line(t, tests, false);
    activation_line(t, json_object_get(student, "activation"));
    injection_line(t, student);
    error_lines(t, student);
}

/* --- the end --- */

static double most_tests_needed(const json_t *students) {
    double most = 0;
    json_each(students, i, student) {
        double more = number_of(json_object_get(student, "lift"), "more_tests_needed");
        bool open = json_says(student, "verdict", "no_evidence");
        most = open && more > most ? more : most;
    }
    return most;
}

static bool any_errored(const json_t *students) {
    return json_any(students, student, any(json_object_get(student, "arms"), "errored"));
}

/* Every student fails most tests with the skill, too. */
static bool is_too_hard(const json_t *students) {
    json_each(students, i, student) {
        json_each(json_object_get(student, "arms"), k, arm) {
            if (json_says(arm, "name", "skill") && !(number_of(arm, "pass_rate") < 0.5)) {
                return false;
            }
        }
    }
    return json_array_size(students) > 0;
}

static void next_line(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students");
    const char *verdict = json_get_string(result, "verdict", "");
    const char *skill =
        json_get_string(json_object_get(result, "provenance"), "skill", "NAME");
    double more = most_tests_needed(students);
    autofree char *text = NULL;
    if (strcmp(json_get_string(result, "ended_by", "complete"), "complete") != 0) {
        text = xstrdup("the same command with a greater budget asks only the rest");
    } else if (any_errored(students)) {
        text = xstrdup("the same command asks again only what errored");
    } else if (strcmp(verdict, "helps") == 0) {
        text = xasprintf("upskillctl skill install %s --agents claude-code", skill);
    } else if (strcmp(verdict, "hurts") == 0) {
        text = xstrdup("upskillctl run show latest --out report.html shows what got "
                       "worse, answer by answer");
    } else if (strcmp(verdict, "not_measurable") == 0 && is_too_hard(students)) {
        text =
            xasprintf("upskillctl skill generate --skill %s --teacher MODEL --students "
                      "MODEL --refine 4 lets a model fix what they fail",
                      skill);
    } else if (more > 0 && more < 1000) {
        text = xasprintf("add %.0f test%s like these and run it again; existing answers "
                         "are reused",
                         more, more == 1 ? "" : "s");
    }
    if (text) {
        terminal_fact(t, &facts, "next", STYLE_PLAIN, "%s", text);
    }
}

static void record_lines(const struct terminal *t, const json_t *result) {
    const char *run = json_get_string(result, "run", NULL);
    const char *problem = json_get_string(result, "record_problem", NULL);
    const json_t *from = json_object_get(result, "provenance");
    double requests = number_of(from, "requests"), hits = number_of(from, "cache_hits");
    putchar('\n');
    terminal_fact(t, &facts, "asked", STYLE_PLAIN,
                  "%.0f request%s, %.0f answer%s from the cache", requests,
                  text_plural(requests), hits, text_plural(hits));
    if (run) {
        terminal_fact(t, &facts, "record", STYLE_PLAIN, "upskillctl run show %s", run);
    }
    if (problem) {
        terminal_fact(t, &facts, "warning", STYLE_RED, "%s", problem);
    }
}

void render_sentence(const struct terminal *t, const json_t *result) {
    const char *verdict = json_get_string(result, "verdict", "");
    terminal_put(t, verdict_style(result), verdict);
    fputs(": ", stdout);
    terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(result, "sentence", ""),
                         (int)strlen(verdict) + 2, 0);
}

void render_evaluation(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students");
    render_sentence(t, result);
    json_each(students, i, student) {
        student_lines(t, student, json_array_size(students) == 1);
    }
    render_marks(t, json_object_get(result, "marks"));
    record_lines(t, result);
    next_line(t, result);
}
