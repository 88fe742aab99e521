/* kernel/validate's result on a terminal. */
#include "base/buf.h"
#include "base/text.h"
#include "base/words.h"
#include "clients/ctl/render.h"

#include <math.h>

enum { MAX_ROWS = 24, WIDE = 80 };

static double real(const json_t *value) {
    const char *word = json_string_value(value);
    return !word                  ? json_number_value(value)
           : !strcmp(word, "NaN") ? NAN
           : *word == '-'         ? -INFINITY
                                  : INFINITY;
}

static bool passes(const json_t *item) {
    return json_says(item, "verdict", "pass");
}

/* --- the table of cases --- */

char *render_sizes(const json_t *sizes) {
    autobuf out = BUF_INIT(400);
    json_each_member(sizes, name, value) {
        buf_addf(&out, "%s%.64s=%lld", out.len ? " " : "", name,
                 json_integer_value(value));
    }
    return buf_detach(&out);
}

static void sizes_cell(struct table *table, const json_t *sizes) {
    autofree char *text = render_sizes(sizes);
    table_cell(table, *text ? text : "–");
}

/* Elements that were written and have no error, as they are infinite or not a number, or
 * should be. */
static json_int_t without_error(const json_t *output) {
    json_int_t count = count_of(output, "nonfinite") - count_of(output, "unwritten");
    return count_of(output, "mismatches") && count > 0 ? count : 0;
}

/* The largest error of those that have one. Of a type without NaN, memory that was never
 * written has one, too, which says nothing. */
static void error_cell(struct table *table, const json_t *output, const char *name) {
    double error = real(json_object_get(output, name));
    json_int_t wrong = count_of(output, "mismatches");
    bool none = count_of(output, "nonfinite") ? error == 0
                                              : wrong == count_of(output, "unwritten");
    if (wrong && none) {
        table_cell(table, "–");
    } else {
        table_cellf(table, "%.3g", error);
    }
}

static void output_row(struct table *table, const json_t *item, const json_t *output) {
    sizes_cell(table, json_object_get(item, "sizes"));
    table_cellf(table, "%lld", count_of(item, "trial"));
    if (!output) {
        for (int i = 0; i < 5; i++) {
            table_cell(table, "–");
        }
        table_cell(table, json_get_string(item, "verdict", "?"));
        table_style(table, STYLE_RED);
        return;
    }
    table_cell(table, json_get_string(output, "name", "?"));
    json_int_t elements = count_of(output, "elements");
    table_cellf(table, "%lld", elements);
    if (json_says(output, "verdict", "unjudged")) {
        for (int i = 0; i < 3; i++) {
            table_cell(table, "–");
        }
        table_cell(table, "not judged");
        table_style(table, STYLE_YELLOW);
        return;
    }
    table_cellf(table, "%lld", count_of(output, "mismatches"));
    error_cell(table, output, "max_abs_error");
    error_cell(table, output, "max_rel_error");
    json_int_t judged = json_get_integer(output, "judged", elements);
    autofree char *of = judged < elements
                            ? xasprintf(", judged %lld of %lld", judged, elements)
                            : xstrdup("");
    table_cellf(table, "%s%s", passes(output) ? "ok" : "wrong", of);
    table_style(table, passes(output) ? STYLE_GREEN : STYLE_RED);
}

/* Every trial that failed, and the first of those that did not. told: why one has no
 * outputs. */
static void case_table(const struct terminal *t, const json_t *cases, bool told) {
    static const char *const wide[] = {"case",          "trial",  "output",
                                       "elements",      "wrong",  "max abs error",
                                       "max rel error", "result", NULL};
    static const char *const narrow[] = {"case",    "trial",   "output", "size", "wrong",
                                         "max abs", "max rel", "result", NULL};
    struct table *table = table_new(t->width < WIDE ? narrow : wide);
    size_t rows = 0, left = 0, good = 0, unjudged = 0;
    json_each(cases, i, item) {
        if (!passes(item) && !told && !json_array_size(json_object_get(item, "outputs"))) {
            output_row(table, item, NULL); /* it did not get so far */
            rows++;
        }
        if ((passes(item) || json_says(item, "verdict", "unjudged")) &&
            count_of(item, "trial")) {
            good++;
            unjudged += !passes(item);
            continue;
        }
        json_each(json_object_get(item, "outputs"), k, output) {
            if (rows++ < MAX_ROWS) {
                output_row(table, item, output);
            } else {
                left++;
            }
        }
    }
    if (rows) {
        table_print_and_free(t, table);
    } else {
        table_free(table);
    }
    if (left) {
        printf("and %zu more\n", left);
    }
    if (good) {
        printf("and %zu more trial%s, %s\n", good, good == 1 ? "" : "s",
               unjudged ? "not judged" : "none wrong");
    }
}

