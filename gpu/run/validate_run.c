#include "gpu/run/validate_run.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/find.h"
#include "gpu/compile/cubin_text.h"
#include "gpu/run/foresight.h"
#include "gpu/run/ideal_trial.h"
#include "gpu/run/odd_trials.h"
#include "gpu/run/output_notes.h"
#include "gpu/run/race_trial.h"
#include "gpu/run/repeat_check.h"
#include "gpu/run/self_reference.h"
#include "gpu/run/validate_timing.h"
#include "gpu/spec/odd_sizes.h"
#include "gpu/spec/rounded_args.h"
#include "gpu/spec/spec_npy.h"

#include <signal.h>
#include <sys/time.h>

/* Lane-instructions of all trials: more than any machine carries out, so that the time
 * ends a run, unless the spec says how many. */
#define INSTRUCTIONS_PER_S 1000000000000ull
enum {
    DEFAULT_WALL_MS = 30000,
    ANSWER_MS = 700,
};

static int run_trial(struct course *run, size_t i, unsigned k) {
    struct trial t = {0};
    struct expectation expected = {0};
    struct err err = {0};
    uint64_t before = run->spent, from_ms = clock_ms();
    size_t told = json_array_size(run->report.cases);
    bool known_bad = run->report.error_finding;
    int r = course_kernel(run, &t, i, k);
    if (r == 0 && (r = course_expect(run, &expected, &t, i)) < 0) {
        run_report_add_ended(&run->report, &t, k,
                             json_get_string(run->result, "verdict", "error"));
    }
    if (r == 0) {
        run_notes_phase(run->notes, PHASE_COMPARE);
        r = run_report_add(&run->report, &t, k, &expected, &err);
        if (r < 0) {
            course_end_failed(run, "compare", "memory", err.msg);
        }
    }
    json_t *of_case = json_array_get(run->report.cases, told);
    if (of_case) {
        const char *verdict = json_get_string(of_case, "verdict", "fail");
        bool failed =
            (strcmp(verdict, "pass") != 0 && strcmp(verdict, "unjudged") != 0) ||
            (run->report.error_finding && !known_bad);
        run_save_trial(&run->save, &t, i, k, failed, &expected, of_case);
    }
    run->cost[i] = run->spent - before;
    run->took_ms[i] = clock_ms() - from_ms;
    if (run->suspect == SIZE_MAX && !course_is_good(run)) {
        run->suspect = i;
    }
    if (run->wrong_case == SIZE_MAX && run->report.mismatch) {
        run->wrong_case = i;
        run->wrong_trial = k;
    }
    expectation_finish(&expected);
    if (r == 0) {
        repeat_trial(run, &t, i, k);
    }
    trial_finish(&t);
    return r;
}

/* Later trials of a case are left out when the budget or the time would end them; the
 * first never are. */
static void run_trials(struct course *run) {
    for (unsigned k = 0; k < run->spec.trials; k++) {
        for (size_t i = 0; i < run->case_count; i++) {
            if (k && !course_affords(run, i)) {
                run->skipped++;
            } else if (run_trial(run, i, k) < 0) {
                return;
            }
        }
    }
}

/* --- the verdict --- */

static void refuse_weak(struct course *run, const struct report_weakness *weak) {
    const char *name = run->spec.buffers[weak->buffer].name;
    char message[256];
    if (weak->nonfinite) {
        snprintf(message, sizeof message,
                 "only NaN and infinities are expected in the output '%s', which proves "
                 "nothing",
                 name);
    } else {
        snprintf(message, sizeof message,
                 "an output '%s' of %s would pass this check: its tolerance is too wide "
                 "for the values",
                 name, weak->zeros ? "zeros" : "one constant value");
    }
    course_end(run, "error", "spec", "trivial_check", message,
               "make the tolerance smaller, or give inputs that make larger and more "
               "varied outputs");
}

/* A check that never looks at anything, or that no kernel at all would pass. */
static void refuse_empty(struct course *run, const struct report_weakness *weak) {
    if (!weak->compared) {
        course_end(run, "error", "spec", "trivial_check",
                   "nothing was compared: the reference writes none of the outputs, or "
                   "they have no elements",
                   "let the reference write the same outputs as the kernel");
    } else {
        course_end(run, "error", "spec", "trivial_check",
                   "a kernel that does nothing would pass this check: every output is "
                   "expected to keep the contents of its \"init\"",
                   "give inits that the kernel must change");
    }
}

/* The outputs that a case leaves unjudged: "'y' and 'z'", and the first of them. */
static const char *unjudged_names(const struct course *run, struct buf *ret) {
    const json_t *outputs, *of_case = json_array_get(run->report.cases, 0);
    const char *first = NULL, *name;
    outputs = json_object_get(of_case, "outputs");
    json_each(outputs, i, output) {
        if (json_says(output, "verdict", "unjudged")) {
            name = json_get_string(output, "name", "");
            buf_addf(ret, "%s'%.64s'", first ? ", " : "", name);
            first = first ? first : name;
        }
    }
    return first;
}

