#include "gpu/run/run_course.h"

#include "base/clock.h"
#include "gpu/run/validate_result.h"

void course_end(struct course *run, const char *verdict, const char *stage,
                const char *code, const char *message, const char *hint) {
    bool extra = run->tentative && !strcmp(verdict, "timeout");
    if (!run->ended && !extra) {
        validate_set_error(run->result, verdict, stage, code, message, hint);
        run->ended = true;
    }
}

bool course_is_good(const struct course *run) {
    return !run->ended && !run->report.mismatch && !run->report.error_finding;
}

uint64_t course_repeat_seed(const struct course *run, size_t i, unsigned k) {
    return trial_seed(~run->seed, i, k);
}

static void time_is_up(struct course *run, const char *stage) {
    bool reference = strcmp(stage, "reference") == 0;
    course_end(run, "timeout", reference ? stage : "run", "wall_time",
               reference ? "time ran out before the reference had ended"
                         : "time ran out before the run was complete",
               "give smaller sizes, or a larger `timeout_s`");
}

void course_end_failed(struct course *run, const char *stage, const char *code,
                       const char *message) {
    if (trials_stopped()) {
        time_is_up(run, stage);
    } else {
        course_end(run, "error", stage, code, message, NULL);
    }
}

static void end_of_problem(struct course *run, struct trial_problem *problem,
                           bool reference) {
    if (problem->unsupported && !reference) {
        json_object_set(run->result, "unsupported", problem->unsupported);
        course_end(run, "unsupported", problem->stage, problem->code, problem->err.msg,
                   "the emulator does not run these instructions yet; a GPU does");
    } else if (trials_stopped()) {
        time_is_up(run, reference ? "reference" : "run");
    } else {
        course_end(run, "error", reference ? "reference" : problem->stage, problem->code,
                   problem->err.msg, *problem->hint ? problem->hint : NULL);
    }
    json_decref(problem->unsupported);
}

/* The name that the backend has for it, or the emulator's for the same. */
static void end_of_fault(struct course *run, const struct trial *t) {
    const char *hint = NULL;
    const char *code =
        run->class->trouble ? run->class->trouble(t->backend, &hint) : NULL;
    if (!code) {
        code = t->end == BACKEND_DEADLOCK ? "CUDA_ERROR_LAUNCH_TIMEOUT"
                                          : "CUDA_ERROR_LAUNCH_FAILED";
    }
    course_end(run, "fail", "run", code, "the faults in the findings ended the kernel",
               hint);
}

/* Ends the run with the reference's first finding, because the findings of the answer are
 * the kernel's. */
static void end_of_reference(struct course *run, const struct trial *t) {
    uint64_t omitted = 0;
    autojson *findings = t->class->findings(t->backend, &omitted);
    const char *what = json_get_string(json_array_get(findings, 0), "message", NULL);
    json_int_t line =
        json_integer_value(json_object_get(json_array_get(findings, 0), "line"));
    autofree char *text =
        what ? xasprintf("the reference kernel itself does not run cleanly: %s, in its "
                         "line %" JSON_INTEGER_FORMAT,
                         what, line)
             : xstrdup("the reference kernel itself does not run cleanly");
    course_end(
        run, "error", "reference", "reference_faulted", text,
        "without \"args\" it gets the kernel's arguments: its parameters must have "
        "the same types as the buffers");
}

/* A launch that did not come to its end. */
static void end_of_launch(struct course *run, const struct trial *t, bool reference) {
    if (t->end == BACKEND_BUDGET) {
        run->budget_ended |= !run->tentative;
        course_end(run, "timeout", "run", "instruction_budget",
                   "the instruction budget was used up before the run was complete",
                   "give smaller sizes, or a larger \"instructions\" budget");
    } else if (t->end == BACKEND_STOPPED) {
        time_is_up(run, reference ? "reference" : "run");
    } else if (reference) {
        end_of_reference(run, t);
    } else {
        end_of_fault(run, t);
    }
}

/* {"kind", "device", and of a CUDA device "uuid", "driver", "capability"}. */
static json_t *backend_to_json(const struct course *run, const struct trial *t) {
    json_t *json = json_pack("{s:s, s:s}", "kind", run->class->kind, "device",
                             run->class->device(t->backend));
    autojson *facts =
        run->class->device_facts ? run->class->device_facts(t->backend) : NULL;
    if (facts) {
        json_object_set(json, "uuid", json_object_get(facts, "uuid"));
        json_object_set(json, "driver", json_object_get(facts, "driver"));
        json_object_set(json, "capability", json_object_get(facts, "compute_capability"));
    }
    return json;
}

