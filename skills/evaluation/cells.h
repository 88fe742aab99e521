#pragma once
/* cells: the grid of an evaluation: one answer per (student, arm, test, run). Plain data
 * and arithmetic; no I/O.
 *
 * Cells are asked run by run, then test by test, then student by student, and the arms of
 * one (run, test, student) follow each other: both arms of a pair meet the endpoint at
 * about the same time, and an evaluation that stops early holds complete pairs. */
#include "base/mem.h"

#define CELLS_MAX 50000u

enum cell_state {
    CELL_WAITING,
    CELL_RUNNING,
    CELL_PASSED,
    CELL_FAILED,
    CELL_REFUSED, /* the student declined */
    CELL_ERRORED, /* no result: there was no answer, or it could not be graded */
    /* not asked, or not finished, because the budget or the time was used up */
    CELL_SKIPPED,
};

struct cell {
    uint32_t student, arm, test, run; /* indices; run from 0 */
    enum cell_state state;
    bool again_useful;   /* of an errored one: another attempt may succeed */
    bool deferred;       /* errored, and waits for its second attempt */
    bool cached, reused; /* from the answer cache; from an earlier record */
    bool reported;       /* the endpoint reported the token counts */
    bool activated;      /* installed: the agent opened the skill */
    bool truncated;      /* cut off at its length limit; graded nevertheless */
    unsigned attempts, requests;
    unsigned assertions_passed, assertions_total;
    uint64_t input, output; /* tokens */
    double cost;            /* negative: unknown */
    /* a sentence, for refused and errored cells, and for skipped ones whose attempts
     * failed; owned */
    char *why;
};

struct cell_grid {
    size_t students, arms, tests, runs;
    struct cell *cells; /* in the order of asking */
    size_t count;
    uint32_t *order_of_test; /* index of each test in that order */
};

/* -E2BIG over CELLS_MAX. The order of tests is shuffled by seed; the arm that goes first
 * alternates from pair to pair. */
int cell_grid_init(struct cell_grid *g, size_t students, size_t arms, size_t tests,
                   size_t runs, uint64_t seed);
void cell_grid_finish(struct cell_grid *g);
struct cell *cell_at(const struct cell_grid *g, size_t student, size_t arm, size_t test,
                     size_t run);
static inline bool cell_counts(const struct cell *c) {
    return c->state == CELL_PASSED || c->state == CELL_FAILED;
}
static inline bool cell_ended(const struct cell *c) {
    return c->state > CELL_RUNNING;
}

/* Per test the mean over those runs in which both arms were graded; a test without such a
 * run is left out. a, b and (if not NULL) test hold g->tests entries. Returns the number
 * of tests; *ret_runs is the smallest number of runs among them (0 if there are none). */
size_t cell_pairs(const struct cell_grid *g, size_t student, size_t arm_a, size_t arm_b,
                  double *a, double *b, size_t *test, unsigned *ret_runs);

struct cell_tally {
    size_t tests; /* with a graded cell */
    size_t done, passed, failed, refused, errored, skipped, reused, activated;
    size_t truncated; /* of the graded ones */
    unsigned assertions_passed, assertions_total;
    uint64_t input, output;
    double cost;     /* negative: unknown for some */
    double rate_sum; /* over tests: the mean of their graded runs */
};
void cell_tally(const struct cell_grid *g, size_t student, size_t arm,
                struct cell_tally *ret);

/* Whether the skill reached the model.
 *
 * A skill that is measured but never sent gives a confident "no lift"; upskill's own
 * sample run did. The endpoint's count of prompt tokens must be larger with the skill
 * than without it, by at least half of the skill's estimated size (tokenizers differ by a
 * factor of up to 1.5; half leaves room for that and for framing). */
struct injection {
    size_t expected_tokens; /* the estimate of what the arm adds */
    double seen_tokens; /* median growth over pairs; NaN if no endpoint reported counts */
    bool known;         /* whether seen_tokens can be judged */
    bool ok;            /* also true if known is false */
};
/* For one student: the arm against the baseline (arm 0). */
void injection_check(const struct cell_grid *g, size_t student, size_t arm,
                     size_t expected_tokens, struct injection *ret);
