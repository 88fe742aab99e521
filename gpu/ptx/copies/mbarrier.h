#pragma once
/* mbarrier: barrier objects in shared memory, as threads and asynchronous copies use
 * them.
 *
 * What an object holds stands beside shared memory; its eight bytes there hold the same,
 * packed, so that a store over it is noticed. Source: PTX ISA 9.0, "Parallel
 * Synchronization and Communication Instructions: mbarrier". */
#include "gpu/ptx/state/block.h"

/* An asynchronous operation has brought so many bytes, or arrives. */
void mbarrier_complete_bytes(struct block *b, uint32_t offset, uint64_t bytes);
void mbarrier_arrive_async(struct block *b, uint32_t offset);
/* The mbarrier that a lane's address operand means, checked; NULL after a finding.
 * remote: another block's will do. */
struct mbarrier *mbarrier_at(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool remote, struct block **ret_block);
/* What the warp's polling lanes wait for, in words; false: no mbarrier. */
bool mbarriers_tell_waits(struct warp *w);

/* ---- what the instructions need (mbarrier_steps.c) ---- */

/* An address that is not of shared memory. */
#define MBARRIER_NOT_SHARED (UINT64_C(1) << 63)
#define MBARRIER_PHASE_BIT 63

struct mbarrier *mbarrier_add(struct block *b, uint32_t offset);
/* What its eight bytes hold, and what a thread gets that arrives. */
uint64_t mbarrier_word(const struct mbarrier *m);
/* Its bytes become that. */
void mbarrier_show(struct block *b, const struct mbarrier *m);
/* The phase is over if nothing is missing; shown in both cases. */
void mbarrier_check(struct block *b, struct mbarrier *m);
/* The eight bytes of an operand; NULL after a finding. */
struct block *mbarrier_place(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool remote, uint64_t *ret_offset);
/* A finding, at which the launch ends. */
void mbarrier_tell(struct warp *w, const struct step *s, unsigned lane, const char *words,
                   uint64_t offset);