/* A large relative error of a small value needs a word: why is it ok? */
static bool put_relative(const struct terminal *t, const json_t *output) {
    const json_t *tolerance = json_object_get(output, "tolerance");
    double error = real(json_object_get(output, "max_rel_error"));
    const char *allowed = json_get_string(tolerance, "allowed", NULL);
    if (!allowed || !passes(output) || error <= real(json_object_get(tolerance, "rtol"))) {
        return false;
    }
    terminal_wrapf(t, STYLE_DIM, 0, 0,
                   "%.64s: the relative error of %.3g is that of a small value; up to "
                   "%s is ok",
                   json_get_string(output, "name", "?"), error, allowed);
    return true;
}

static bool put_without_error(const struct terminal *t, const json_t *output) {
    json_int_t count = without_error(output);
    if (!count) {
        return false;
    }
    terminal_wrapf(t, STYLE_DIM, 0, 0,
                   "%lld of %lld elements of %.64s have no error: they are infinite or "
                   "NaN, or should be",
                   count, count_of(output, "elements"),
                   json_get_string(output, "name", "?"));
    return true;
}

/* Of each, once is enough. */
static void explain_errors(const struct terminal *t, const json_t *cases) {
    bool relative = false, none = false;
    json_each(cases, i, item) {
        json_each(json_object_get(item, "outputs"), k, output) {
            relative = relative || put_relative(t, output);
            none = none || put_without_error(t, output);
        }
    }
}

/* --- what is wrong with an output --- */

static void put_value(const struct terminal *t, enum style style, int *column,
                      const char *words, const json_t *value) {
    terminal_flow(t, STYLE_PLAIN, column, 4, "%s", words);
    if (json_is_integer(value)) {
        terminal_flow(t, style, column, 4, " %lld", json_integer_value(value));
    } else {
        terminal_flow(t, style, column, 4, " %.9g", real(value));
    }
}

static void put_sample(const struct terminal *t, const json_t *sample) {
    const char *state = json_get_string(sample, "state", NULL);
    autobuf index = BUF_INIT(1024);
    json_each(json_object_get(sample, "index"), i, at) {
        buf_addf(&index, "%s%lld", i ? ", " : "", json_integer_value(at));
    }
    int column = printf("  [%s] ", index.data ? index.data : "");
    put_value(t, STYLE_RED, &column, " is", json_object_get(sample, "actual"));
    if (state) {
        terminal_flow(t, STYLE_DIM, &column, 4, " (%s)", state);
    }
    put_value(t, STYLE_PLAIN, &column, ", should be",
              json_object_get(sample, "expected"));
    putchar('\n');
}

/* How far off the elements are: one row per power of two. */
static void histogram(const struct terminal *t, const json_t *buckets) {
    double largest = 0;
    json_each(buckets, i, bucket) {
        largest = fmax(largest, (double)count_of(bucket, "count"));
    }
    if (json_array_size(buckets) < 2) {
        return;
    }
    puts("  relative error   elements (log. bars)");
    json_each(buckets, i, bucket) {
        double power = real(json_object_get(bucket, "log2_error"));
        if (isinf(power)) {
            fputs("           none  ", stdout);
        } else {
            printf("      from 2^%-4.0f", power);
        }
        printf(" %8lld", count_of(bucket, "count"));
        /* By the logarithm: one wrong element among millions should be seen. */
        autobuf bar = BUF_INIT(4096);
        terminal_add_bar(&bar, log1p((double)count_of(bucket, "count")) / log1p(largest),
                         render_bar_cells(t, 28));
        bar.data[strcspn(bar.data, " ")] = '\0'; /* nothing stands behind it */
        fputs(*bar.data ? "  " : "", stdout);
        terminal_line(t, power > -7 ? STYLE_RED : STYLE_GREEN, bar.data);
    }
}

/* "first wrong elements of y in n=1000, trial 0, seed 0x…" */
static void put_case(const struct terminal *t, const json_t *item, const char *output) {
    autofree char *text = render_sizes(json_object_get(item, "sizes"));
    int column = 0;
    putchar('\n');
    terminal_flow(t, STYLE_PLAIN, &column, 2, "first wrong elements of");
    terminal_flow(t, STYLE_BOLD, &column, 2, " %s", output);
    terminal_flow(t, STYLE_PLAIN, &column, 2, "%s%s, trial %lld, seed %s",
                  *text ? " in " : "", text, count_of(item, "trial"),
                  json_get_string(item, "seed", "?"));
    putchar('\n');
}

static void first_wrong(const struct terminal *t, const json_t *cases) {
    json_each(cases, i, item) {
        json_each(json_object_get(item, "outputs"), k, output) {
            if (!json_says(output, "verdict", "fail")) {
                continue;
            }
            put_case(t, item, json_get_string(output, "name", "?"));
            json_each(json_object_get(output, "samples"), n, sample) {
                put_sample(t, sample);
            }
            histogram(t, json_object_get(output, "histogram"));
            return;
        }
    }
}

/* --- the rest --- */

/* The verdict, which comes last, has the message. */
static bool verdict_tells(const json_t *result) {
    const json_t *error = json_object_get(result, "error");
    const char *message = json_get_string(error, "message", NULL);
    return message && strstr(json_get_string(result, "summary", ""), message);
}

