#pragma once
/* grid_shares: which host thread runs which clusters of a grid.
 *
 * Each thread has a range of neighbours, the same one in each launch of a grid, because
 * neighbours share cache lines of memory and of shadows, and a line that another core
 * wrote costs hundreds of nanoseconds. It takes several clusters at once, so that the
 * threads rarely meet; a thread whose range is empty takes half of the fullest one. */
#include "base/mem.h"

#include <pthread.h>

struct grid_range {
    uint64_t from, to;
};

struct grid_shares {
    pthread_mutex_t lock;
    struct grid_range *left; /* by thread */
    uint32_t count;          /* of threads */
};

void grid_shares_init(struct grid_shares *g, uint64_t clusters, uint32_t count);
void grid_shares_finish(struct grid_shares *g);
/* The next clusters of a thread. false: the grid has none left. */
bool grid_shares_take(struct grid_shares *g, uint32_t thread, struct grid_range *ret);
