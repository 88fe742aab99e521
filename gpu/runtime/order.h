#pragma once
/* order: what happens in front of what, over streams, events and the host.
 *
 * All operations are carried out in the order of their calls, so a missing wait changes
 * no result here. It is found by clocks: each operation has a moment, which says what
 * has certainly ended when it begins. A stream follows itself; the default stream and
 * those that block wait for each other; an operation comes behind all that the host knows
 * to have ended when it asked for it. Threads of the host count as one, and what makes a
 * device wait in practice (cudaMalloc, cudaFree) counts as a wait, so that what is told
 * is certain and some is missed.
 *
 * Off until the program makes a stream or memory that the host shares. */
#include "gpu/device/device.h"
#include "gpu/runtime/host_site.h"

#define ORDER_SLOTS 32 /* streams that are told apart; others share them */

struct order_clock { /* by slot: the last operation that has ended */
    uint64_t seen[ORDER_SLOTS];
};
struct moment { /* of an operation */
    struct order_clock seen;
    uint64_t number;
    unsigned slot;
};
struct stream;
struct op;

void order_begin(void);
bool order_is_on(void);

/* ---- runtime.lock is held ---- */

/* The operation is about to be put into s; its moment is freed with it. legacy: the
 * default stream. */
void order_put(struct stream *s, struct stream *legacy, struct op *op);
/* What an event stands for that is recorded now. */
struct order_clock order_of_stream(const struct stream *s, const struct stream *legacy);
void order_stream_waits(struct stream *s, const struct order_clock *c);

/* ---- it is taken ---- */

/* Of what this thread put into a stream last; NULL: nothing. */
const struct moment *order_latest(void);

/* The host knows that these have ended. NULL: all. */
void order_host_knows_of(const struct order_clock *c);
/* No operation of one side runs beside those of the other side. */
void order_fence(void);
/* Has the host waited for it? */
bool order_host_knows(const struct moment *m);

/* ---- the queue's turn ---- */

struct order_use { /* of bytes of an allocation, by the operation whose turn it is */
    uint64_t low, bytes; /* offset */
    bool writes;
    const char *what; /* "k" or "cudaMemcpyAsync"; stays */
    const struct host_site *site;
};
/* Compares with what other operations did with the allocation; tells once for each two
 * places. */
void order_used(const struct moment *m, const struct allocation *a,
                const struct order_use *use);
