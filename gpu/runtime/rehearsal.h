#pragma once
/* rehearsal: a launch that is executed before its turn, and taken back.
 *
 * A launch can wait (unseen.h) if an equal one was executed. The first of its kind would
 * have to be executed behind all that waits, so all of that, too. If it does the same
 * whatever memory contains (gpu/device/steady.h), it is executed at once instead, on what
 * memory contains now, and the memory that it wrote is restored. Everything is for the
 * queue's turn. */
#include "gpu/device/repeats.h"

/* The parameters that point into an allocation, as bits. */
uint64_t rehearsal_params(const struct launch_words *l, const struct allocation *a);
/* true: an equal launch is known now. false: nothing was learned, and memory is as it
 * was. perform executes op, the launch. */
bool rehearse(const struct launch_words *l, struct op *op, int (*perform)(struct op *));
