/* skill/evaluate's result on a terminal. */
#include "base/buf.h"
#include "base/find.h"
#include "clients/ctl/render.h"

#define CHANGED_SHOWN 8u
#define INDENT 11

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
    double rate = number_of(arm, "pass_rate");
    autobuf bar = BUF_INIT(1024);
    if (isnan(rate)) {
        table_cell(table, column == BAR ? "no graded answer" : "–");
    } else if (column == BAR) {
        terminal_add_rate(&bar, arm, t->width >= 76 ? PLOT_CELLS : PLOT_CELLS / 2);
        table_cell(table, bar.data);
        table_style(table, style);
    } else if (column == RATE) {
        table_cellf(table, "%.0f %%", 100 * rate);
        table_style(table, STYLE_BOLD);
    } else {
        table_row(table, "{low%.0p} – {high%.0p} %", arm);
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
    autobuf titles = BUF_INIT(400);
    size_t n = choose_columns(t, arms, columns);
    for (size_t i = 0; i < n; i++) {
        buf_addf(&titles, "%s%s", i ? "\t" : "", column_titles[columns[i]]);
    }
    struct table *table = table_new(titles.data);
    json_each(arms, i, arm) {
        bool skill = json_says(arm, "name", "skill");
        for (size_t k = 0; k < n; k++) {
            arm_cell(t, table, arm, columns[k], skill ? style : STYLE_PLAIN);
        }
    }
    table_print_and_free(t, table);
}

/* --- the lift --- */

#define P "p {?p=*}[{?p>0.1}= {p%.2f}|{?p>0.001}= {p%.3f}|< 0.001]"

/* A plot where there is room for it, and the figures. A longer label has a line, and p
 * where it would not fit. */
static const char lift_words[] =
    "[" DIM "  {label}" END "\n]" DIM "  {short%-9s}" END
    "[{?wide}" DIM "-100 " END "{.#style}{.#lift}" END DIM " +100" END "  ]"
    "\t{estimate%+.0p} points[ \\[{low%+.0p}, {high%+.0p}\\]]"
    "[, {!below}" P "]\n[           {?below}" P "\n]";

static void lift_line(const struct terminal *t, const char *label, const json_t *lift,
                      const char *verdict) {
    if (isnan(number_of(lift, "estimate"))) {
        return;
    }
    bool fits = strlen(label) < INDENT - 2, wide = t->width >= 76;
    autojson *told = json_copy((json_t *)(uintptr_t)lift);
    autojson *more = json_pack("{s:b,s:b,s:s,s:s?,s:s}", "wide", wide, "below",
                               t->width < (wide ? 90 : 46), "short", fits ? label : "",
                               "label", fits ? NULL : label, "verdict", verdict);
    json_object_update(told, more);
    terminal_words(t, 0, lift_words, told);
}

