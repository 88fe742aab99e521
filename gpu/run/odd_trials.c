#include "gpu/run/odd_trials.h"

#include "base/buf.h"
#include "gpu/run/race_trial.h"
#include "gpu/spec/odd_sizes.h"
#include "protocol/finding.h"

enum {
    MANY_TIMES = 8, /* what an odd case may cost of its round one */
    MOST_OTHERS = 8,
};

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

/* --- what is told --- */

/* ": Invalid global read …; 6 of 63 elements of 'y' are wrong" */
static void add_reasons(struct buf *out, const struct run_report *own,
                        const json_t *error, const json_t *first) {
    const char *mark = ": ";
    if (first) {
        buf_addf(out, "%s%s", mark, json_get_string(first, "message", ""));
        mark = "; ";
    }
    json_each(json_object_get(json_array_get(own->cases, 0), "outputs"), i, output) {
        json_int_t wrong = json_get_integer(output, "mismatches", 0);
        if (wrong) {
            buf_addf(out, "%s%lld of %lld elements of '%.64s' are wrong", mark,
                     (long long)wrong, (long long)json_get_integer(output, "elements", 0),
                     json_get_string(output, "name", ""));
            mark = "; ";
        }
    }
    if (*mark == ':') {
        buf_addf(out, "%s%s", mark, json_get_string(error, "message", "it fails"));
    }
}

/* The other errors as related places, the first few of them; returns how many more. */
static size_t relate_others(json_t *finding, const struct run_report *own,
                            const json_t *first) {
    size_t others = 0;
    json_each(own->findings, i, other) {
        bool counts = other != first && json_says(other, "severity", "error");
        if (counts && others < MOST_OTHERS) {
            autofree char *also =
                xasprintf("also: %s", json_get_string(other, "message", ""));
            finding_add_related(finding, also, json_get_string(other, "file", NULL),
                                (int)json_get_integer(other, "line", 0),
                                (int)json_get_integer(other, "column", 0));
        }
        others += counts;
    }
    return others + own->omitted - (others < MOST_OTHERS ? others : MOST_OTHERS);
}

/* What an added case showed, at the place of its first error. */
static json_t *told(const struct course *run, size_t i, const struct run_report *own,
                    const json_t *error) {
    const json_t *first = findings_first_error(own->findings);
    json_int_t was, is;
    const char *name = odd_sizes_name(&run->spec, i, &was, &is);
    json_t *finding = first ? json_copy((json_t *)(uintptr_t)first)
                            : json_pack("{s:s}", "source", "run");
    json_object_set_new(finding, "related",
                        json_deep_copy(json_object_get(first, "related")));
    size_t more = relate_others(finding, own, first);
    autobuf text = BUF_INIT(1u << 16);
    buf_addf(&text,
             "the kernel fails with %s = %lld (tried because all sizes are round) but "
             "not with %lld",
             name, (long long)is, (long long)was);
    add_reasons(&text, own, error, first);
    if (more) {
        buf_addf(&text, "; and %zu more finding%s", more, more == 1 ? "" : "s");
    }
    json_object_set_new(finding, "code", json_string("odd_size"));
    json_object_set_new(finding, "message", json_clean_z(text.data));
    return finding;
}

/* half: the size of a half full last block with which it fails too, or 0. */
static void conclude(struct course *run, json_t *finding, json_int_t half) {
    const char *message = json_get_string(finding, "message", "");
    autofree char *text =
        half ? xasprintf(
                   "%s. It also fails with %lld, and the grid is rounded up for such "
                   "sizes: guard the last block, or if only whole blocks are "
                   "valid, say \"odd_sizes\": false",
                   message, (long long)half)
             : xasprintf("%s. This is only a warning because the kernel may be meant for "
                         "round sizes: if so, say \"odd_sizes\": false",
                         message);
    json_object_set_new(finding, "message", json_string(text));
    json_object_set_new(finding, "severity", json_string(half ? "error" : "warning"));
    run_report_finding(&run->report, finding);
}

/* --- the cases --- */

/* Whether the case itself fails too, in which nobody has looked for races yet: by default
 * one case is looked at. Its findings are then the run's. */
static bool fails_anyway(struct course *run, const struct run_report *own) {
    const json_t *first = findings_first_error(own->findings);
    return first && race_trial_finds(first) &&
           race_trial_fails(run, run->spec.added_base);
}

static const char *run_added(struct course *run, size_t i, json_t **ret_finding) {
    struct course_aside aside;
    course_aside_begin(run, &aside, MANY_TIMES * run->cost[run->spec.added_base]);
    int good = course_affords(run, run->spec.added_base) ? one_trial(run, i) : -1;
    autojson *error = json_incref(json_object_get(run->result, "error"));
    struct run_report own = course_aside_end(run, &aside);
    bool unjudged = own.unjudged;
    *ret_finding = NULL;
    if (good == 0) {
        run_report_causes_first(own.findings);
        *ret_finding = fails_anyway(run, &own) ? NULL : told(run, i, &own, error);
    }
    run_report_finish(&own);
    return good == 0 ? "fail" : good < 0 ? "skipped" : unjudged ? "unjudged" : "pass";
}

static bool try_added(struct course *run, size_t i, json_t *added, json_t **ret_finding) {
    const char *verdict = run_added(run, i, ret_finding);
    json_array_append_new(added, json_pack("{s:o, s:s}", "sizes",
                                           case_sizes_to_json(&run->cases[i]), "verdict",
                                           verdict));
    return !strcmp(verdict, "pass") || !strcmp(verdict, "unjudged");
}

/* Whether another case can run: a device that a fault has ended runs nothing more. */
static bool judge_added(struct course *run, size_t i, json_t *added) {
    bool on_device = !strcmp(run->class->kind, "cuda");
    autojson *finding = NULL, *second = NULL;
    bool good = try_added(run, i, added, &finding);
    if (finding) {
        json_int_t half = on_device ? 0 : odd_sizes_halve(&run->spec, i);
        if (half) {
            spec_case_finish(&run->cases[i]);
        }
        if (half && spec_case_resolve(&run->cases[i], &run->spec, i, NULL) == 0) {
            (void)try_added(run, i, added, &second);
        }
        conclude(run, finding, second ? half : 0);
    }
    return good || !on_device;
}

void odd_trials(struct course *run) {
    autojson *added = json_array();
    size_t end = run->case_count + run->added_count;
    for (size_t i = run->case_count; i < end && judge_added(run, i, added); i++) {}
    if (json_array_size(added)) {
        json_object_set(run->result, "added_cases", added);
    }
}
