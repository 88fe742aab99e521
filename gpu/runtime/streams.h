#pragma once
/* streams: the program's streams. All are served in the order of the calls; a stream that
 * is being captured adds its operations to a graph instead. */
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/graph.h"
#include "gpu/runtime/order.h"

struct capture { /* shared by all streams that joined it */
    struct graph *graph;
    struct stream *origin;
    bool is_given; /* the graph was there before */
    bool broken; /* an operation that cannot be captured was requested */
    uint64_t id;
};

struct stream {
    struct stream *next;
    uint64_t last; /* number of the last operation */
    /* the operations that have ended when its next one begins */
    struct order_clock clock;
    unsigned flags;
    int priority;
    uint64_t id;
    struct capture *capture; /* or NULL */
    struct node **tips;      /* the dependencies of the next captured operation */
    size_t tip_count;
};

/* Adds op to a stream (takes ownership, also on failure); type: its node type in a graph.
 * *ret_number: to wait for it; 0 if it was captured. */
cudart_error stream_put_numbered(struct stream *s, enum node_type type, struct op *op,
                                 uint64_t *ret_number);
cudart_error stream_put(struct stream *s, enum node_type type, struct op *op);
/* The same for a node of a graph that is launched in s. */
cudart_error stream_put_branch(struct stream *s, enum node_type type, struct op *op,
                               struct order_branch *branch, uint64_t *ret_number);
void stream_put_graph(struct stream *s, const struct order_clock *end); /* its end */
/* As stream_put, and waits until it is done (unless it was captured). */
cudart_error stream_put_wait(struct stream *s, enum node_type type, struct op *op);
/* The operations that have ended when all those added so far are done. */
struct order_clock stream_clock(struct stream *s);
bool stream_is_captured(struct stream *s);
cudart_error stream_unknown(void); /* returns the error */
/* Call it with runtime.lock held. The legacy stream for its special handles; NULL:
 * unknown. */
struct stream *stream_find(struct stream *handle);
/* Call it with runtime.lock held. The next captured operation also depends on these. */
void stream_add_tips(struct stream *s, struct node *const *tips, size_t count);

/* An operation that calls the host; for graphs. */
struct op *host_call_make(void (*function)(void *), void *data);
void host_call_describe(struct op *op, struct cudart_host_node *ret);
