#pragma once
/* access_group: accesses of a unit by one value of their base register, to one variable
 * or allocation, and how their lanes lie. They share one check (unit_access.c). */
#include "gpu/ptx/emit/unit.h"

#define WINDOW_WORDS 64 /* of the shadow that one vector holds */
#define GROUP_WINDOWS 64
#define NEAR (INT64_C(1) << 28) /* offsets and distances: displacements stay small */

struct access_group {
    uint32_t base,
        version; /* arena offset of the base register, and which of its values */
    bool shared;
    struct allocation *in;       /* of global memory */
    struct shared_extent extent; /* of shared memory */
    bool stores, loads;
    uint32_t align; /* of the largest access */
    int64_t low,
        high; /* of all, from lane 0's address without offset; `high` is an end */
    const struct shape *shape;
    bool *words; /* that are loaded and not stored by the group before; from low */
    bool is_checked;
    int32_t data;     /* struct group_data */
    int32_t counter;  /* of the present segment */
    uint32_t segment; /* 0: none */
    uint32_t value_shape;
};

struct half { /* of 16 lanes */
    const int32_t *deltas;
    int32_t low, span;
    bool equal, rising;
};

struct half half_of(const struct shape *x, unsigned k);

static inline const struct access *access_of(const struct emit_unit *u, uint32_t step) {
    return &u->program->accesses[u->steps[step].extra];
}

static inline uint32_t bytes_of(const struct access *a) {
    return (uint32_t)a->bytes * a->count;
}

/* The check looks at the shadow of what is loaded. */
bool access_group_needs_words(const struct emit_unit *u, const struct access_group *g);
/* Its check can be made, and hold. */
bool access_group_fits(const struct emit_unit *u, const struct access_group *g);
