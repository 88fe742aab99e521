#pragma once
/* order: the happens-before relation of streams, events and the host.
 *
 * All operations execute in the order of their calls, so a missing wait changes no
 * result here. Vector clocks find it: each operation has a moment, which says what has
 * certainly ended when it begins. Operations of a stream are ordered; the default stream
 * and blocking streams wait for each other; an operation follows everything that the
 * host knew to have ended when it requested the operation. Host threads count as one,
 * and calls that make a device wait in practice (cudaMalloc, cudaFree) count as waits,
 * so that findings are certain and some are missed.
 *
 * Inactive until the program creates a stream or memory that the host shares. */
#include "gpu/device/device.h"
#include "gpu/runtime/host_site.h"

#define ORDER_SLOTS 32 /* streams with separate clocks; further ones share them */

struct order_clock { /* by slot: the last operation that has ended */
    uint64_t seen[ORDER_SLOTS];
};
struct moment { /* of an operation */
    struct order_clock seen;
    uint64_t number;
    unsigned slot;
    uint64_t launch; /* of a graph, whose node it is; 0: of none */
    /* Of a node in a conditional node's body: its moment among the nodes of this run of the
     * body. Towards all others it is the conditional node's. */
    const struct moment *in_body;
};
/* Operations one after the other beside a stream's others: nodes of a graph's launch. */
struct order_branch {
    struct order_clock clock; /* what has ended when its next one begins */
    unsigned slot;
    uint64_t launch;
};
struct stream;

void order_begin(void);
bool order_is_on(void);

/* ---- runtime.lock is held ---- */

/* Call before putting the operation into s; sets its moment, which is freed with it.
 * legacy: the default stream. */
void order_put(struct stream *s, struct stream *legacy, struct op *op);
void order_put_branch(struct order_branch *b, struct op *op);
/* The moment of a node in the body of a conditional node, which runs now, at `outer`. Both
 * live as long as the node runs. */
void order_in_body(struct order_branch *b, const struct moment *outer,
                   struct moment *ret_in_body, struct moment *ret);
/* What a graph's launch consists of has been put; it ends with this clock. */
void order_put_graph(struct stream *s, const struct stream *legacy,
                     const struct order_clock *end);
/* The clock of an event that is recorded now. */
struct order_clock order_of_stream(const struct stream *s, const struct stream *legacy);
void order_stream_waits(struct stream *s, const struct order_clock *c);

void order_join(struct order_clock *to, const struct order_clock *from);

/* ---- it is taken ---- */

/* The moment of this thread's latest operation; NULL: none. */
const struct moment *order_latest(void);

/* The host has learned that these have ended. NULL: all. */
void order_host_knows_of(const struct order_clock *c);
/* Orders all earlier operations before all later ones. */
void order_fence(void);
/* Whether the host has waited for it. */
bool order_host_knows(const struct moment *m);

/* ---- the queue's turn ---- */

struct order_use {       /* an access to an allocation by the current operation */
    uint64_t low, bytes; /* offset */
    bool writes;
    const char *what; /* "k" or "a copy"; stays */
    const struct host_site *site;
};
/* Compares the access with those of other operations; reports each pair of places once.
 */
void order_used(const struct moment *m, const struct allocation *a,
                const struct order_use *use);
