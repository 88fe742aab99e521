#pragma once
/* emit: compiles frequently executed basic blocks to host code.
 *
 * A host thread counts the entries of a block. At the emit_after-th entry
 * it runs the block's straight-line part step by step and records the layout of the lanes
 * of its loads and stores. From then on host code runs instead. With all 32 lanes active,
 * the code assumes that layout: if lanes have another one, memory is not initialised or an
 * address is outside, it hands over to the interpreter before the step that would
 * differ. So findings, counters and results are the interpreter's.
 *
 * Only with AVX-512 (the handlers' extension, bind.h) and without one_lane. If the system refuses executable pages, only the interpreter runs. */
#include "gpu/ptx/state/run.h"

#define EMIT_AFTER 40u /* entries of a block */

/* No-op for a processor that never compiles. */
void emit_start(struct processor *p, uint32_t after);
/* Adds the code's counts to the processor's counters, and frees everything. */
void emit_finish(struct processor *p);

/* The running split has entered the block with this head: runs its code, or compiles it:
 * one piece for all 32 lanes, one for fewer. warp->next is where the interpreter
 * continues. */
void emit_enter(struct warp *w, const struct step *head, bool all);
