#include "gpu/run/odd_trials.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/spec/odd_sizes.h"
#include "protocol/finding.h"

#include <stdio.h>
#include <string.h>

enum { MANY_TIMES = 8 }; /* what an odd case may cost of its round one */

/* The first error in a separate report. */
static void tell_why(const struct course *run, char *ret, size_t size) {
    size_t i;
    const json_t *output, *error = findings_first_error(run->report.findings);
    if (error) {
        snprintf(ret, size, "%s", json_get_string(error, "message", ""));
        return;
    }
    const json_t *only = json_array_get(run->report.cases, 0);
    json_array_foreach(json_object_get(only, "outputs"), i, output) {
        json_int_t wrong = json_get_integer(output, "mismatches", 0);
        if (wrong) {
            snprintf(ret, size, "%lld of %lld elements of '%s' are wrong",
                     (long long)wrong, (long long)json_get_integer(output, "elements", 0),
                     json_get_string(output, "name", ""));
            return;
        }
    }
    snprintf(
        ret, size, "%s",
        json_get_string(json_object_get(run->result, "error"), "message", "it fails"));
}

/* -1: it was not decided. */
static int one_trial(struct course *run, size_t i) {
    struct trial t = {0};
    struct expectation expected = {0};
    struct err err = {0};
    int r = course_kernel(run, &t, i, 0);
    bool ended = r < 0 && t.end != BACKEND_FAULT && t.end != BACKEND_DEADLOCK;
    /* A device that a fault has ended computes no reference. */
    bool known = r == 0 || strcmp(run->class->kind, "cuda") != 0;
    if (ended || (known && course_expect(run, &expected, &t, i) < 0)) {
        ended = true; /* the reference cannot be of this size either */
    } else if (r == 0) {
        r = run_report_add(&run->report, &t, 0, &expected, &err);
        ended = r < 0;
    }
    expectation_finish(&expected);
    trial_finish(&t);
    return ended ? -1 : course_is_good(run);
}

static void note(struct course *run, size_t i, const char *why) {
    json_int_t was, is;
    const char *name = odd_sizes_name(&run->spec, i, &was, &is);
    run_report_note(
        &run->report, "odd_size", "warning", NULL,
        "the kernel fails with %s = %lld, which was added because all sizes are round, "
        "but not with %lld: %.320s. If only round sizes are valid, say \"odd_sizes\": "
        "false",
        name, (long long)is, (long long)was, why);
}

static const char *run_added(struct course *run, size_t i) {
    struct course_aside aside;
    char why[512];
    course_aside_begin(run, &aside, MANY_TIMES * run->cost[run->spec.added_base]);
    int good = course_affords(run, run->spec.added_base) ? one_trial(run, i) : -1;
    if (good == 0) {
        tell_why(run, why, sizeof why);
    }
    struct run_report own = course_aside_end(run, &aside);
    bool unjudged = own.unjudged;
    run_report_finish(&own);
    if (good == 0) {
        note(run, i, why);
    }
    return good == 0 ? "fail" : good < 0 ? "skipped" : unjudged ? "unjudged" : "pass";
}

void odd_trials(struct course *run) {
    json_t *added = json_array();
    for (size_t i = run->case_count; i < run->case_count + run->added_count; i++) {
        const char *verdict = run_added(run, i);
        json_array_append_new(added, json_pack("{s:o, s:s}", "sizes",
                                               case_sizes_to_json(&run->cases[i]),
                                               "verdict", verdict));
        bool went_wrong =
            strcmp(verdict, "pass") != 0 && strcmp(verdict, "unjudged") != 0;
        if (went_wrong && !strcmp(run->class->kind, "cuda")) {
            break; /* a device that a fault has ended runs nothing more */
        }
    }
    if (json_array_size(added)) {
        json_object_set(run->result, "added_cases", added);
    }
    json_decref(added);
}
