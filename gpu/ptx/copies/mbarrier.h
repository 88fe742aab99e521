#pragma once
/* mbarrier: barrier objects in shared memory, as threads and asynchronous copies use
 * them.
 *
 * The state of an object is kept outside shared memory; its eight bytes there hold the
 * same state, packed, so that a store over it is noticed. Source: PTX ISA 9.0, "Parallel
 * Synchronization and Communication Instructions: mbarrier". */
#include "gpu/ptx/state/block.h"

/* An asynchronous operation has transferred so many bytes, or arrives. */
void mbarrier_complete_bytes(struct block *b, uint32_t offset, uint64_t bytes);
void mbarrier_arrive_async(struct block *b, uint32_t offset);
/* The mbarrier at a lane's address operand, checked; NULL after a finding. remote:
 * another block's is allowed. */
struct mbarrier *mbarrier_at(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool remote, struct block **ret_block);
/* Adds findings for the mbarriers that the warp's polling lanes wait for; false: there
 * were none. */
bool mbarriers_tell_waits(struct warp *w);

/* ---- for the instructions (mbarrier_steps.c) ---- */

/* An address outside shared memory. */
#define MBARRIER_NOT_SHARED (UINT64_C(1) << 63)
#define MBARRIER_PHASE_BIT 63

struct mbarrier *mbarrier_add(struct block *b, uint32_t offset);
/* The value of its eight bytes, which a thread that arrives gets. */
uint64_t mbarrier_word(const struct mbarrier *m);
/* Updates its eight bytes. */
void mbarrier_show(struct block *b, const struct mbarrier *m);
/* Ends the phase if nothing is missing; updates the bytes in both cases. */
void mbarrier_check(struct block *b, struct mbarrier *m);
/* The eight bytes of an operand; NULL after a finding. */
struct block *mbarrier_place(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool remote, uint64_t *ret_offset);
/* Adds a finding, which ends the launch. */
void mbarrier_tell(struct warp *w, const struct step *s, unsigned lane, const char *words,
                   uint64_t offset);
