#include "gpu/run/validate_timing.h"

#include "base/clock.h"
#include "gpu/run/repeat_check.h"
#include "gpu/run/roofline.h"
#include "gpu/spec/expect_operator.h"

struct timed {
    struct course *run;
    size_t i;       /* the case */
    json_t *timing; /* owned until the result has it */
};

static size_t largest_case(const struct course *run) {
    size_t best = 0;
    for (size_t i = 1; i < run->case_count; i++) {
        best = run->cases[i].bytes > run->cases[best].bytes ? i : best;
    }
    return best;
}

/* --- one measurement --- */

/* Until then: a share of what is left, so that the reference and the check after it have
 * theirs. */
static uint64_t share_of_time(const struct course *run, unsigned percent) {
    uint64_t now = clock_ms();
    return run->until_ms > now ? now + (run->until_ms - now) * percent / 100 : now;
}

static int measure(struct course *run, struct trial *t, unsigned percent, json_t **ret,
                   struct err *err) {
    const struct backend_timing what = {
        .launches = t->launches,
        .count = t->launch_count,
        .how = &run->spec.benchmark,
        .until_ms = share_of_time(run, percent),
    };
    run_notes_phase(run->notes, PHASE_TIMING);
    return run->class->time(t->backend, &what, ret, err);
}

static double median_of(const json_t *timing) {
    return json_number_value(json_object_get(timing, "median_us"));
}

/* Times the reference in separate memory; the timing says what prevents it. */
static void time_reference(struct timed *timed) {
    struct course *run = timed->run;
    const struct spec_case *c = &run->cases[timed->i];
    struct trial_problem problem = {0};
    struct trial t;
    autojson *timing = NULL;
    int r = trial_open(&t, run->class, c, course_repeat_seed(run, timed->i, 3),
                       &run->reference, &problem);
    r = r < 0 ? r : measure(run, &t, 60, &timing, &problem.err);
    double own = median_of(timed->timing), reference = median_of(timing);
    if (r == 0 && own > 0) {
        json_object_set_new(timed->timing, "reference_median_us", json_double(reference));
        json_object_set_new(timed->timing, "speedup", json_double(reference / own));
    } else {
        json_object_set_new(timed->timing, "reference_not_timed",
                            json_clean_z(problem.err.msg));
    }
    json_decref(problem.unsupported);
    trial_finish(&t);
}

/* --- what is made of it --- */

static void judge_speed(struct course *run, const struct roofline_work *work,
                        const struct roofline_device *device, const json_t *timing,
                        double seconds) {
    bool cold = !json_says(timing, "cache", "warm");
    switch (roofline_judge(work, device, seconds, cold)) {
    case ROOFLINE_IMPOSSIBLE:
        run_report_note(
            &run->report, "too_fast", "error", NULL,
            "%.3g us are less than the outputs (%llu bytes) take to leave the "
            "multiprocessors, or than any kernel takes: the timed launches "
            "cannot have done the work",
            seconds * 1e6, (unsigned long long)work->forced_bytes);
        break;
    case ROOFLINE_SUSPICIOUS:
        run_report_note(&run->report, "too_fast", "warning", NULL,
                        "%.3g us are less than DRAM takes to deliver the inputs (%llu "
                        "bytes): does the kernel need all of them? If not, say how many "
                        "\"bytes\" it must move in \"roofline\"",
                        seconds * 1e6, (unsigned long long)work->read_bytes);
        break;
    case ROOFLINE_POSSIBLE:
        break;
    }
}

static void set_roofline(struct timed *timed, const json_t *facts) {
    struct course *run = timed->run;
    struct roofline_work work;
    struct roofline_device device;
    struct err err = {0};
    double seconds = median_of(timed->timing) / 1e6;
    const struct spec_case *c = &run->cases[timed->i];
    double flops = 0;
    int r = run->spec.expect == EXPECT_OPERATOR
                ? expect_operator_flops(c, run->spec.expect_operator, &flops, &err)
                : 0;
    if (r < 0 || roofline_work_of(&work, c, flops, &err) < 0) {
        course_end(run, "error", "spec", "bad_spec", err.msg, NULL);
        return;
    }
    roofline_device_of(&device, facts);
    json_object_set_new(run->result, "roofline", /* NULL: it is not set */
                        roofline_to_json(&work, &device, seconds));
    if (seconds > 0) {
        judge_speed(run, &work, &device, timed->timing, seconds);
    }
}

/* --- the course --- */

/* A driver that says no in the middle of launches that went well before. */
static void end_of_timing(struct course *run, const struct trial *t, int r,
                          const struct err *err) {
    run_report_observe(&run->report, t, 1);
    if (r == -EIO || r == -EDEADLK) {
        run_report_note(
            &run->report, "changes_after_repeats", "error", NULL,
            "the kernel ran at first, but failed when it was launched repeatedly: "
            "%s",
            err->msg);
    } else {
        run_report_note(&run->report, "not_timed", "warning", NULL,
                        "the kernel was not timed: %s", err->msg);
    }
}

static void time_kernel(struct timed *timed) {
    struct course *run = timed->run;
    const struct spec_case *c = &run->cases[timed->i];
    struct trial_problem problem = {0};
    struct trial t;
    autojson *facts = NULL;
    int r = trial_open(&t, run->class, c, course_repeat_seed(run, timed->i, 1),
                       &run->kernel, &problem);
    if (r < 0) {
        run_report_note(&run->report, "not_timed", "warning", NULL, "%s",
                        problem.err.msg);
    } else if ((r = measure(run, &t, 50, &timed->timing, &problem.err)) < 0) {
        end_of_timing(run, &t, r, &problem.err);
    } else {
        json_object_set_new(timed->timing, "sizes", case_sizes_to_json(c));
        facts = run->class->device_facts ? run->class->device_facts(t.backend) : NULL;
        (void)repeat_check(run, &t, timed->i, course_repeat_seed(run, timed->i, 2),
                           "after the launches that were timed");
    }
    json_decref(problem.unsupported);
    trial_finish(&t);
    if (timed->timing && run->spec.expect == EXPECT_KERNEL && course_is_good(run)) {
        time_reference(timed);
    }
    if (timed->timing) {
        set_roofline(timed, facts);
        json_object_set(run->result, "timing", timed->timing);
    }
}

/* Without a measurement: by the name of the device that ran the trials, or NULL. */
static json_t *facts_of_trials(const struct course *run) {
    const json_t *backend = json_object_get(run->result, "backend");
    return run->class->device_facts
               ? json_pack("{s:s}", "name", json_get_string(backend, "device", ""))
               : NULL;
}

void validate_timing(struct course *run) {
    bool wants_time = run->spec.benchmark.wanted;
    bool wants_roofline = json_object_get(run->spec.json, "roofline") != NULL;
    if ((!wants_time && !wants_roofline) || !course_is_good(run)) {
        return;
    }
    struct timed timed = {.run = run, .i = largest_case(run)};
    if (wants_time && run->class->time) {
        time_kernel(&timed);
    } else {
        if (wants_time) {
            run_report_note(
                &run->report, "no_timing", "info", NULL,
                "the CPU backend's time says nothing about a GPU: only the bound of "
                "\"roofline\" is reported");
        }
        autojson *facts = facts_of_trials(run);
        set_roofline(&timed, facts);
    }
    json_decref(timed.timing);
}
