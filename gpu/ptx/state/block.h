#pragma once
/* block: a thread block that can be suspended and resumed.
 *
 * Its warps take turns. The processor keeps its memory (registers, shared and local
 * memory) and reuses it for the next block. */
#include "gpu/ptx/state/copies.h"
#include "gpu/ptx/state/tensor_maps.h"
#include "gpu/ptx/state/warp.h"

#define BLOCK_BARRIERS 16
#define BLOCK_MAX_THREADS 1024
#define BLOCK_TURN 2048 /* steps a warp runs before the next one does */

/* Blocks that can access each other's shared memory. Every block belongs to a cluster,
 * usually alone. The blocks of a cluster are resident together on one processor, start
 * together, and stay until the last of them has ended.
 *
 * An address of shared memory below 1 << CLUSTER_TAG_SHIFT is an offset in the block's
 * own; (rank + 1) << CLUSTER_TAG_SHIFT | offset addresses the cluster's block of
 * this rank, and means the same in all of them. */
#define CLUSTER_MAX 16 /* 8 unless the kernel allows non-portable sizes */
#define CLUSTER_TAG_SHIFT 24

struct cluster {
    struct block *blocks[CLUSTER_MAX]; /* by rank */
    uint32_t count;
    uint32_t left;             /* blocks that have not ended */
    bool open;                 /* somebody has arrived at its barrier */
    bool is_first;             /* of those that its processor began */
    uint32_t time;             /* advances when its threads synchronise */
    struct cluster_life *life; /* cluster_life.h; NULL: one block alone */
};

struct barrier { /* means nothing before somebody has arrived */
    uint32_t expected; /* warps; 0 = all that live */
    uint32_t arrived;  /* warps that did not wait (bar.arrive) */
    uint32_t warps;    /* bit per warp that waits with all its lanes */
    bool reduces;      /* somebody waits for a count or a vote */
};

struct block {
    struct processor *processor;
    uint64_t number; /* x fastest */
    uint32_t id[3];
    uint32_t warp_count;
    struct warp *warps;
    uint32_t live_warps;   /* bit per warp that has lanes that have not exited */
    uint32_t live_threads; /* of all warps */
    uint8_t *arena;        /* of all warps' entry frames */
    uint8_t *shared, *shared_shadow;
    struct race_block *race;   /* NULL: no race check */
    struct proxy *proxy;       /* proxy.h; NULL: no check of proxy fences */
    struct cluster_life *life; /* of clusters that it is the first block of */
    uint32_t released; /* cluster->time of the latest fence or releasing arrival */
    uint64_t shared_bytes;
    struct barrier barriers[BLOCK_BARRIERS];
    uint32_t open; /* bit per barrier at which somebody has arrived */
    uint32_t arrive_lanes[BLOCK_BARRIERS][BLOCK_MAX_THREADS / WARP_LANES];
    bool arrives; /* somebody has arrived without waiting: arrive_lanes is in use */
    struct cluster *cluster;
    struct cluster own; /* of which it is the first block */
    uint32_t rank;      /* in its cluster */
    bool finished;      /* all its threads are gone; its cluster is not */
    struct mbarriers mbarriers;
    struct bulk_list arrivals; /* that complete at its mbarriers */
    struct bulk_list stores;   /* of its threads' groups */
    struct tensor_maps maps;   /* acquired by its threads */
    uint64_t clock;            /* virtual: warp instructions of the block */
    uint64_t changes;          /* stores and the like since the launch began */
    bool ended;                /* trapped: no thread continues */
};

/* Whether one of its warps has a ready split. */
bool block_can_run(const struct block *b);

/* Approximate order without the race check: the warp passed a barrier, a wait or a
 * strong read, so it may know of everything that happened before; or its lanes met. */
static inline void warp_synced(struct warp *w) {
    w->synced = w->met = ++w->block->cluster->time;
}
static inline void warp_met(struct warp *w) {
    w->met = ++w->block->cluster->time;
}