static void end_unjudged(struct course *run) {
    autobuf names = BUF_INIT(64 * SPEC_MAX_BUFFERS);
    const char *first = unjudged_names(run, &names);
    autofree char *message = xasprintf(
        "nothing says what the kernel should write to %s, so it ran but was not judged",
        names.data ? names.data : "its outputs");
    autofree char *hint = xasprintf(
        "say in \"expect\" how to judge it: by a reference kernel ({\"kernel\": "
        "{\"source\": \"…\"}}), an operator ({\"op\": \"softmax\"}) or an expression "
        "({\"expression\": {\"%s\": \"x[i] * 2\"}}); mark an output that needs no check "
        "with \"judge\": false, and workspace with \"scratch\": true",
        first ? first : "y");
    course_end(run, "unjudged", "spec", "unjudged", message, hint);
}

/* A kernel without inputs may well write one value, as cudaMemset does. */
static bool has_inputs(const struct kernel_spec *spec) {
    return any_of(i, 0, spec->buffer_count,
                  !spec->buffers[i].output && !spec->buffers[i].scratch);
}

static void warn_same(struct course *run, const struct report_weakness *weak) {
    if (weak->same && has_inputs(&run->spec)) {
        run_report_note(&run->report, "constant_expected", "warning", NULL,
                        "every element of every output is expected to be the same, so "
                        "a kernel that ignores its inputs would pass: give inputs that "
                        "vary (\"init\": {\"normal\": [0, 1]}, other sizes)");
    }
}

static void warn_nothing_compared(struct course *run,
                                  const struct report_weakness *weak) {
    if (!weak->compared) {
        run_report_note(&run->report, "nothing_compared", "warning", NULL,
                        "no output was compared, so a kernel that computes something else "
                        "would pass: say \"output\": true for an argument that the kernel "
                        "writes (without \"judge\": false or \"scratch\": true), and in "
                        "\"expect\" what it should contain");
    }
}

/* Errors found before the time limit count. */
static void judge_unfinished(struct course *run) {
    const char *verdict = json_get_string(run->result, "verdict", "");
    if (run->report.mismatch && !strcmp(verdict, "timeout")) {
        json_object_set_new(run->result, "verdict", json_string("fail"));
    }
}

static void judge(struct course *run) {
    struct report_weakness weak;
    run_report_weakness(&run->report, &weak);
    if (run->ended) {
        judge_unfinished(run);
        return;
    }
    if (!course_is_good(run)) {
        json_object_set_new(run->result, "verdict", json_string("fail"));
        output_notes_failed(run);
    } else if (weak.zeros || weak.constant || weak.nonfinite) {
        refuse_weak(run, &weak);
    } else if (run->spec.expect != EXPECT_NONE && (!weak.compared || weak.unchanged)) {
        refuse_empty(run, &weak);
    } else if (run->report.unjudged) {
        end_unjudged(run);
    } else {
        json_object_set_new(run->result, "verdict", json_string("pass"));
        warn_nothing_compared(run, &weak);
        warn_same(run, &weak);
        output_notes_passed(run);
    }
}

/* The checks that ran, and those that were requested or are default but did not run. */
static void checks_to_result(struct course *run) {
    static const char *const names[] = {"memory", "initialized", "race", "barrier"};
    unsigned wanted =
        run->spec.checks | (run->spec.default_checks ? SPEC_CHECK_RACE : 0u);
    unsigned done = run->class->checks & run->spec.checks &
                    ~(run->race_left ? (unsigned)SPEC_CHECK_RACE : 0u);
    json_t *made = json_array(), *left = json_array();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) { /* enum spec_check's bits */
        if (wanted & 1u << i) {
            json_array_append_new(done & 1u << i ? made : left, json_string(names[i]));
        }
    }
    json_object_set_new(run->result, "checks", made);
    if (json_array_size(left)) {
        json_object_set(run->result, "unchecked", left);
    }
    json_decref(left);
}

