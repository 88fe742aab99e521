#pragma once
/* run_course: the state of a running validation, shared by its parts. */
#include "gpu/run/run_report.h"
#include "gpu/run/run_save.h"

struct course {
    const struct backend_class *class;
    struct kernel_spec spec;
    struct spec_case cases[SPEC_MAX_CASES];
    size_t case_count;
    size_t added_count; /* cases of odd_sizes.h, after the others */
    uint64_t seed;
    struct trial_options kernel, reference;
    void *cubins[2];              /* theirs; owned */
    uint64_t memory;              /* bytes that a case may take */
    bool by_rows[SPEC_MAX_CASES]; /* fits only with expected outputs by rows */
    uint64_t until_ms;            /* clock_ms at which everything must have ended */
    uint64_t budget, spent;
    /* Of a case's latest trial, reference included: instructions, and time. */
    uint64_t cost[SPEC_MAX_CASES], took_ms[SPEC_MAX_CASES];
    unsigned skipped; /* trials without budget or time left */
    bool race_left;   /* the race check was incomplete */
    bool budget_ended;
    struct run_report report;
    struct run_save save;
    struct run_notes *notes; /* or NULL */
    json_t *result;
    size_t suspect;    /* the case of the first trial that failed, or SIZE_MAX */
    size_t wrong_case; /* of the first trial whose outputs differ, or SIZE_MAX */
    unsigned wrong_trial;
    json_t *tensor_sum; /* backend.h's, of the kernel; owned, or NULL */
    bool ended;         /* the verdict is set */
    bool tentative;     /* during an extra check, whose timeout is no verdict */
};

/* Sets the verdict, unless it is set already. */
void course_end(struct course *run, const char *verdict, const char *stage,
                const char *code, const char *message, const char *hint);
/* The same for a failed step: `timeout` if that is the reason. */
void course_end_failed(struct course *run, const char *stage, const char *code,
                       const char *message);
/* Whether nothing has shown so far that the kernel is wrong or cannot be run. */
bool course_is_good(const struct course *run);
/* Whether budget and time allow another trial like the case's latest. */
bool course_affords(const struct course *run, size_t i);
/* Never 0, which would mean the default. */
uint64_t course_budget_left(const struct course *run);
/* The seed of a case's launches after its trials, from a stream that no trial uses. */
uint64_t course_repeat_seed(const struct course *run, size_t i, unsigned k);

/* An extra check with a separate report and result, so that it cannot change the verdict
 * by itself, and with at most `budget` instructions (0: all that is left). */
struct course_aside {
    struct run_report report;
    json_t *result;
    uint64_t budget;
    bool ended;
};
void course_aside_begin(struct course *run, struct course_aside *ret, uint64_t budget);
/* Restores the earlier state. Call run_report_finish on the returned report. */
struct run_report course_aside_end(struct course *run, struct course_aside *aside);

/* Runs a trial of the kernel under test and reports findings other than its outputs. 0 if
 * it completed; -1 with the verdict set. Call trial_finish in both cases. */
int course_kernel(struct course *run, struct trial *t, size_t i, unsigned k);
/* The expected outputs of `t` (case i), from its seed and initial contents; empty if
 * nothing is expected. -1 with the verdict set. */
int course_expect(struct course *run, struct expectation *ret, const struct trial *t,
                  size_t i);
