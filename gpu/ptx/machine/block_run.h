#pragma once
/* block_run: blocks begin, take turns and end. */
#include "gpu/ptx/state/block.h"

/* WAITING: nobody can run, others of the cluster may change that. */
enum block_state { BLOCK_RUNNING, BLOCK_DONE, BLOCK_WAITING };

/* Memory for one block of the launch; NULL when there is none. */
struct block *block_new(struct processor *processor);
void block_free(struct block *b);
/* All blocks of cluster `number`, in the order of their ranks. */
void block_start_cluster(struct block *const *blocks, uint64_t number);
/* Every warp once round. */
enum block_state block_turn(struct block *b);
void block_end(struct block *b); /* all lanes leave */
/* For struct run: what waits for lanes that have left goes on. */
void block_lanes_left(struct warp *w);
