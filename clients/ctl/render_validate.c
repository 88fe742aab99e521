/* kernel/validate's result on a terminal. */
#include "base/buf.h"
#include "base/text.h"
#include "clients/ctl/render.h"

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

/* Elements that were written and have no error, as they are infinite or not a number, or
 * should be. */
static json_int_t without_error(const json_t *output) {
    json_int_t count = count_of(output, "nonfinite") - count_of(output, "unwritten");
    return count_of(output, "mismatches") && count > 0 ? count : 0;
}

/* Whether no element has an error. Of a type without NaN, memory that was never written
 * has one, too, which says nothing. */
static bool has_no_error(const json_t *output, const char *name) {
    json_int_t wrong = count_of(output, "mismatches");
    return wrong && (count_of(output, "nonfinite")
                         ? real(json_object_get(output, name)) == 0
                         : wrong == count_of(output, "unwritten"));
}

#define SIZES "{case.sizes/ /:{@}={.}}"
static const char row_words[] =
    "[" SIZES "|–]\t{case.trial|0}\t"
    "[{?output=*}{output.name|?}\t{output.elements|0}\t"
    "[{?output.verdict=unjudged}–\t–\t–\t" YELLOW "not judged"
    "|{output.mismatches|0}\t[{?no_abs}–|{output.max_abs_error%.3g}|{output.max_abs_error|0}]"
    "\t[{?no_rel}–|{output.max_rel_error%.3g}|{output.max_rel_error|0}]"
    "\t[{?output.verdict=pass}" GREEN "ok|" RED "wrong]"
    "[, judged {output.judged} of {output.elements}{?output.elements>output.judged}]]"
    "|–\t–\t–\t–\t–\t" RED "{case.verdict|?}]";

static void output_row(struct table *table, json_t *item, json_t *output) {
    autojson *row = json_pack("{s:O,s:O*,s:b,s:b}", "case", item, "output", output,
                              "no_abs", has_no_error(output, "max_abs_error"), "no_rel",
                              has_no_error(output, "max_rel_error"));
    table_row(table, row_words, row);
}

/* Every trial that failed, and the first of those that did not. told: why one has no
 * outputs. */
static void case_table(const struct terminal *t, const json_t *cases, bool told) {
    struct table *table = table_new(
        t->width < WIDE
            ? "case\ttrial\toutput\tsize\twrong\tmax abs\tmax rel\tresult"
            : "case\ttrial\toutput\telements\twrong\tmax abs error\tmax rel error\tresult");
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
static const char relative_words[] =
    "[\t" DIM "{?verdict=pass}{?max_rel_error>tolerance.rtol}{name|?}: the relative error of "
    "{max_rel_error%.3g} is that of a small value; up to {tolerance.allowed} is ok\n]";
static const char without_words[] =
    "[\t" DIM "for {without_error} of {elements|0} elements of {name|?} no error can be given: they are "
    "infinite or NaN, or should be\n]";

/* Of each, once is enough. */
static void explain_errors(const struct terminal *t, const json_t *cases) {
    bool relative = false, none = false;
    json_each(cases, i, item) {
        json_each(json_object_get(item, "outputs"), k, output) {
            autobuf text = BUF_INIT(1u << 20);
            words_add(&text, relative_words, output);
            if (text.len && !relative) {
                terminal_words(t, 0, relative_words, output);
                relative = true;
            }
            if (without_error(output) && !none) {
                autojson *told = json_copy(output);
                json_object_set_new(told, "without_error",
                                    json_integer(without_error(output)));
                terminal_words(t, 0, without_words, told);
                none = true;
            }
        }
    }
}

/* --- what is wrong with an output --- */

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
                         terminal_bar_cells(t, 28));
        bar.data[strcspn(bar.data, " ")] = '\0'; /* nothing stands behind it */
        fputs(*bar.data ? "  " : "", stdout);
        terminal_line(t, power > -7 ? STYLE_RED : STYLE_GREEN, bar.data);
    }
}

static const char wrong_words[] =
    "\n\tfirst wrong elements of " BOLD "{output.name|?}" END "[ in " SIZES
    "], trial {case.trial|0}, seed {case.seed|?}\n"
    "{output.samples:  \t\\[{index/, /:{.}}\\] is " RED "{actual|0}" END "[ " DIM
    "({state})" END "], should be {expected|0}\n}";

static void first_wrong(const struct terminal *t, const json_t *cases) {
    json_each(cases, i, item) {
        json_each(json_object_get(item, "outputs"), k, output) {
            if (!json_says(output, "verdict", "fail")) {
                continue;
            }
            autojson *told = json_pack("{s:O,s:O}", "case", item, "output", output);
            terminal_words(t, 0, wrong_words, told);
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
    render_printed(t, "\nthe kernel printed", json_get_string(result, "printf", ""));
    terminal_words(t, 0, SAVED_WORDS, result);
    put_error(t, result);
    put_verdict(t, result);
    if (verdict_tells(result)) {
        put_hint(t, result);
    }
    put_again(t, params, result);
}
