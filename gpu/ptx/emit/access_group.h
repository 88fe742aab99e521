#pragma once
/* access_group: accesses of a unit through one value of their base register, to one
 * variable or allocation, and the layout of their lanes. They share one check
 * (unit_access.c). */
#include "gpu/ptx/emit/unit.h"

#define WINDOW_WORDS 64 /* of the shadow that one vector holds */
#define GROUP_WINDOWS 64
#define GROUP_LINE 64 /* bytes */
#define GROUP_LINES 8 /* worth prefetching */
/* limit of offsets and distances, so that displacements stay small */
#define NEAR (INT64_C(1) << 28)

/* A value: which one of a register. Its copies of the same number have the same. */
struct value_of_register {
    uint32_t offset, version;
};

struct shadow_window { /* words of the shadow, counted from the group's low */
    uint64_t first;
    uint8_t loaded[WINDOW_WORDS], /* bits of bytes that are loaded and not stored before */
        stored[WINDOW_WORDS];
};

struct access_group {
    uint32_t base; /* arena offset of the base register */
    struct value_of_register origin;
    bool shared;
    struct allocation *in;       /* of global memory */
    struct shared_extent extent; /* of shared memory */
    bool stores, loads;
    uint32_t align; /* of the largest access; a word at least */
    int64_t low,    /* of all, from lane 0's address without offset; a whole word's */
        high;       /* an end */
    const struct shape *shape;
    struct shadow_window *windows; /* that hold a word of it; NULL: too many */
    uint32_t window_count;
    bool is_checked;
    int32_t data;     /* struct group_data */
    int32_t counter;  /* of the present segment */
    uint32_t segment; /* 0: none */
    uint32_t value_shape;
};

struct part { /* of lanes that are moved at once */
    const int32_t *deltas;
    int32_t low, span;
    bool equal, rising;
};

/* 16 lanes of 2 or 4 bytes, 8 of 8. */
static inline unsigned part_lanes(unsigned bytes) {
    return bytes == 8 ? 8 : 16;
}
struct part part_of(const struct shape *x, unsigned k, unsigned bytes);
static inline const struct access *access_of(const struct emit_unit *u, uint32_t step) {
    return &u->program->accesses[u->steps[step].extra];
}

static inline uint32_t bytes_of(const struct access *a) {
    return (uint32_t)a->bytes * a->count;
}

/* Where the lanes' bytes lie: distances from low, a line of memory apart; their count, 0 if
 * there are more than GROUP_LINES. */
unsigned access_group_lines(const struct access_group *g, int32_t to[GROUP_LINES]);
/* Whether the check reads the shadow of loaded bytes. */
bool access_group_needs_words(const struct emit_unit *u, const struct access_group *g);
/* Whether its check can be made, and can succeed. */
bool access_group_fits(const struct emit_unit *u, const struct access_group *g);
