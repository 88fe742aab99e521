#pragma once
/* block: a thread block that can be stopped and taken up again.
 *
 * Its warps take turns. What it owns (registers, shared and local memory) is kept by the
 * processor and used again for the next block. */
#include "gpu/ptx/copies/bulk_copies.h"
#include "gpu/ptx/copies/mbarrier.h"
#include "gpu/ptx/copies/tensor_maps.h"
#include "gpu/ptx/machine/cluster.h"
#include "gpu/ptx/machine/warp.h"

#define BLOCK_BARRIERS 16
#define BLOCK_MAX_THREADS 1024
#define BLOCK_TURN 2048 /* steps a warp runs before the next one does */

struct barrier {
    uint32_t expected; /* warps; 0 = all that live */
    uint32_t arrived;  /* warps that did not wait (bar.arrive) */
    uint32_t warps;    /* bit per warp that waits with all its lanes */
    bool open;         /* somebody has arrived */
};

/* WAITING: nobody can run, others of the cluster may change that. */
enum block_state { BLOCK_RUNNING, BLOCK_DONE, BLOCK_WAITING };

struct block {
    struct processor *processor;
    uint64_t number; /* x fastest */
    uint32_t id[3];
    uint32_t warp_count;
    struct warp *warps;
    uint8_t *arena; /* of all warps' entry frames */
    uint8_t *shared, *shared_shadow;
    struct race_block *race;   /* NULL: nobody looks for races */
    struct proxy *proxy;       /* proxy.h; NULL: nobody asks */
    struct cluster_life *life; /* of clusters that it is the first block of */
    uint32_t released; /* cluster->time of the latest fence or releasing arrival */
    uint64_t shared_bytes;
    struct barrier barriers[BLOCK_BARRIERS];
    uint32_t arrive_lanes[BLOCK_BARRIERS][BLOCK_MAX_THREADS / WARP_LANES];
    struct cluster *cluster;
    struct cluster own; /* of which it is the first block */
    uint32_t rank;      /* in its cluster */
    bool finished;      /* all its threads are gone; its cluster is not */
    struct mbarriers mbarriers;
    struct bulk_list arrivals; /* that complete at its mbarriers */
    struct bulk_list stores;   /* of its threads' groups */
    struct tensor_maps maps;   /* that its threads have acquired */
    uint64_t clock;            /* virtual: warp instructions of the block */
    uint64_t changes;          /* stores and the like since the launch began */
    bool ended;                /* trapped: nobody runs on */
    bool resident;
    uint64_t last_changes;
};

/* Memory for one block of the launch; NULL when there is none. */
struct block *block_new(struct processor *processor);
void block_free(struct block *b);
/* All blocks of cluster `number`, in the order of their ranks. */
void block_start_cluster(struct block *const *blocks, uint64_t number);
/* Every warp once round. */
enum block_state block_turn(struct block *b);
bool block_can_run(const struct block *b);
/* Nobody can run any more: findings of who waits where. */
void block_tell_stuck(struct block *b);
/* After lanes arrived or exited: complete what can be completed. */
void block_check_barriers(struct block *b);
void block_end(struct block *b); /* all lanes leave */

/* What is known of order without the race check: the warp passed a barrier, a wait or a
 * strong read, so that all that was done before may be known to it; its lanes met. */
static inline void warp_synced(struct warp *w) {
    w->synced = w->met = ++w->block->cluster->time;
}
static inline void warp_met(struct warp *w) {
    w->met = ++w->block->cluster->time;
}

void step_barrier(struct warp *w, const struct step *s, uint32_t mask);
