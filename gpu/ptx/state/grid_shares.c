#include "gpu/ptx/state/grid_shares.h"

#define PIECES 16 /* of what is left: the last ones are single, so threads end together */

void grid_shares_init(struct grid_shares *g, uint64_t clusters, uint32_t count) {
    pthread_mutex_init(&g->lock, NULL);
    g->left = xcalloc(count, sizeof *g->left);
    g->count = count;
    uint64_t each = clusters / count, more = clusters % count, from = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t to = from + each + (k < more);
        g->left[k] = (struct grid_range){from, to};
        from = to;
    }
}

void grid_shares_finish(struct grid_shares *g) {
    pthread_mutex_destroy(&g->lock);
    free(g->left);
}

static uint64_t length(const struct grid_range *r) {
    return r->to - r->from;
}

/* The upper half of the fullest range becomes an empty one. */
static void refill(struct grid_shares *g, struct grid_range *empty) {
    struct grid_range *fullest = empty;
    for (uint32_t k = 0; k < g->count; k++) {
        fullest = length(&g->left[k]) > length(fullest) ? &g->left[k] : fullest;
    }
    uint64_t middle = fullest->from + length(fullest) / 2;
    *empty = (struct grid_range){middle, fullest->to};
    fullest->to = middle;
}

bool grid_shares_take(struct grid_shares *g, uint32_t thread, struct grid_range *ret) {
    pthread_mutex_lock(&g->lock);
    struct grid_range *own = &g->left[thread];
    if (length(own) == 0) {
        refill(g, own);
    }
    uint64_t count = (length(own) + PIECES - 1) / PIECES;
    *ret = (struct grid_range){own->from, own->from + count};
    own->from += count;
    pthread_mutex_unlock(&g->lock);
    return count > 0;
}
