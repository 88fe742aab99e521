#pragma once
/* cluster: the blocks that reach each other's shared memory, and their barrier.
 *
 * Every block belongs to one, mostly alone. The blocks of a cluster are resident together
 * on one processor, start together, and are kept until the last of them has ended.
 *
 * An address of shared memory below 1 << CLUSTER_TAG_SHIFT is an offset in the block's
 * own; (rank + 1) << CLUSTER_TAG_SHIFT | offset is one in that of the cluster's block of
 * this rank, and means the same in all of them. */
#include <stdbool.h>
#include <stdint.h>

struct block;
struct warp;
struct step;

#define CLUSTER_MAX 16 /* 8 where the kernel asks for no more than is portable */
#define CLUSTER_TAG_SHIFT 24

struct cluster {
    struct block *blocks[CLUSTER_MAX]; /* by rank */
    uint32_t count;
    uint32_t left;             /* blocks that have not ended */
    bool open;                 /* somebody has arrived at its barrier */
    uint32_t time;             /* moves when threads of it synchronise */
    struct cluster_life *life; /* cluster_life.h; NULL: one block alone */
};

/* After lanes arrived or exited. */
void cluster_check_barrier(struct cluster *c);
/* No block of it can run, and some have not ended. */
bool cluster_is_stuck(const struct cluster *c);
/* A lane's address as one that means the same in the whole cluster. */
uint64_t cluster_address(const struct block *b, uint64_t address);
