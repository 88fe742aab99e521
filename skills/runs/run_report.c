#include "skills/runs/run_report.h"

#include "base/buf.h"
#include "base/words.h"

#include <math.h>

#define BAR 20

static void add_bar(struct buf *out, const json_t *rate, const void *) {
    long full = lround(fmin(fmax(json_number_value(rate), 0), 1) * BAR);
    for (long i = 0; i < BAR; i++) {
        buf_adds(out, i < full ? "█" : "░");
    }
}

static const struct words_part parts[] = {{"bar", add_bar}, {0}};
static const struct words_manner manner = {.parts = parts};

#define ROW                                                                              \
    "  {skill|} with {model|}: {verdict|not judged}[  {lift.estimate%+.0p} points"         \
    "[ \\[{lift.low%+.0p}, {lift.high%+.0p}\\]]"                                         \
    "[, p {?lift.p=*}[{?lift.p>0.1}= {lift.p%.2f}|{?lift.p>0.001}= {lift.p%.3f}|"         \
    "< 0.001]]]\n"                                                                       \
    "[    baseline  {baseline_rate#bar} {baseline_rate%3.0p} %\n]"                       \
    "[    skill     {skill_rate#bar} {skill_rate%3.0p} %\n]"

void run_list_describe(const json_t *result, struct buf *out) {
    const size_t shown = 60, rows = json_array_size(json_object_get(result, "runs"));
    words_add_as(out, &manner,
                 "[{?runs}|No evaluations on record in {dir|}.\n]"
                 "{runs<60:- {run|}[{!state=complete} ({state|})]\n" ROW "}",
                 result);
    long long more = json_get_integer(result, "omitted", 0) +
                     (long long)(rows > shown ? rows - shown : 0);
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
    words_add_as(out, &manner,
                 "{run|} ({state|})\n{evaluation.sentence|No evaluation was finished.}\n"
                 "{rows:" ROW "}{preference:{sentence|}\n}"
                 "[{cells-0}|0] cells in {folder|}\n",
                 result);
}
