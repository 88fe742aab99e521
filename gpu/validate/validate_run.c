#include "gpu/validate/validate_run.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/validate/run_report.h"
#include "gpu/validate/spec_npy.h"
#include "gpu/validate/validate_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Lane-instructions of all trials: some seconds of one core. */
#define DEFAULT_INSTRUCTIONS 8000000000ull
#define DEFAULT_DEVICE_BYTES (2ull << 30)

struct run {
    const struct backend_class *class;
    struct check_spec spec;
    struct check_case cases[SPEC_MAX_CASES];
    size_t case_count;
    uint64_t seed;
    struct trial_options kernel, reference;
    uint64_t budget, spent;
    uint64_t cost[SPEC_MAX_CASES]; /* of a case's first trial, reference included */
    unsigned skipped;              /* trials that the budget did not allow */
    bool budget_ended;
    struct run_report report;
    json_t *result;
    bool ended; /* a verdict stands */
};

static void run_end(struct run *run, const char *verdict, const char *stage,
                    const char *code, const char *message, const char *hint) {
    if (!run->ended) {
        validate_set_error(run->result, verdict, stage, code, message, hint);
        run->ended = true;
    }
}

/* --- one trial --- */

static void end_of_problem(struct run *run, struct trial_problem *problem,
                           bool reference) {
    if (problem->unsupported && !reference) {
        json_object_set(run->result, "unsupported", problem->unsupported);
        run_end(run, "unsupported", problem->stage, problem->code, problem->err.msg,
                "the emulator does not run these instructions yet; a GPU does");
    } else {
        run_end(run, "error", reference ? "reference" : problem->stage, problem->code,
                problem->err.msg, NULL);
    }
    json_decref(problem->unsupported);
}

/* A launch that did not come to its end. */
static void end_of_launch(struct run *run, const struct trial *t, bool reference) {
    if (t->end == BACKEND_BUDGET) {
        run->budget_ended = true;
        run_end(run, "timeout", "run", "instruction_budget",
                "the instruction budget was used up before the run was complete",
                "give smaller sizes, or a larger \"instructions\" budget");
    } else if (t->end == BACKEND_STOPPED) {
        run_end(run, "timeout", "run", "wall_time",
                "the time was up before the run was complete",
                "give smaller sizes, or a larger \"timeout_s\"");
    } else if (reference) {
        run_end(run, "error", "reference", "reference_faulted",
                "the reference kernel itself does not run cleanly", NULL);
    } else {
        run_end(run, "fail", "run",
                t->end == BACKEND_DEADLOCK ? "CUDA_ERROR_LAUNCH_TIMEOUT"
                                           : "CUDA_ERROR_LAUNCH_FAILED",
                "the kernel was ended by what the findings tell", NULL);
    }
}

/* Never 0, which would mean the default. */
static uint64_t budget_left(const struct run *run) {
    return run->budget > run->spent ? run->budget - run->spent : 1;
}

static int run_kernel(struct run *run, struct trial *t, size_t i, unsigned k) {
    const struct check_spec *spec = &run->spec;
    struct trial_problem problem = {0};
    run->kernel.instructions = budget_left(run);
    int r = trial_run(t, run->class, &run->cases[i], spec->launches,
                      run->cases[i].launches, spec->launch_count,
                      trial_seed(run->seed, i, k), &run->kernel, &problem);
    if (t->backend) {
        run->spent += run->class->spent(t->backend);
        run_report_observe(&run->report, t, k);
        json_object_set_new(run->result, "backend",
                            json_pack("{s:s, s:s}", "kind", run->class->kind, "device",
                                      run->class->device(t->backend)));
    }
    if (r < 0) {
        end_of_problem(run, &problem, false);
    } else if (t->end != BACKEND_DONE) {
        end_of_launch(run, t, false);
        run_report_add_ended(&run->report, t, k,
                             json_get_string(run->result, "verdict", "fail"));
        r = -1;
    }
    return r;
}

static int run_reference(struct run *run, struct expectation *ret, size_t i, unsigned k) {
    const struct check_spec *spec = &run->spec;
    struct trial_problem problem = {0};
    struct trial t;
    run->reference.instructions = budget_left(run);
    int r = trial_run(&t, run->class, &run->cases[i], spec->reference,
                      run->cases[i].reference, spec->reference_count,
                      trial_seed(run->seed, i, k), &run->reference, &problem);
    if (t.backend) {
        run->spent += run->class->spent(t.backend);
    }
    if (r < 0) {
        end_of_problem(run, &problem, true);
    } else if (t.end != BACKEND_DONE) {
        end_of_launch(run, &t, true);
        r = -1;
    } else if ((r = expectation_take(ret, &t, &problem.err)) < 0) {
        run_end(run, "error", "reference", "reference_incomplete", problem.err.msg, NULL);
    }
    trial_finish(&t);
    return r;
}

static int expect(struct run *run, struct expectation *ret, const struct trial *t,
                  size_t i, unsigned k) {
    struct err err = {0};
    int r = 0;
    if (run->spec.expect == EXPECT_KERNEL) {
        r = run_reference(run, ret, i, k);
    } else if (run->spec.expect != EXPECT_NONE) {
        r = expectation_compute(ret, &run->cases[i], t->before, &err);
        if (r < 0) {
            run_end(run, "error", "reference", "expectation", err.msg, NULL);
        }
    }
    return r;
}

