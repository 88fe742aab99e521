#include "skills/runs/run_report.h"

#include "base/buf.h"

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

static void add_lift(struct buf *out, const json_t *lift) {
    double estimate = json_get_number(lift, "estimate", NAN),
           low = json_get_number(lift, "low", NAN), p = json_get_number(lift, "p", NAN);
    if (isnan(estimate)) {
        return;
    }
    buf_addf(out, "  %+ld points", lround(100 * estimate));
    if (!isnan(low)) {
        buf_addf(out, " [%+ld, %+ld]", lround(100 * low),
                 lround(100 * json_get_number(lift, "high", NAN)));
    }
    if (!isnan(p)) {
        buf_addf(out,
                 p < 0.001 ? ", p < 0.001"
                 : p < 0.1 ? ", p = %.3f"
                           : ", p = %.2f",
                 p);
    }
}

static void add_row(struct buf *out, const json_t *row, bool with_name) {
    if (with_name) {
        buf_addf(out, "- %s", json_get_string(row, "run", ""));
        if (!json_says(row, "state", "complete")) {
            buf_addf(out, " (%s)", json_get_string(row, "state", ""));
        }
        buf_adds(out, "\n");
    }
    buf_addf(out, "  %s with %s: %s", json_get_string(row, "skill", ""),
             json_get_string(row, "model", ""),
             json_get_string(row, "verdict", "not judged"));
    add_lift(out, json_object_get(row, "lift"));
    buf_adds(out, "\n");
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
    json_each(json_object_get(result, "preference"), i, one) {
        buf_addf(out, "%s\n", json_get_string(one, "sentence", ""));
    }
}

void run_show_describe(const json_t *result, struct buf *out) {
    const char *path = json_get_string(result, "path", NULL);
    const char *text = json_get_string(result, "text", NULL);
    if (path) {
        buf_addf(out, "Wrote %s (%lld bytes).\n", path,
                 (long long)json_get_integer(result, "bytes", 0));
        return;
    }
    if (text) {
        buf_adds(out, text);
        return;
    }
    const json_t *evaluation = json_object_get(result, "evaluation");
    buf_addf(out, "%s (%s)\n%s\n", json_get_string(result, "run", ""),
             json_get_string(result, "state", ""),
             json_get_string(evaluation, "sentence", "No evaluation was finished."));
    json_each(json_object_get(result, "rows"), i, row) {
        add_row(out, row, false);
    }
    run_preference_describe(result, out);
    buf_addf(out, "%zu cells", json_array_size(json_object_get(result, "cells")));
    buf_addf(out, " in %s\n", json_get_string(result, "folder", ""));
}
