#pragma once
/* emit: basic blocks that run often become code for the host.
 *
 * A thread of the emulator counts how often a block is entered. At the emit_after-th time
 * it runs the block's straight part step by step and notes where the lanes of its loads
 * and stores lie; from the next time on, if all 32 lanes are active, code does the same.
 * The code is made for that: where lanes lie otherwise, memory is not initialised, an
 * address is outside …, it hands over to the interpreter, in front of the step that would
 * differ. So findings, counters and results are the interpreter's.
 *
 * Only with AVX-512 (the handlers' extension, bind.h), without the race check, and not
 * lane by lane; nowhere else is there any code. Where the system refuses pages that can
 * be executed, the interpreter goes on alone. */
#include "gpu/ptx/state/run.h"

#define EMIT_AFTER 40u /* entries of a block */
#define EMIT_NEVER UINT32_MAX

/* Nothing to do for a processor that never compiles. */
void emit_start(struct processor *p, uint32_t after);
/* Adds what code counted to the processor's counters, and frees all. */
void emit_finish(struct processor *p);

/* The running split, of all 32 lanes, has entered the block of this head: runs code for
 * it, or makes it. warp->next says where the interpreter goes on. */
void emit_enter(struct warp *w, const struct step *head);
