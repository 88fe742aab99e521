#pragma once
/* block_run: starts, runs and ends blocks. */
#include "gpu/ptx/state/block.h"

/* WAITING: no warp can run; other blocks of the cluster may change that. */
enum block_state { BLOCK_RUNNING, BLOCK_DONE, BLOCK_WAITING };

/* Memory for one block of the launch; NULL when there is none. */
struct block *block_new(struct processor *processor);
void block_free(struct block *b);
/* All blocks of cluster `number`, in the order of their ranks. */
void block_start_cluster(struct block *const *blocks, uint64_t number);
/* One turn for every warp. */
enum block_state block_turn(struct block *b);
void block_end(struct block *b); /* all lanes leave */
/* For struct run: operations that wait for lanes that have exited continue. */
void block_lanes_left(struct warp *w);