uint64_t course_budget_left(const struct course *run) {
    return run->budget > run->spent ? run->budget - run->spent : 1;
}

bool course_affords(const struct course *run, size_t i) {
    return !trials_stopped() && run->spent + run->cost[i] <= run->budget &&
           clock_ms() + run->took_ms[i] <= run->until_ms;
}

void course_aside_begin(struct course *run, struct course_aside *ret, uint64_t budget) {
    *ret = (struct course_aside){run->report, run->result, run->budget, run->ended};
    run_report_start(&run->report, &run->spec);
    run->result = json_object();
    run->tentative = true;
    run->ended = false;
    if (budget && budget < course_budget_left(run)) {
        run->budget = run->spent + budget;
    }
}

struct run_report course_aside_end(struct course *run, struct course_aside *aside) {
    struct run_report ret = run->report;
    json_decref(run->result);
    run->report = aside->report;
    run->result = aside->result;
    run->budget = aside->budget;
    run->ended = aside->ended;
    run->tentative = false;
    return ret;
}

static void note_unchecked(struct course *run, const struct trial *t) {
    const char *left = run->class->unchecked ? run->class->unchecked(t->backend) : NULL;
    if (left && !run->race_left) {
        run->race_left = true;
        run_report_note(&run->report, "unchecked", "warning", NULL, "%s", left);
    }
}

static void note_tensor_sum(struct course *run, const struct trial *t) {
    if (!run->tensor_sum && run->class->tensor_sum) {
        run->tensor_sum = run->class->tensor_sum(t->backend);
    }
}

int course_kernel(struct course *run, struct trial *t, size_t i, unsigned k) {
    const struct kernel_spec *spec = &run->spec;
    struct trial_problem problem = {0};
    run->kernel.instructions = course_budget_left(run);
    /* Races hang on inputs less than anything else, and cost the most. */
    run->kernel.checks = spec->checks & ~(k ? (unsigned)SPEC_CHECK_RACE : 0u);
    bool added = i >= run->case_count;
    run_notes_trial(run->notes, &run->cases[i], added ? i - run->case_count : i,
                    added ? run->added_count : run->case_count, k,
                    added ? 1 : spec->trials, added);
    int r = trial_run(t, run->class, &run->cases[i], trial_seed(run->seed, i, k),
                      &run->kernel, &problem);
    if (t->backend) {
        run->spent += run->class->spent(t->backend);
        run_report_observe(&run->report, t, k);
        note_unchecked(run, t);
        note_tensor_sum(run, t);
        json_object_set_new(run->result, "backend", backend_to_json(run, t));
    }
    if (r < 0) {
        end_of_problem(run, &problem, false);
    } else if (t->end != BACKEND_DONE) {
        end_of_launch(run, t, false);
        r = -1;
    }
    if (r < 0 && (t->end != BACKEND_DONE || trials_stopped())) {
        run_report_add_ended(&run->report, t, k,
                             json_get_string(run->result, "verdict", "fail"));
    }
    return r;
}

static int run_reference(struct course *run, struct expectation *ret, size_t i,
                         uint64_t seed) {
    struct trial_problem problem = {0};
    struct trial t;
    run->reference.instructions = course_budget_left(run);
    int r = trial_run(&t, run->class, &run->cases[i], seed, &run->reference, &problem);
    if (t.backend) {
        run->spent += run->class->spent(t.backend);
    }
    if (r < 0) {
        end_of_problem(run, &problem, true);
    } else if (t.end != BACKEND_DONE) {
        end_of_launch(run, &t, true);
        r = -1;
    } else if ((r = expectation_take(ret, &t, &problem.err)) < 0) {
        course_end(run, "error", "reference", "reference_incomplete", problem.err.msg,
                   NULL);
    }
    trial_finish(&t);
    return r;
}

int course_expect(struct course *run, struct expectation *ret, const struct trial *t,
                  size_t i) {
    struct err err = {0};
    int r = 0;
    if (run->spec.expect == EXPECT_KERNEL) {
        r = run_reference(run, ret, i, t->seed);
    } else {
        run_notes_phase(run->notes, PHASE_REFERENCE);
        r = expectation_compute(ret, &run->cases[i], t->before, run->by_rows[i], &err);
        if (r < 0) {
            course_end_failed(run, "reference", "expectation", err.msg);
        }
    }
    return r;
}
