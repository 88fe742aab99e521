#pragma once
/* bulk_bytes: what a bulk copy does to the bytes it writes: they become what it brings,
 * or a reduction of both. */
#include "gpu/ptx/state/copies.h"

static inline bool bulk_reduces(const struct bulk_copy *c) {
    return c->operation != BULK_NO_OPERATION;
}
/* How it writes, in a race detector's words. */
unsigned bulk_race_kind(const struct bulk_copy *c);
/* Bytes by the copy's operation, or as they are. */
void bulk_combine(const struct bulk_copy *c, uint8_t *to, const uint8_t *from,
                  uint64_t bytes);
