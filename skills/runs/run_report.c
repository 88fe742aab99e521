#include "skills/runs/run_report.h"

#include "base/buf.h"
#include "base/words.h"

#include <math.h>

#define BAR 20
#define ROWS_SHOWN 60

static void add_bar(struct buf *out, const char *label, double rate) {
    if (isnan(rate)) {
        return;
    }
    long full = lround(fmin(fmax(rate, 0), 1) * BAR);
    buf_addf(out, "    %-9s ", label);
    for (long i = 0; i < BAR; i++) {
        buf_adds(out, i < full ? "█" : "░");
    }
    buf_addf(out, " %3ld %%\n", lround(100 * rate));
}

static void add_row(struct buf *out, const json_t *row, bool with_name) {
    words_add(out, with_name ? "- {run|}[{!state=complete} ({state|})]\n" : "", row);
    words_add(
        out,
        "  {skill|} with {model|}: {verdict|not judged}[  {lift.estimate%+.0p} points"
        "[ \\[{lift.low%+.0p}, {lift.high%+.0p}\\]]"
        "[, p {?lift.p=*}[{?lift.p>0.1}= {lift.p%.2f}|{?lift.p>0.001}= {lift.p%.3f}|"
        "< 0.001]]]\n",
        row);
    add_bar(out, "baseline", json_get_number(row, "baseline_rate", NAN));
    add_bar(out, "skill", json_get_number(row, "skill_rate", NAN));
}

void run_list_describe(const json_t *result, struct buf *out) {
    const json_t *rows = json_object_get(result, "runs");
    if (json_array_size(rows) == 0) {
        buf_addf(out, "No evaluations on record in %s.\n",
                 json_get_string(result, "dir", ""));
    }
    json_each(rows, i, row) {
        if (i < ROWS_SHOWN) {
            add_row(out, row, true);
        }
    }
    long long more = json_get_integer(result, "omitted", 0);
    if (json_array_size(rows) > ROWS_SHOWN) {
        more += (long long)json_array_size(rows) - ROWS_SHOWN;
    }
    if (more) {
        buf_addf(out, "… and %lld more\n", more);
    }
}

void run_preference_describe(const json_t *result, struct buf *out) {
    words_add(out, "{preference:{sentence|}\n}", result);
}

void run_show_describe(const json_t *result, struct buf *out) {
    if (json_get_string(result, "path", json_get_string(result, "text", NULL))) {
        words_add(out, "[Wrote {path} ({bytes|0} bytes).\n|{text}]", result);
        return;
    }
    words_add(out,
              "{run|} ({state|})\n{evaluation.sentence|No evaluation was finished.}\n",
              result);
    json_each(json_object_get(result, "rows"), i, row) {
        add_row(out, row, false);
    }
    run_preference_describe(result, out);
    words_add(out, "[{cells-0}|0] cells in {folder|}\n", result);
}
