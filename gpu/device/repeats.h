#pragma once
/* repeats: finds operations that would change nothing.
 *
 * Each allocation has a version, which every write increments. A launch can be skipped
 * if an equal one (kernel, shape, parameters) was executed; if since then nothing has
 * written what it read, and nothing else has written what it wrote; if it read nothing
 * that it wrote; and if it did nothing else: no output, heap, finding or fault, and no
 * memory that the host writes without a call. Then every byte would stay the same,
 * because the machine is deterministic, including clocks. Everything is for the queue's
 * turn. */
#include "gpu/device/module.h"

struct repeats;

struct repeats *repeats_new(void);
/* Whether an equal launch was executed and this one would change nothing. */
bool repeats_launch(struct repeats *r, const struct kernel *k,
                    const struct launch_shape *shape, const void *params);
/* The state before a launch, for comparison with the state after it. */
struct repeats_before {
    uint64_t told, next, heap;
    size_t printed;
};
struct repeats_before repeats_begin(const struct kernel *k);
/* The launch has ended. */
void repeats_end(struct repeats *r, const struct repeats_before *before,
                 enum machine_end end, const struct kernel *k,
                 const struct launch_shape *shape, const void *params);
/* Whether a fill would change nothing. If not, records it as done. */
bool repeats_fill(struct repeats *r, struct allocation *in, uint64_t offset,
                  uint64_t bytes, unsigned value);
