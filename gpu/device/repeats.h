#pragma once
/* repeats: finds operations whose outcome is known, because they were executed before.
 *
 * Each allocation has a version, which every write increments. A launch can be skipped
 * if an equal one (kernel, shape, parameters) was executed; if what that one read has the
 * same content now, by its version or byte for byte; and if it did nothing but read and
 * write memory: no output, heap, new finding or fault, and no memory that the host writes
 * without a call. What had been found before and was found in it again is counted once
 * more. Then it would write the same bytes again, because the machine is deterministic,
 * including clocks: they are still there, or are restored from a saved copy. Everything is
 * for the queue's turn. */
#include "gpu/device/module.h"

struct repeats;

/* saves: also keeps contents of allocations; otherwise only versions are compared. */
struct repeats *repeats_new(bool saves);
struct launch_words { /* borrowed */
    const struct kernel *kernel;
    const struct launch_shape *shape;
    const void *params;
};
/* Whether the launch's outcome is known. If so, memory holds it afterwards. */
bool repeats_launch(struct repeats *r, const struct launch_words *l);
/* The state before a launch, for comparison with the state after it. */
struct repeats_before {
    uint64_t told, next, heap, spent;
    size_t printed, kept;
};
struct repeats_before repeats_begin(struct repeats *r, const struct launch_words *l);
/* The launch has ended. */
void repeats_end(struct repeats *r, const struct launch_words *l,
                 const struct repeats_before *before, enum machine_end end);
/* What an equal launch used, which did nothing but read and write memory and found nothing,
 * as it was behind that launch. 0: none is known, or undefined values are in memory. */
#define REPEATS_USES 64
struct repeats_use {
    struct allocation *in; /* its structure stays when it is freed */
    uint64_t version;
    bool read, written;
};
unsigned repeats_uses(struct repeats *r, const struct launch_words *l,
                      struct repeats_use ret[REPEATS_USES]);
/* Whether a fill would change nothing. If not, records it as done. */
bool repeats_fill(struct repeats *r, struct allocation *in, uint64_t offset,
                  uint64_t bytes, unsigned value);
