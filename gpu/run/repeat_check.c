#include "gpu/run/repeat_check.h"

#include "gpu/run/trial_checks.h"

#include <inttypes.h>

static void tell(struct course *run, const char *when, const char *what,
                 bool known_right) {
    run_report_note(&run->report, "changes_after_repeats",
                    known_right ? "error" : "warning", NULL,
                    "%s%s, %s: it keeps state between launches. A variable that the host "
                    "sets before each launch belongs in \"globals\" with an \"init\"",
                    run->spec.expect != EXPECT_NONE ? "right at first, " : "", when,
                    what);
}

/* The driver says no to what it did before: that tells nothing of the kernel. */
static void refused_again(struct course *run, const struct trial_problem *p,
                          const char *when) {
    char message[600];
    snprintf(message, sizeof message, "%s, the driver refused: %.400s", when, p->err.msg);
    course_end(run, "error", p->stage, p->code, message, *p->hint ? p->hint : NULL);
}

static int launch_again(struct course *run, struct trial *t, uint64_t seed,
                        const char *when) {
    struct trial_problem problem = {0};
    uint64_t before = run->class->spent(t->backend);
    if (trials_stopped()) {
        return -EAGAIN;
    }
    struct run_notes *notes = take(t->notes); /* its phases are a trial's */
    run_notes_phase(notes, PHASE_AGAIN);
    int r = trial_again(t, seed, &problem);
    t->notes = notes;
    run->spent += run->class->spent(t->backend) - before;
    json_decref(problem.unsupported);
    if (t->end == BACKEND_STOPPED || t->end == BACKEND_BUDGET) {
        return -EAGAIN;
    }
    if (r < 0) {
        refused_again(run, &problem, when);
        return -EIO;
    }
    if (t->end != BACKEND_DONE) {
        run_report_observe(&run->report, t, 1);
        tell(run, when, "the kernel no longer runs to its end", true);
        return 1;
    }
    return 0;
}

static int compare_again(struct course *run, const struct trial *t,
                         const struct expectation *expected, const char *when,
                         bool known_right) {
    struct trial_difference wrong;
    struct err err;
    if (trial_compare(t, expected, &wrong, &err) < 0) {
        return -EIO;
    }
    if (wrong.output) {
        char what[200];
        snprintf(what, sizeof what, "%" PRIu64 " of %" PRIu64 " elements of '%s' %s",
                 wrong.mismatches, wrong.elements, wrong.output,
                 known_right ? "are wrong"
                             : "are not what they were for the same inputs");
        tell(run, when, what, known_right);
    }
    return wrong.output != NULL;
}

int repeat_check(struct course *run, struct trial *t, size_t i, uint64_t seed,
                 const char *when) {
    struct expectation expected = {0};
    struct err err = {0};
    bool known = run->spec.expect != EXPECT_NONE;
    int r = 0;
    if (!known) { /* the first launch's outputs are used as the expected ones */
        seed = t->seed;
        r = expectation_take(&expected, t, &err);
    }
    r = r < 0 ? r : launch_again(run, t, seed, when);
    if (r == 0 && known) {
        run->tentative = true;
        r = course_expect(run, &expected, t, i) < 0 ? -EAGAIN : 0;
        run->tentative = false;
    }
    r = r ? r : compare_again(run, t, &expected, when, known);
    expectation_finish(&expected);
    return r;
}

/* --- after a trial --- */

static bool has_blocks(const struct spec_case *c) {
    for (size_t i = 0; i < c->spec->launch_count; i++) {
        const uint32_t *grid = c->launches[i].grid;
        if (grid[0] > 1 || grid[1] > 1 || grid[2] > 1) {
            return true;
        }
    }
    return false;
}

/* The smallest of those with more than one block: what is kept between launches mostly
 * counts blocks. */
static size_t chosen_case(const struct course *run) {
    size_t best = 0;
    for (size_t i = 1; i < run->case_count; i++) {
        const struct spec_case *a = &run->cases[i], *b = &run->cases[best];
        bool more = has_blocks(a), had = has_blocks(b);
        best = more != had ? (more ? i : best) : a->bytes < b->bytes ? i : best;
    }
    return best;
}

static void set_result(struct course *run, const struct trial *t, const char *verdict) {
    json_object_set_new(run->result, "repeat_check",
                        json_pack("{s:s, s:o, s:o}", "verdict", verdict, "sizes",
                                  case_sizes_to_json(t->check), "seed",
                                  trial_seed_to_json(t->seed)));
}

void repeat_trial(struct course *run, struct trial *t, size_t i, unsigned k) {
    if (k + 1 != run->spec.trials || i != chosen_case(run) || !course_is_good(run)) {
        return;
    }
    int r = -EAGAIN;
    if (course_affords(run, i)) {
        r = repeat_check(run, t, i, course_repeat_seed(run, i, 0),
                         "when launched again");
    }
    set_result(run, t, r == 0 ? "pass" : r > 0 ? "fail" : "skipped");
}
