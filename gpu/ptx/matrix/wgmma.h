#pragma once
/* wgmma: matrix products of a warpgroup, four consecutive warps, that complete later.
 *
 * A product is computed, warp by warp, when the warp issues it. Forbidden accesses before
 * wait_group are found separately: a checksum of the shared operands is taken when the
 * product is issued and compared when the first warp of the group has waited for it;
 * instructions that read accumulators too early are found when the code is lowered
 * (wgmma_flow.c). A warp continues after wait_group when all four warps have issued the
 * products that it waits for: the products of a warpgroup are one operation. */
#include "gpu/ptx/matrix/matrix.h"

/* For the four warps of a block; allocated at first use. */
void wgmma_start(struct warp *w);  /* a block begins */
void wgmma_finish(struct warp *w); /* the warp is freed */

/* Splits of the warpgroup that wait (SPLIT_GROUP) continue if they can. */
void wgmma_check_group(struct warp *w);
/* Describes the warps that a split of w in that state waits for. */
void wgmma_describe(const struct warp *w, char *to, size_t room);

matrix_run wgmma_run_product, wgmma_run_fence, wgmma_run_commit, wgmma_run_wait;
/* The last lanes of a warp have exited: reports products that it issued and never waited
 * for. */
void wgmma_exit(struct warp *w);
/* By instruction of a function: reads accumulators that may be in flight (wgmma_flow.c).
 * NULL: none does. The caller frees. */
bool *wgmma_early(const struct ptx_function *f);
/* Before an instruction that reads accumulators which may still be written. */
void step_wgmma_early(struct warp *w, const struct step *s, uint32_t mask);
