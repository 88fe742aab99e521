#pragma once
/* mbarriers: barrier objects in shared memory, and the waits of a warp for them.
 *
 * The state of an object is kept outside shared memory; its eight bytes there hold the
 * same state, packed, so that a store over it is noticed (copies/mbarrier.h). */
#include "gpu/ptx/state/program.h"

struct block;

#define MBARRIER_MAX_COUNT ((UINT32_C(1) << 20) - 1)

struct mbarrier {
    uint32_t offset; /* in its block's shared memory */
    uint32_t expected, pending;
    /* tx-count: expected and not yet transferred; negative: transferred unexpectedly */
    int64_t bytes;
    uint32_t phase;
    bool valid;
    struct mbarrier_init { /* when and by which instruction it was initialised */
        const struct step *step;
        uint32_t function, time; /* of the cluster */
        uint16_t warp;
        uint8_t lane;
    } init;
    uint32_t *known; /* of what arrived (cluster_life.h); NULL: nothing */
};

/* Of a block; empty after mbarriers_reset. */
struct mbarriers {
    struct mbarrier *items;
    uint32_t count, room;
    uint16_t *slots; /* 1 + index, by offset / 8; NULL before the first one */
};

/* The last waits of a warp that found their phase not complete. */
#define MBARRIER_WAITS 4
struct mbarrier_wait {
    const struct step *step; /* NULL: none */
    const struct code *code;
    struct block *block;
    uint32_t offset, phase; /* the phase that was waited for, its lowest bit */
    uint8_t lane;
};

void mbarriers_reset(struct mbarriers *m);
void mbarriers_finish(struct mbarriers *m);
/* NULL: none was initialised there. */
struct mbarrier *mbarrier_find(const struct block *b, uint32_t offset);