static int run_trial(struct run *run, size_t i, unsigned k) {
    struct trial t = {0};
    struct expectation expected = {0};
    struct err err = {0};
    uint64_t before = run->spent;
    int r = run_kernel(run, &t, i, k);
    r = r < 0 ? r : expect(run, &expected, &t, i, k);
    if (r == 0) {
        const struct expectation *e = run->spec.expect != EXPECT_NONE ? &expected : NULL;
        r = run_report_add(&run->report, &t, i, k, e, &err);
        if (r < 0) {
            run_end(run, "error", "compare", "memory", err.msg, NULL);
        }
    }
    run->cost[i] = run->spent - before;
    expectation_finish(&expected);
    trial_finish(&t);
    return r;
}

/* Later trials of a case are left out when the budget would end them; the first never
 * are. */
static void run_trials(struct run *run) {
    for (unsigned k = 0; k < run->spec.trials; k++) {
        for (size_t i = 0; i < run->case_count; i++) {
            if (k && run->cost[i] > budget_left(run)) {
                run->skipped++;
            } else if (run_trial(run, i, k) < 0) {
                return;
            }
        }
    }
}

/* --- the verdict --- */

static void refuse_weak(struct run *run) {
    char message[256];
    bool zeros = run->report.zero_passes && !run->report.zero_fails;
    snprintf(message, sizeof message,
             "an output '%s' of %s would pass this check: its tolerance is too wide for "
             "the values",
             run->report.weak_output, zeros ? "zeros" : "one constant value");
    run_end(run, "error", "spec", "trivial_check", message,
            "make the tolerance smaller, or give inputs that make larger and more "
            "varied outputs");
}

static void judge(struct run *run) {
    const struct run_report *r = &run->report;
    bool weak = r->compared && ((r->zero_passes && !r->zero_fails) ||
                                (r->constant_passes && !r->constant_fails));
    if (run->ended) {
        return;
    }
    if (r->mismatch || r->error_finding) {
        json_object_set_new(run->result, "verdict", json_string("fail"));
    } else if (weak) {
        refuse_weak(run);
    } else {
        json_object_set_new(run->result, "verdict", json_string("pass"));
    }
}

static void report_to_result(struct run *run) {
    struct run_report *r = &run->report;
    json_t *result = run->result;
    json_object_set(result, "cases", r->cases);
    if (r->compared) {
        json_object_set_new(result, "reference_check",
                            json_pack("{s:b, s:b}", "all_zero_passes",
                                      r->zero_passes && !r->zero_fails, "constant_passes",
                                      r->constant_passes && !r->constant_fails));
    }
    json_object_set(result, "findings", r->findings);
    json_object_set_new(result, "omitted", json_integer((json_int_t)r->omitted));
    json_object_set_new(result, "printf",
                        r->printed ? json_incref(r->printed) : json_string(""));
    if (r->counters) {
        json_object_set(result, "counters", r->counters);
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

static int read_options(struct run *run, const json_t *request, struct err *err) {
    const json_t *limits = json_object_get(request, "limits");
    const char *ptx = json_get_string(request, "ptx", NULL);
    const char *reference = json_get_string(request, "reference_ptx", NULL);
    if (!ptx || strlen(ptx) > VALIDATE_MAX_PTX ||
        (reference && strlen(reference) > VALIDATE_MAX_PTX)) {
        return err_set(err, -EINVAL, "the module is missing or over %u MiB",
                       VALIDATE_MAX_PTX >> 20);
    }
    json_int_t memory = json_get_integer(limits, "device_bytes", 0);
    run->kernel = (struct trial_options){
        .ptx = ptx,
        .entries = {json_object_get(request, "entries")},
        .checks = run->spec.checks,
        .counters = true,
        .memory = memory > 0 ? (uint64_t)memory : DEFAULT_DEVICE_BYTES,
        .threads = (unsigned)json_get_integer(limits, "threads", 0),
    };
    run->reference = run->kernel;
    run->reference.counters = false;
    run->reference.checks = SPEC_CHECK_MEMORY;
    if (reference) {
        run->reference.ptx = reference;
        run->reference.entries.json = json_object_get(request, "reference_entries");
    }
    return 0;
}

void validate_stop(void) {
    trials_stop();
}

static int run_start(struct run *run, const json_t *request, struct err *err) {
    int r = check_spec_read(&run->spec, json_object_get(request, "spec"), err);
    if (r < 0) {
        return r;
    }
    r = spec_arrays_take(&run->spec, json_object_get(request, "files"), err);
    if (r < 0) {
        return r;
    }
    run->budget = run->spec.instructions ? run->spec.instructions : DEFAULT_INSTRUCTIONS;
    if (check_seed_read(json_object_get(request, "seed"), &run->seed) < 0) {
        return err_set(err, -EINVAL, "the request has no seed");
    }
    r = read_options(run, request, err);
    for (; r == 0 && run->case_count < run->spec.case_count; run->case_count++) {
        r = check_case_resolve(&run->cases[run->case_count], &run->spec, run->case_count,
                               err);
        if (r < 0) {
            break;
        }
    }
    return r;
}

json_t *validate_run(const json_t *request, const struct backend_class *backend) {
    struct run *run = xcalloc(1, sizeof *run);
    struct err err = {0};
    run->class = backend;
    run->result = json_object();
    run_report_start(&run->report);
    if (run_start(run, request, &err) < 0) {
        run_end(run, "error", "spec", "bad_spec", err.msg, NULL);
    } else {
        run_trials(run);
    }
    judge(run);
    report_to_result(run);
    for (size_t i = 0; i < run->case_count; i++) {
        check_case_finish(&run->cases[i]);
    }
    check_spec_finish(&run->spec);
    run_report_finish(&run->report);
    json_t *result = run->result;
    free(run);
    return result;
}
