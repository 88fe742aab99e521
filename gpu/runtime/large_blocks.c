/* large_blocks: a row of eight for each value of a hash. An entry belongs to who has the
 * block, so nobody else changes it. */
#include "gpu/runtime/large_blocks.h"

#include <stdatomic.h>
#include <stdint.h>

enum { ROW_BITS = 14, ROW = 8 };

struct entry {
    _Atomic uintptr_t block; /* 0: free */
    size_t bytes;
};

static struct entry rows[1 << ROW_BITS][ROW];

static struct entry *row_of(uintptr_t block) {
    return rows[(uint64_t)block / 16 * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ROW_BITS)];
}

static struct entry *entry_find(const void *block) {
    struct entry *row = row_of((uintptr_t)block);
    unsigned k = 0;
    while (k < ROW && atomic_load_explicit(&row[k].block, memory_order_relaxed) !=
                          (uintptr_t)block) {
        k++;
    }
    return k < ROW ? &row[k] : NULL;
}

void large_block_add(const void *block, size_t bytes) {
    struct entry *row = row_of((uintptr_t)block);
    for (unsigned k = 0; k < ROW; k++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&row[k].block, &none, (uintptr_t)block)) {
            row[k].bytes = bytes;
            return;
        }
    }
}

size_t large_block_drop(const void *block) {
    struct entry *e = entry_find(block);
    size_t bytes = e ? e->bytes : 0;
    if (e) {
        atomic_store(&e->block, 0);
    }
    return bytes;
}

size_t large_block_bytes(const void *block) {
    const struct entry *e = entry_find(block);
    return e ? e->bytes : 0;
}
