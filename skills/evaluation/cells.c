#include "skills/evaluation/cells.h"

#include "base/random.h"
#include "skills/statistics/statistics.h"

#include <math.h>

/* --- the grid --- */

static uint32_t *shuffled(size_t count, uint64_t seed) {
    uint32_t *order = xcalloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    for (size_t i = count; i > 1; i--) {
        size_t k = (size_t)(random_next(&seed) % i);
        uint32_t other = order[i - 1];
        order[i - 1] = order[k];
        order[k] = other;
    }
    return order;
}

static size_t index_of(const struct cell_grid *g, size_t student, size_t arm, size_t test,
                       size_t run) {
    size_t pair = (run * g->tests + g->order_of_test[test]) * g->students + student;
    return pair * g->arms + (arm + pair) % g->arms;
}

struct cell *cell_at(const struct cell_grid *g, size_t student, size_t arm, size_t test,
                     size_t run) {
    return &g->cells[index_of(g, student, arm, test, run)];
}

static void name_cells(struct cell_grid *g) {
    for (size_t i = 0; i < g->count; i++) {
        g->cells[i].cost = -1;
    }
    for (size_t run = 0; run < g->runs; run++) {
        for (size_t test = 0; test < g->tests; test++) {
            for (size_t k = 0; k < g->students * g->arms; k++) {
                struct cell *c = cell_at(g, k / g->arms, k % g->arms, test, run);
                c->student = (uint32_t)(k / g->arms);
                c->arm = (uint32_t)(k % g->arms);
                c->test = (uint32_t)test;
                c->run = (uint32_t)run;
            }
        }
    }
}

int cell_grid_init(struct cell_grid *g, size_t students, size_t arms, size_t tests,
                   size_t runs, uint64_t seed) {
    size_t per_run = students * arms * tests;
    if (per_run > CELLS_MAX || runs > CELLS_MAX || per_run * runs > CELLS_MAX) {
        return -E2BIG;
    }
    *g = (struct cell_grid){.students = students,
                            .arms = arms,
                            .tests = tests,
                            .runs = runs,
                            .count = per_run * runs};
    g->cells = xcalloc(g->count, sizeof *g->cells);
    g->order_of_test = shuffled(tests ? tests : 1, seed);
    name_cells(g);
    return 0;
}

void cell_grid_finish(struct cell_grid *g) {
    for (size_t i = 0; i < g->count; i++) {
        free(g->cells[i].why);
    }
    free(g->cells);
    free(g->order_of_test);
    *g = (struct cell_grid){0};
}

/* --- sums --- */

size_t cell_pairs(const struct cell_grid *g, size_t student, size_t arm_a, size_t arm_b,
                  double *a, double *b, size_t *test, unsigned *ret_runs) {
    size_t n = 0;
    unsigned fewest = 0;
    for (size_t t = 0; t < g->tests; t++) {
        unsigned runs = 0, passed_a = 0, passed_b = 0;
        for (size_t run = 0; run < g->runs; run++) {
            const struct cell *ca = cell_at(g, student, arm_a, t, run);
            const struct cell *cb = cell_at(g, student, arm_b, t, run);
            if (cell_counts(ca) && cell_counts(cb)) {
                runs++;
                passed_a += ca->state == CELL_PASSED;
                passed_b += cb->state == CELL_PASSED;
            }
        }
        if (runs) {
            a[n] = (double)passed_a / runs;
            b[n] = (double)passed_b / runs;
            fewest = n == 0 || runs < fewest ? runs : fewest;
            if (test) {
                test[n] = t;
            }
            n++;
        }
    }
    *ret_runs = fewest;
    return n;
}

static void tally_cell(const struct cell *c, struct cell_tally *t) {
    t->done += cell_ended(c);
    t->passed += c->state == CELL_PASSED;
    t->failed += c->state == CELL_FAILED;
    t->refused += c->state == CELL_REFUSED;
    t->errored += c->state == CELL_ERRORED;
    t->skipped += c->state == CELL_SKIPPED;
    t->reused += c->reused;
    t->activated += c->activated;
    t->truncated += c->truncated && cell_counts(c);
    t->assertions_passed += c->assertions_passed;
    t->assertions_total += c->assertions_total;
    t->input += c->input;
    t->output += c->output;
    if (cell_ended(c) && c->state != CELL_SKIPPED) {
        t->cost = t->cost < 0 || c->cost < 0 ? -1 : t->cost + c->cost;
    }
}

void cell_tally(const struct cell_grid *g, size_t student, size_t arm,
                struct cell_tally *ret) {
    *ret = (struct cell_tally){0};
    for (size_t t = 0; t < g->tests; t++) {
        unsigned runs = 0, passed = 0;
        for (size_t run = 0; run < g->runs; run++) {
            const struct cell *c = cell_at(g, student, arm, t, run);
            tally_cell(c, ret);
            runs += cell_counts(c);
            passed += c->state == CELL_PASSED;
        }
        if (runs) {
            ret->tests++;
            ret->rate_sum += (double)passed / runs;
        }
    }
}

/* --- whether the skill arrived --- */

/* Refused and errored answers may have been billed for more than one prompt. */
static size_t growths(const struct cell_grid *g, size_t student, size_t arm,
                      double *ret) {
    size_t n = 0;
    for (size_t test = 0; test < g->tests; test++) {
        for (size_t run = 0; run < g->runs; run++) {
            const struct cell *without = cell_at(g, student, 0, test, run);
            const struct cell *with = cell_at(g, student, arm, test, run);
            if (cell_counts(without) && cell_counts(with) && without->reported &&
                with->reported) {
                ret[n++] = (double)with->input - (double)without->input;
            }
        }
    }
    return n;
}

void injection_check(const struct cell_grid *g, size_t student, size_t arm,
                     size_t expected_tokens, struct injection *ret) {
    autofree double *seen = xcalloc(g->tests * g->runs + 1, sizeof *seen);
    size_t n = growths(g, student, arm, seen);
    *ret = (struct injection){
        .expected_tokens = expected_tokens, .seen_tokens = NAN, .ok = true};
    if (n == 0) {
        return;
    }
    ret->known = true;
    ret->seen_tokens = median_of(seen, n);
    ret->ok = expected_tokens == 0 || ret->seen_tokens >= 0.5 * (double)expected_tokens;
}
