#pragma once
/* unseen: launches that wait until somebody looks at what they write.
 *
 * Programs time a kernel by launching it again and again, and many of these launches go
 * on from their own results, which nobody looks at before they are freed or the program
 * ends. Such a launch is kept back if it can be told without it what it accesses: an
 * equal launch was executed, and the kernel is steady (gpu/device/steady.h) in the memory
 * that has changed since. Kept-back launches are executed, in order, before the first
 * operation that reads what they write or writes what they use. They never are if all
 * that they write is freed first, or at the end. Memory that they use stays until then.
 * Everything is for the queue's turn. */
#include "gpu/device/repeats.h"

/* Keeps the launch back. op: of the launch; copied. perform executes it later. false: it
 * has to be executed now. */
bool unseen_keep(const struct launch_words *l, struct op *op, int (*perform)(struct op *));
/* Executes what was kept back if this use of an allocation can tell the difference. */
void unseen_use(const struct allocation *a, bool writes);
void unseen_settle(void); /* … in any case */
/* Whether an allocation that is freed is still used by launches; then it is freed with
 * them. */
bool unseen_free(struct allocation *a);
/* Any thread: whether freed memory waits for launches. */
bool unseen_holds(void);
void unseen_drop(void); /* the end: they are not executed */
