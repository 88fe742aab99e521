#pragma once
/* bulk_copies: copies that an engine of the device makes while threads go on:
 * cp.async.bulk, its tensors and reductions, st.async, red.async, and cp.async that
 * arrive at an mbarrier.
 *
 * One that completes at an mbarrier is done when somebody waits there and the phase is
 * not complete; one of a group when the group is waited for. Until then the destination
 * counts as not initialised, and the source is not yet read: so a wait that is missing
 * shows. Addresses are checked when the copy is issued. What nobody has waited for when
 * its block ends is told, and done then. */
#include "gpu/ptx/machine/program.h"
#include "gpu/ptx/race/race_copy.h"

struct block;
struct warp;

enum bulk_kind {
    BULK_LOAD,        /* global to shared */
    BULK_STORE,       /* shared to global */
    BULK_SHARED,      /* shared to shared */
    BULK_TENSOR_LOAD, /* by a tensor map */
    BULK_TENSOR_STORE,
    BULK_VALUE,   /* st.async, red.async: from registers */
    BULK_ARRIVE,  /* cp.async.mbarrier.arrive */
    BULK_NOTHING, /* one that was not allowed: its bytes are counted */
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
    uint32_t bytes;      /* what an mbarrier counts */
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

static inline bool bulk_reduces(const struct bulk_copy *c) {
    return c->operation != BULK_NO_OPERATION;
}
/* How it writes, in a race detector's words. */
unsigned bulk_race_kind(const struct bulk_copy *c);

struct bulk_list {
    struct bulk_copy *items;
    uint32_t count, room;
};

/* b: the block that owns the mbarrier, and its `arrivals`, or that of the thread, and its
 * `stores`. */
void bulk_add(struct block *b, struct bulk_list *list, const struct bulk_copy *c);
/* Of groups older than the lane's limit. */
void bulk_deliver_groups(struct warp *w, uint32_t lanes, const uint32_t *limit);
/* Bytes by the copy's operation, or as they are. */
void bulk_combine(const struct bulk_copy *c, uint8_t *to, const uint8_t *from,
                  uint64_t bytes);
/* Makes the destination of a copy count as not initialised. */
void bulk_begin(const struct bulk_copy *c);
/* What completes the present phase of this mbarrier is done; behind that, copies of which
 * expect_tx knew nothing are still on their way. true: there was something. */
bool bulk_deliver(struct block *b, uint32_t mbarrier);
bool bulk_copies_to(const struct block *b, uint64_t offset, uint64_t bytes);
/* A block has ended: findings for what nobody waited for, which is done now. */
void bulk_end(struct block *b);
void bulk_reset(struct block *b);
/* cp.async: those of the lane that came before `order` arrive, for an mbarrier. */
void warp_copies_arrive(struct warp *w, unsigned lane, uint64_t order, struct block *b,
                        uint32_t mbarrier);
