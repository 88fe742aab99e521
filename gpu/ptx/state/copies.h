#pragma once
/* copies: asynchronous copies that have been issued and are not complete.
 *
 * Until a copy is complete its destination counts as uninitialised. The warp keeps its
 * cp.async (copies/async_copies.c); the block that owns the mbarrier, or that issued it,
 * keeps the copies of an engine of the device (copies/bulk_copies.h). */
#include "gpu/ptx/state/program.h"
#include "gpu/ptx/state/race_copy.h"

struct block;

/* cp.async */
struct async_copy {
    uint64_t from;                   /* global address */
    uint32_t to;                     /* offset in shared memory */
    uint32_t group;                  /* of its lane */
    uint64_t order;                  /* of the warp's copies */
    uint8_t lane, bytes, from_bytes; /* the rest is filled with zeros */
    uint32_t race;                   /* stamp of the copy (race.h) */
};

enum bulk_kind {
    BULK_LOAD,        /* global to shared */
    BULK_STORE,       /* shared to global */
    BULK_SHARED,      /* shared to shared */
    BULK_TENSOR_LOAD, /* by a tensor map */
    BULK_TENSOR_STORE,
    BULK_VALUE,   /* st.async, red.async: from registers */
    BULK_ARRIVE,  /* cp.async.mbarrier.arrive */
    BULK_NOTHING, /* one that was not permitted: its bytes are counted */
};

#define BULK_NO_OPERATION 0xff

struct bulk_copy {
    uint8_t kind; /* enum bulk_kind */
    uint8_t lane;
    uint8_t operation, type; /* of a reduction: enum atomic_operation, enum ptx_type */
    struct warp *warp;       /* who issued it, where */
    const struct step *step;
    const struct code *code;
    struct block *block; /* whose shared memory: the destination, or a store's source */
    uint32_t shared;     /* offset in it */
    uint32_t bytes;      /* the bytes that an mbarrier counts */
    uint32_t mbarrier;   /* offset, in the block whose list it is in */
    uint32_t group;      /* of its lane */
    uint64_t from;       /* global address; offset in `source`'s shared memory */
    struct block *source;
    struct tensor_copy *tensor; /* owned */
    uint64_t order;             /* ARRIVE: the lane's copies before it */
    uint32_t time;              /* of the cluster, when it was issued */
    struct race_copy race;
    uint8_t value[16];
};

struct bulk_list {
    struct bulk_copy *items;
    uint32_t count, room;
};

/* Empties the list. */
void bulk_list_reset(struct bulk_list *list);

/* A copy to these bytes of shared memory has been issued and is not complete when the lane
 * reads them: what it is, and what is missing, such as "cp.async that nobody has waited
 * for". NULL: there is none. */
const char *block_copies_to(const struct block *b, const struct warp *w, unsigned lane,
                            uint64_t offset, uint64_t bytes);
