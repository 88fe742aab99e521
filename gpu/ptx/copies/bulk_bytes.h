#pragma once
/* bulk_bytes: writes the bytes of a bulk copy: the source's, or a reduction of both. */
#include "gpu/ptx/state/copies.h"

static inline bool bulk_reduces(const struct bulk_copy *c) {
    return c->operation != BULK_NO_OPERATION;
}
/* The kind of its writes, for the race detector. */
unsigned bulk_race_kind(const struct bulk_copy *c);
/* Applies the copy's operation, or copies the bytes unchanged. */
void bulk_combine(const struct bulk_copy *c, uint8_t *to, const uint8_t *from,
                  uint64_t bytes);