static void report_to_result(struct course *run) {
    struct run_report *r = &run->report;
    struct report_weakness weak;
    json_t *result = run->result;
    json_object_set_new(result, "seed", trial_seed_to_json(run->seed));
    json_object_set_new(result, "generator", json_integer(TENSOR_GENERATOR));
    json_object_set(result, "cases", r->cases);
    run_report_weakness(r, &weak);
    if (weak.compared) {
        json_object_set_new(result, "reference_check",
                            json_pack("{s:b, s:b}", "all_zero_passes", weak.zeros,
                                      "constant_passes", weak.constant));
    }
    run_report_causes_first(r->findings);
    json_object_set(result, "findings", r->findings);
    json_object_set_new(result, "omitted", json_integer((json_int_t)r->omitted));
    json_object_set_new(result, "printf",
                        r->printed ? json_incref(r->printed) : json_string(""));
    json_object_set(result, "counters", r->counters);
    checks_to_result(run);
    if (run->class->tensor_sum && run->spec.numerics) {
        json_object_set_new(result, "numerics", json_string(run->spec.numerics));
    }
    json_t *budget =
        json_pack("{s:I, s:I, s:b}", "instructions", (json_int_t)run->budget, "spent",
                  (json_int_t)run->spent, "ended_run", run->budget_ended);
    if (run->skipped) {
        json_object_set_new(budget, "skipped_trials", json_integer(run->skipped));
    }
    json_object_set_new(result, "budget", budget);
}

/* --- start --- */

static int read_options(struct course *run, const json_t *request, struct err *err) {
    const json_t *limits = json_object_get(request, "limits");
    const char *ptx = json_get_string(request, "ptx", NULL);
    const char *reference = json_get_string(request, "reference_ptx", NULL);
    if (!ptx || strlen(ptx) > VALIDATE_MAX_PTX ||
        (reference && strlen(reference) > VALIDATE_MAX_PTX)) {
        return err_set(err, -EINVAL, "the module is missing or has more than %u MiB",
                       VALIDATE_MAX_PTX >> 20);
    }
    json_int_t device = json_get_integer(limits, "device_bytes", 0);
    json_int_t memory = json_get_integer(limits, "memory_bytes", 0);
    run->memory = memory > 0 ? (uint64_t)memory : memory_here();
    run->kernel = (struct trial_options){
        .ptx = ptx,
        .entries = {json_object_get(request, "entries")},
        .checks = run->spec.checks,
        .counters = true,
        .ideal_sums = strcmp(run->spec.numerics, "ideal") == 0,
        .memory = device > 0 ? (uint64_t)device : run->memory,
        .threads = (unsigned)json_get_integer(limits, "threads", 0),
    };
    run->kernel.cubin = run->cubins[0] =
        cubin_from_text(json_object_get(request, "cubin"), &run->kernel.cubin_len);
    run->reference = run->kernel;
    run->reference.counters = false;
    run->reference.checks = SPEC_CHECK_MEMORY;
    if (reference) {
        run->reference.ptx = reference;
        run->reference.entries.json = json_object_get(request, "reference_entries");
        run->reference.cubin = run->cubins[1] = cubin_from_text(
            json_object_get(request, "reference_cubin"), &run->reference.cubin_len);
    }
    return 0;
}

/* Whether each launch of the reference has a launch of the kernel with the same
 * instructions. */
static bool is_self_reference(const struct course *run, bool by_name) {
    const struct kernel_spec *spec = &run->spec;
    if (spec->expect != EXPECT_KERNEL) {
        return false;
    }
    for (size_t i = 0; i < spec->reference_count; i++) {
        const char *symbol = trial_symbol(&run->reference, &spec->reference[i]);
        bool own = false;
        for (size_t k = 0; symbol && k < spec->launch_count && !own; k++) {
            const char *kernel = trial_symbol(&run->kernel, &spec->launches[k]);
            own = kernel && (!by_name || !strcmp(symbol, kernel)) &&
                  ptx_entry_is_same(run->kernel.ptx, kernel, run->reference.ptx, symbol);
        }
        if (!own) {
            return false;
        }
    }
    return true;
}

static void refuse_self_reference(struct course *run) {
    course_end(run, "error", "spec", "self_reference",
               "the reference is the kernel itself: that proves nothing",
               "write the reference in the plainest way, as another kernel, or give an "
               "expression or values");
}

/* Two plain kernels may be the same honestly: no verdict. */
static void warn_self_reference(struct course *run) {
    if (is_self_reference(run, false)) {
        run_report_note(&run->report, "self_reference", "warning", NULL,
                        "the reference has another name than the kernel but the same "
                        "instructions, so mistakes that both make stay hidden");
    }
}

void validate_stop(void) {
    trials_stop();
}

static void on_alarm(int) {
    validate_stop();
}

