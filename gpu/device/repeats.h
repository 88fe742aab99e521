#pragma once
/* repeats: operations that would do what they did already.
 *
 * Each allocation has a version, which rises with whatever writes to it. A launch need
 * not be carried out again when an equal one (kernel, shape, parameters) was, and since
 * then nobody has written what it read, and nobody else what it wrote; when it read
 * nothing that it wrote; and when it did nothing else: no output, heap, finding or fault,
 * and no memory that the host writes without a call. Then every byte would be what it is.
 * The machine repeats itself to the bit, clocks included. All of the queue's turn. */
#include "gpu/device/module.h"

struct repeats;

struct repeats *repeats_new(void);
/* Was an equal launch carried out, and would this one change nothing? */
bool repeats_launch(struct repeats *r, const struct kernel *k,
                    const struct launch_shape *shape, const void *params);
/* What stood before a launch, to be compared with what stands behind it. */
struct repeats_before {
    uint64_t told, next, heap;
    size_t printed;
};
struct repeats_before repeats_begin(const struct kernel *k);
/* The launch has ended. */
void repeats_end(struct repeats *r, const struct repeats_before *before,
                 enum machine_end end, const struct kernel *k,
                 const struct launch_shape *shape, const void *params);
/* Would filling change nothing? If not, it is noted as done. */
bool repeats_fill(struct repeats *r, struct allocation *in, uint64_t offset,
                  uint64_t bytes, unsigned value);
