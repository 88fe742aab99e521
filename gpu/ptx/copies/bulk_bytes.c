#include "gpu/ptx/copies/bulk_bytes.h"

#include "gpu/ptx/access/atomics.h"
#include "gpu/ptx/race/race.h"

unsigned
bulk_race_kind(const struct bulk_copy *c) { /* reductions are atomic by element */
    return bulk_reduces(c)
               ? RACE_READ | RACE_WRITE | RACE_ATOMIC | RACE_STRONG | RACE_BLIND
               : RACE_WRITE;
}

void bulk_combine(const struct bulk_copy *c, uint8_t *to, const uint8_t *from,
                  uint64_t bytes) {
    if (c->operation == BULK_NO_OPERATION) {
        memmove(to, from, bytes); /* a kernel may name places that overlap */
        return;
    }
    unsigned size = ptx_type_bytes((enum ptx_type)c->type);
    for (uint64_t k = 0; k + size <= bytes; k += size) {
        uint64_t old = 0, value = 0;
        memcpy(&old, to + k, size);
        memcpy(&value, from + k, size);
        uint64_t now = atomic_combine(c->operation, (enum ptx_type)c->type, old, value);
        memcpy(to + k, &now, size);
    }
}
