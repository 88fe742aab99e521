#include "gpu/run/ideal_trial.h"

#include "base/clock.h"

static bool is_wanted(const struct course *run) {
    return run->tensor_sum && !run->kernel.ideal_sums && run->wrong_case != SIZE_MAX;
}

/* 1: right, 0: wrong, -1: it could not be told. */
static int compared(struct course *run) {
    struct trial t = {0};
    struct expectation expected = {0};
    struct err err = {0};
    int r = course_kernel(run, &t, run->wrong_case, run->wrong_trial);
    r = r < 0 ? r : course_expect(run, &expected, &t, run->wrong_case);
    r = r < 0 ? r : run_report_add(&run->report, &t, run->wrong_trial, &expected, &err);
    expectation_finish(&expected);
    trial_finish(&t);
    return r < 0 ? -1 : !run->report.mismatch;
}

static int made_aside(struct course *run) {
    struct course_aside aside;
    course_aside_begin(run, &aside, 2 * run->cost[run->wrong_case]);
    run->kernel.ideal_sums = true;
    int r = compared(run);
    run->kernel.ideal_sums = false;
    struct run_report own = course_aside_end(run, &aside);
    run_report_finish(&own);
    return r;
}

/* The k that a tensor core may add before its loss exceeds f32's default tolerance: for
 * fp8 with 13 bits, 128 as in DeepSeek's kernels; for others the loss grows to 7.5e-5 at
 * 16384. */
static int steps_of_k(int bits) {
    return bits > 13 ? 4096 : 128;
}

static void tell(struct course *run) {
    char message[640];
    json_t *finding = run->tensor_sum;
    int bits = (int)json_get_integer(finding, "bits", 0);
    snprintf(
        message, sizeof message,
        "Right with ideal sums, wrong with an H100's: this product keeps %d bits of "
        "fraction of its largest term and cuts off the rest, so a longer sum loses "
        "more. Sum at most %d of k in the tensor core, add that to a separate f32 "
        "accumulator in registers, and start the next product at zero (promotion). A "
        "kernel that already does this needs a wider \"tolerance\"",
        bits, steps_of_k(bits));
    json_object_del(finding, "bits");
    json_object_set_new(finding, "source", json_string("run"));
    json_object_set_new(finding, "code", json_string("low_precision_accumulation"));
    json_object_set_new(finding, "severity", json_string("error"));
    json_object_set_new(finding, "message", json_string(message));
    run_report_finding(&run->report, finding);
}

void ideal_trial(struct course *run) {
    if (!is_wanted(run)) {
        return;
    }
    size_t i = run->wrong_case;
    uint64_t from = clock_ms();
    bool room = course_affords(run, i);
    int r = room ? made_aside(run) : -1;
    uint64_t seed = trial_seed(run->seed, i, run->wrong_trial);
    json_object_set_new(run->result, "ideal_trial",
                        json_pack("{s:s, s:o, s:o, s:I}", "verdict",
                                  r < 0 ? "skipped"
                                  : r   ? "pass"
                                        : "fail",
                                  "sizes", case_sizes_to_json(&run->cases[i]), "seed",
                                  trial_seed_to_json(seed), "ms",
                                  (json_int_t)(clock_ms() - from)));
    if (r > 0) {
        tell(run);
    }
}
