#pragma once
/* unseen: launches that wait until somebody looks at what they write.
 *
 * Programs time a kernel by launching it again and again, and many of these launches go
 * on from their own results, which nobody looks at before they are freed or the program
 * ends. Such a launch is kept back if it can be told without it what it accesses: an
 * equal launch was executed, and the kernel is steady (gpu/device/steady.h) in the memory
 * that has changed since. Fills of what it uses wait with it, and so does an allocation
 * that is freed and made again in each round. The first of another kind is rehearsed
 * (rehearsal.h). What is kept back is executed, in order, before the first operation that
 * reads what it writes or writes what it uses. It never is if all that it writes is freed
 * first, or at the end. Memory that it uses stays until then. Everything is for the
 * queue's turn. */
#include "gpu/device/repeats.h"

/* Keeps the launch back. op: of the launch; copied. perform executes it later. false: it
 * has to be executed now. */
bool unseen_keep(const struct launch_words *l, struct op *op,
                 int (*perform)(struct op *));
/* The same for a fill, where launches that use the allocation are kept back. */
struct fill_words {
    struct allocation *in;
    uint64_t offset, bytes, value;
};
bool unseen_keep_fill(const struct fill_words *f, struct op *op,
                      int (*perform)(struct op *));
/* Gives the program an allocation again that it has freed and launches still use; false:
 * it is no such allocation (any more). */
bool unseen_renew(struct allocation *a);
/* Executes what was kept back if this use of an allocation can tell the difference. */
void unseen_use(const struct allocation *a, bool writes);
void unseen_settle(void); /* … in any case */
/* Whether an allocation that is freed is still used by launches; then it is freed with
 * them. */
bool unseen_free(struct allocation *a);
/* Any thread: whether freed memory waits for launches. */
bool unseen_holds(void);
void unseen_drop(void); /* the end: they are not executed */
