#pragma once
/* run_course: a validation on its way, shared by those who carry out its parts. */
#include "gpu/run/run_report.h"
#include "gpu/run/run_save.h"

struct course {
    const struct backend_class *class;
    struct kernel_spec spec;
    struct spec_case cases[SPEC_MAX_CASES];
    size_t case_count;
    size_t added_count; /* cases of odd_sizes.h, behind the others */
    uint64_t seed;
    struct trial_options kernel, reference;
    void *cubins[2];              /* theirs; owned */
    uint64_t memory;              /* bytes that a case may take */
    bool by_rows[SPEC_MAX_CASES]; /* it fits only if what is expected is made so */
    uint64_t until_ms;            /* clock_ms at which everything must have ended */
    uint64_t budget, spent;
    /* Of a case's latest trial, reference included: instructions, and time. */
    uint64_t cost[SPEC_MAX_CASES], took_ms[SPEC_MAX_CASES];
    unsigned skipped; /* trials for which there was no budget or time */
    bool race_left;   /* the race check could not look at everything */
    bool budget_ended;
    struct run_report report;
    struct run_save save;
    struct run_notes *notes; /* or NULL */
    json_t *result;
    size_t suspect;    /* the case of the first trial that failed, or SIZE_MAX */
    size_t wrong_case; /* of the first trial whose outputs differ, or SIZE_MAX */
    unsigned wrong_trial;
    json_t *tensor_sum; /* backend.h's, of the kernel; owned, or NULL */
    bool ended;         /* a verdict stands */
    bool tentative; /* an extra check is made: that it ran out of time is no verdict */
};

/* The verdict, unless one stands already. */
void course_end(struct course *run, const char *verdict, const char *stage,
                const char *code, const char *message, const char *hint);
/* The same for a step that failed: `timeout` where that is why. */
void course_end_failed(struct course *run, const char *stage, const char *code,
                       const char *message);
/* Nothing has shown that the kernel is wrong or could not be tried. */
bool course_is_good(const struct course *run);
/* Is there budget and time for one more trial like the case's latest? */
bool course_affords(const struct course *run, size_t i);
/* Never 0, which would mean the default. */
uint64_t course_budget_left(const struct course *run);
/* The seed of a case's launches after its trials: of a stream that no trial takes from.
 */
uint64_t course_repeat_seed(const struct course *run, size_t i, unsigned k);

/* An extra check: in a report and a result of its own, so that nothing of it changes the
 * verdict by itself, and with at most `budget` instructions (0: all that is left). */
struct course_aside {
    struct run_report report;
    json_t *result;
    uint64_t budget;
    bool ended;
};
void course_aside_begin(struct course *run, struct course_aside *ret, uint64_t budget);
/* What stood before stands again; run_report_finish what comes back. */
struct run_report course_aside_end(struct course *run, struct course_aside *aside);

/* A trial of the kernel under test; what it shows besides its outputs is reported. 0 when
 * it came to its end; -1 with the verdict set. Finish the trial in both cases. */
int course_kernel(struct course *run, struct trial *t, size_t i, unsigned k);
/* What the outputs of `t` (case i) should be by its seed and first contents: with nothing
 * expected, of none of them anything. -1 with the verdict set. */
int course_expect(struct course *run, struct expectation *ret, const struct trial *t,
                  size_t i);