uint64_t validate_stop_after(unsigned ms) {
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval timer = {
        .it_value = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
    return clock_ms() + ms;
}

/* Of the cases that were asked for: with an added one's odd sizes any quotient rounds. */
static void warn_rounded(struct course *run) {
    char message[1024];
    for (size_t i = 0; i < run->case_count; i++) {
        if (case_rounded_argument(&run->cases[i], message, sizeof message)) {
            run_report_note(&run->report, ROUNDED_ARGS_CODE, "warning", NULL, "%s",
                            message);
            return;
        }
    }
}

static int resolve_cases(struct course *run, struct err *err) {
    size_t given = run->spec.case_count, added = odd_sizes_add(&run->spec);
    for (size_t i = 0; i < given + added; i++) {
        int r = spec_case_resolve(&run->cases[i], &run->spec, i, err);
        if (r < 0) {
            return r;
        }
        run->case_count += i < given;
        run->added_count += i >= given;
    }
    return 0;
}

/* Trials that notes count: a benchmark is one more. */
static void plan_notes(struct course *run) {
    run_notes_plan(run->notes,
                   (unsigned)(run->case_count * run->spec.trials + run->added_count) +
                       (run->spec.benchmark.wanted));
    run->kernel.notes = run->reference.notes = run->notes;
    run->reference.is_reference = true;
}

static int run_start(struct course *run, const json_t *request,
                     const struct spec_files *files, struct err *err) {
    int r = kernel_spec_read(&run->spec, json_object_get(request, "spec"), err);
    if (r < 0) {
        return r;
    }
    r = spec_arrays_take(&run->spec, json_object_get(request, "files"), files, err);
    if (r < 0) {
        return r;
    }
    run->budget = run->spec.instructions ? run->spec.instructions
                                         : run->spec.timeout_s * INSTRUCTIONS_PER_S;
    if (spec_seed_read(json_object_get(request, "seed"), &run->seed) < 0) {
        return err_set(err, -EINVAL, "the request has no seed");
    }
    r = read_options(run, request, err);
    r = r < 0 ? r : resolve_cases(run, err);
    if (r == 0) {
        run_save_start(&run->save, &run->spec.save, run_notes_arena(run->notes));
        plan_notes(run);
    }
    return r;
}

/* Somewhat less than the process has: it must still write its answer. */
static uint64_t time_allowed_ms(const json_t *request) {
    json_int_t wall =
        json_get_integer(json_object_get(request, "limits"), "wall_ms", DEFAULT_WALL_MS);
    return wall > 2 * ANSWER_MS ? (uint64_t)(wall - ANSWER_MS) : ANSWER_MS;
}

/* A kernel need not run when there is no room for its buffers, or what is expected of it
 * cannot be computed in time. */
static bool is_foreseeable(struct course *run) {
    bool on_device = !strcmp(run->class->kind, "cuda");
    struct err err = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->case_count; i++) {
        r = foresee(&run->cases[i], run->memory, on_device, &run->by_rows[i], &err);
        if (r < 0) {
            err_wrap(&err, "case %zu", i);
            course_end(run, "error",
                       r == -ENOMEM   ? "spec"
                       : r == -E2BIG ? "run"
                                     : "reference",
                       r == -ENOMEM   ? "memory"
                       : r == -E2BIG ? "wall_time"
                                     : "expectation",
                       err.msg,
                       r == -EINVAL ? "operators use the shapes of the check spec: change "
                                      "them there if the arrays have others"
                                    : NULL);
        }
    }
    for (size_t i = 0; i < run->added_count; i++) {
        run->by_rows[run->case_count + i] = run->by_rows[run->spec.added_base];
    }
    return r == 0;
}

static void run_all(struct course *run) {
    if (is_self_reference(run, true)) {
        refuse_self_reference(run);
        return;
    }
    warn_self_reference(run);
    warn_rounded(run);
    if (!is_foreseeable(run)) {
        return;
    }
    run_trials(run);
    validate_timing(run);
    race_trial(run);
    ideal_trial(run);
    if (course_is_good(run)) {
        odd_trials(run);
    }
}

static void run_finish(struct course *run) {
    for (size_t i = 0; i < run->case_count + run->added_count; i++) {
        spec_case_finish(&run->cases[i]);
    }
    run_save_finish(&run->save);
    kernel_spec_finish(&run->spec);
    run_report_finish(&run->report);
    json_decref(run->tensor_sum);
    free(run->cubins[0]);
    free(run->cubins[1]);
    free(run);
}

json_t *validate_run(const json_t *request, const struct spec_files *files,
                     const struct backend_class *backend, struct run_notes *notes) {
    struct course *run = xcalloc(1, sizeof *run);
    struct err err = {0};
    run->class = backend;
    run->notes = notes;
    run->suspect = run->wrong_case = SIZE_MAX;
    run->until_ms = clock_ms() + time_allowed_ms(request);
    run->result = json_object();
    run_report_start(&run->report, &run->spec);
    if (run_start(run, request, files, &err) < 0) {
        course_end(run, "error", "spec", "bad_spec", err.msg, NULL);
    } else {
        run_all(run);
    }
    judge(run);
    report_to_result(run);
    json_t *result = run->result; /* what is NULL is not set */
    json_object_set_new(result, "phases", run_notes_times(notes));
    json_object_set_new(result, "saved", run_save_send(&run->save, notes));
    run_finish(run);
    return result;
}
