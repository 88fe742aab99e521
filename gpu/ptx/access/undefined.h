#pragma once
/* undefined: values that were loaded from bytes that nobody had written.
 *
 * Compilers load in front of a condition what only one of its sides uses, so a load alone
 * is no mistake. What it gave is followed through arithmetic to the end of its straight
 * part: a selection that takes the other value, and a logical operation that the other
 * side decides, end it. Whatever else depends on it (an address, a store, a condition,
 * another thread, later code) makes the finding, which stands at the load.
 *
 * Only loads of such bytes cost anything. They end the lanes' turn, undefined_follow runs
 * the steps behind them. Of one thread. */
#include "gpu/ptx/access/access_fault.h"

struct undefined;

/* A lane's load has read such bytes; called while its step runs. */
void undefined_loaded(const struct access_fault *f, const struct block *b,
                      const char *buffer, uint64_t offset);
/* Behind each turn of a split: goes on with what stopped it. false: nothing did. */
bool undefined_follow(struct warp *w);
void undefined_free(struct undefined *u);