static void put_hint(const struct terminal *t, const json_t *result) {
    const json_t *error = json_object_get(result, "error");
    render_labelled(t, STYLE_BLUE, "hint", json_get_string(error, "hint", NULL));
}

static void put_error(const struct terminal *t, const json_t *result) {
    const json_t *error = json_object_get(result, "error");
    bool told = verdict_tells(result);
    render_labelled(t, verdict_style(result), json_get_string(error, "stage", ""),
                    told ? NULL : json_get_string(error, "message", NULL));
    terminal_words(t, 0, "{unsupported:  " BOLD "{opcode|?}" END " at {file|?}:{line|0}\n}",
                   result);
    if (!told) {
        put_hint(t, result);
    }
}

static void put_printed(const struct terminal *t, const char *text) {
    if (*text) {
        puts("\nthe kernel printed:");
        terminal_put(t, STYLE_PLAIN, text);
        fputs(text[strlen(text) - 1] == '\n' ? "" : "\n", stdout);
    }
}

static void put_verdict(const struct terminal *t, const json_t *result) {
    autobuf text = BUF_INIT(4096);
    words_add(&text,
              "[, {cases-0} trial[{!cases=1}s]][, {findings-0} finding[{!findings=1}s]]"
              "[{?budget.skipped_trials}, {budget.skipped_trials} trials left out by the "
              "budget][, on {backend.device}]",
              result);
    putchar('\n');
    render_verdict(t, verdict_style(result), json_get_string(result, "summary", "?"),
                   &text);
    terminal_words(t, 0,
                   "[{?numerics=ideal}" DIM "tensor cores: ideal sums, not an H100's\n]"
                   "[{?ideal_trial}one trial again with ideal sums: {ideal_trial.verdict|?} "
                   "({ideal_trial.ms|0} ms)\n]"
                   "[" YELLOW "not on a GPU: {backend.fallback}\n]",
                   result);
}

/* --- how to see it again --- */

void render_word(const char *word) {
    bool plain =
        *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_./+:,=@%-") == strlen(word);
    autobuf clean = BUF_INIT(3 * strlen(word) + 1); /* the most that it can become */
    text_clean(&clean, word, strlen(word));
    if (plain) {
        fputs(clean.data, stdout);
        return;
    }
    putchar('\'');
    for (const char *c = clean.data; *c; c++) {
        fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, stdout);
    }
    putchar('\'');
}

/* An option as it was given. */
static void put_option(const char *name, const json_t *value) {
    fputs(json_is_false(value) ? " --no-" : " --", stdout);
    for (const char *c = name; *c; c++) {
        putchar(*c == '_' ? '-' : *c);
    }
    if (!json_is_boolean(value)) {
        autofree char *text = json_is_string(value) ? xstrdup(json_string_value(value))
                                                    : json_shown(value, JSON_COMPACT);
        putchar(' ');
        render_word(text);
    }
}

/* The first trial of the first case has the run's own seed: all of them follow from it.
 */
static void put_again(const struct terminal *t, const json_t *params,
                      const json_t *result) {
    const char *path = json_get_string(params, "path", NULL);
    const char *seed = json_get_string(result, "seed", NULL);
    bool ran = json_array_size(json_object_get(result, "cases")) > 0;
    if (!seed || !ran || passes(result) || json_says(result, "verdict", "unjudged")) {
        return;
    }
    fputs(terminal_start(t, STYLE_DIM), stdout);
    fputs("again: ", stdout);
    fputs(path ? "upskillctl kernel validate " : "the same with", stdout);
    if (path) {
        render_word(path);
    }
    json_each_member(params, name, value) {
        if (path && strcmp(name, "path") != 0 && strcmp(name, "seed") != 0 &&
            strcmp(name, "source") != 0 && strcmp(name, "wait") != 0) {
            put_option(name, value);
        }
    }
    fputs(" --seed ", stdout);
    render_word(seed);
    printf("%s\n", terminal_end(t));
}

void render_kernel_validate(const struct terminal *t, const json_t *params,
                            const json_t *result, const struct finding_sources *sources) {
    const json_t *check = json_object_get(result, "check");
    const json_t *cases = json_object_get(result, "cases");
    if (json_is_object(check)) {
        render_findings(t, json_object_get(check, "diagnostics"), sources);
    }
    render_findings(t, json_object_get(result, "reference_diagnostics"), sources);
    render_findings(t, json_object_get(result, "findings"), sources);
    render_explain(t, json_object_get(result, "findings"));
    if (json_array_size(cases)) {
        bool told = json_says(json_object_get(result, "error"), "stage", "reference");
        case_table(t, cases, told);
        explain_errors(t, cases);
        first_wrong(t, cases);
    }
    render_measures(t, result);
    put_printed(t, json_get_string(result, "printf", ""));
    terminal_words(t, 0, SAVED_WORDS, result);
    put_error(t, result);
    put_verdict(t, result);
    if (verdict_tells(result)) {
        put_hint(t, result);
    }
    put_again(t, params, result);
}