static void lift_lines(const struct terminal *t, const json_t *student) {
    lift_line(t, "lift", json_object_get(student, "lift"),
              json_get_string(student, "verdict", ""));
    json_each(json_object_get(student, "lifts"), i, one) {
        autofree char *label = xasprintf("%s vs %s", json_get_string(one, "arm", ""),
                                         json_get_string(one, "vs", ""));
        lift_line(t, label, one, json_get_string(one, "verdict", ""));
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

/* What the tokens say, whether an agent opened the skill, whether a model got it, and the
 * first error. */
#define LABEL(word) "  " DIM word END "\t"
static const char tokens_words[] =
    "[" LABEL("tokens") "{token_ratio.estimate%.2f} times those without the skill "
    "\\[[{token_ratio.low%.2f}|?], [{token_ratio.high%.2f}|?]\\]\n]";
static const char doubt_words[] =
    "[" LABEL("opened") "{?activation=*}[{?activation.activated}|" YELLOW "]the agent opened "
    "the skill in {activation.activated|0} of {activation.of|0} answers\n]"
    "[" LABEL("warning") RED "{?injection.ok=false}the skill did not arrive: prompts grew by "
    "only [{injection.seen_tokens%.0f}|0] of its {injection.expected_tokens%.0f} tokens\n"
    "|{?injection}{!injection.ok}" LABEL("warning") YELLOW "the endpoint does not count "
    "tokens, so nobody checked that the skill arrived\n]"
    "[" LABEL("error") YELLOW "test {error.test|?}: {error.message}\n]"
    "[" LABEL("hint") BLUE "{error.hint}\n]";

/* Without what the sentence has told, and what says nothing where nobody answered. */
static void doubt_lines(const struct terminal *t, const json_t *student) {
    static const char *const told[] = {"message", "hint"};
    const char *sentence = json_get_string(student, "sentence", "");
    autojson *copy = json_copy((json_t *)(uintptr_t)student);
    json_t *error = json_copy(json_object_get(student, "error"));
    for (size_t i = 0; error && i < ARRAY_LEN(told); i++) {
        if (strstr(sentence, json_get_string(error, told[i], " "))) {
            json_object_del(error, told[i]);
        }
    }
    json_object_set_new(copy, "error", error ? error : json_null());
    if (!any(json_object_get(student, "arms"), "runs")) {
        json_object_del(copy, "injection");
    }
    terminal_words(t, INDENT, doubt_words, copy);
}

void render_student_head(const struct terminal *t, const json_t *student, bool alone) {
    terminal_words(t, 0, "\n" BOLD "{model|}" END ": {.#verdict}\n", student);
    if (!alone) {
        terminal_words(t, 0, "  \t{sentence|}\n", student);
    }
}

static void student_lines(const struct terminal *t, const json_t *student, bool alone) {
    enum style style = verdict_style(student);
    const json_t *tests = json_object_get(student, "tests");
    render_student_head(t, student, alone);
    arms_table(t, json_object_get(student, "arms"), style);
    lift_lines(t, student);
    terminal_words(t, INDENT, tokens_words, student);
    changed_line(t, tests, true);
    changed_line(t, tests, false);
    doubt_lines(t, student);
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

#define SKILL "{provenance.skill|NAME}"
static const char next_words[] =
    "[{?ended_by=*}{!ended_by=complete}" LABEL("next") "the same command with a greater budget "
    "asks only the rest\n"
    "|{?errored}" LABEL("next") "the same command, without --fresh, asks again only what errored\n"
    "|{?verdict=helps}" LABEL("next") "upskillctl skill install " SKILL
    " --agents claude-code\n"
    "|{?verdict=hurts}" LABEL("next") "upskillctl run show latest --out report.html shows what "
    "got worse, answer by answer\n"
    "|{?too_hard}{?verdict=not_measurable}" LABEL("next") "upskillctl skill generate --skill "
    SKILL " --teacher MODEL --students MODEL --refine 4 lets a model fix what they fail\n"
    "|{?more}{!more>999}" LABEL("next") "add {more%.0f} test[{!more=1}s] like these and run it "
    "again; existing answers are reused\n]";

static void next_line(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students");
    autojson *told = json_copy((json_t *)(uintptr_t)result);
    autojson *more = json_pack("{s:b,s:b,s:f}", "errored", any_errored(students), "too_hard",
                               is_too_hard(students), "more", most_tests_needed(students));
    json_object_update(told, more);
    terminal_words(t, INDENT, next_words, told);
}

static const char record_words[] =
    "\n" LABEL("asked") "[{provenance.requests%.0f}|0] request[{!provenance.requests=1}s], "
    "[{provenance.cache_hits%.0f}|0] answer[{!provenance.cache_hits=1}s] from the cache\n"
    "[" LABEL("record") "upskillctl run show {run}\n]"
    "[" LABEL("warning") RED "{record_problem}\n]";

void render_sentence(const struct terminal *t, const json_t *result) {
    terminal_words(t, 0, "\t{.#verdict}: {sentence|}\n", result);
}

void render_evaluation(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students");
    render_sentence(t, result);
    json_each(students, i, student) {
        student_lines(t, student, json_array_size(students) == 1);
    }
    render_marks(t, json_object_get(result, "marks"));
    terminal_words(t, INDENT, record_words, result);
    next_line(t, result);
}
