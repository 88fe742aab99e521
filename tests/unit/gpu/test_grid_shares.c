/* Which host thread runs which clusters: each once, neighbours together, whoever comes
 * when. */
#include "gpu/ptx/state/grid_shares.h"

#include <criterion/criterion.h>

enum { CLUSTERS = 10007, THREADS = 3 };

/* Counts what was taken; every cluster comes once. */
struct tally {
    uint8_t seen[CLUSTERS];
    uint64_t count;
};

static void note(struct tally *t, struct grid_range r) {
    cr_assert_lt(r.from, r.to);
    cr_assert_leq(r.to, CLUSTERS);
    for (uint64_t k = r.from; k < r.to; k++) {
        cr_assert_eq(t->seen[k]++, 0, "cluster %d twice", (int)k);
        t->count++;
    }
}

static void take_all(unsigned (*whose)(unsigned turn)) {
    struct grid_shares g;
    struct grid_range r;
    struct tally t = {0};
    grid_shares_init(&g, CLUSTERS, THREADS);
    for (unsigned turn = 0; grid_shares_take(&g, whose(turn), &r); turn++) {
        note(&t, r);
    }
    cr_expect_eq(t.count, CLUSTERS);
    for (unsigned k = 0; k < THREADS; k++) {
        cr_expect_not(grid_shares_take(&g, k, &r));
    }
    grid_shares_finish(&g);
}

static unsigned in_turn(unsigned turn) {
    return turn % THREADS;
}
static unsigned last_alone(unsigned turn) {
    return turn * 0 + THREADS - 1;
}
static unsigned at_random(unsigned turn) {
    return turn * 2654435761u >> 13 & 3 ? turn % 2 : 2;
}

Test(grid_shares, every_cluster_is_run_once) {
    take_all(in_turn);
    take_all(last_alone);
    take_all(at_random);
}

/* Threads that are equally fast stay in their own third, from its beginning to its end. */
Test(grid_shares, a_thread_runs_neighbours) {
    struct grid_shares g;
    uint64_t next[] = {0, 3336, 6672};
    const uint64_t end[] = {3336, 6672, CLUSTERS};
    grid_shares_init(&g, CLUSTERS, THREADS);
    for (unsigned turn = 0; next[2] < end[2]; turn++) {
        unsigned k = turn % THREADS;
        struct grid_range r;
        cr_assert(grid_shares_take(&g, k, &r));
        cr_assert_eq(r.from, next[k]);
        cr_assert_leq(r.to, end[k]);
        next[k] = r.to;
    }
    grid_shares_finish(&g);
}

/* A thread that is held up keeps at most a sixteenth of what was left of its own. */
Test(grid_shares, others_take_from_a_slow_thread) {
    struct grid_shares g;
    struct grid_range held, r;
    uint64_t others = 0;
    grid_shares_init(&g, CLUSTERS, 2);
    cr_assert(grid_shares_take(&g, 0, &held));
    cr_expect_leq(held.to - held.from, CLUSTERS / 2 / 16 + 1);
    while (grid_shares_take(&g, 1, &r)) {
        others += r.to - r.from;
    }
    cr_expect_eq(others + held.to - held.from, CLUSTERS);
    cr_expect_eq(r.from, r.to);
    grid_shares_finish(&g);
}

Test(grid_shares, more_threads_than_clusters) {
    struct grid_shares g;
    struct grid_range r;
    grid_shares_init(&g, 1, 2);
    cr_assert(grid_shares_take(&g, 1, &r));
    cr_expect(r.from == 0 && r.to == 1);
    cr_expect_not(grid_shares_take(&g, 0, &r));
    grid_shares_finish(&g);
}
