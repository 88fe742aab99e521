#pragma once
/* streams: what the program's streams hold. All are served in the order of the calls; one
 * that is captured puts what it is given into a graph instead. */
#include "gpu/device/queue.h"
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/graph.h"
#include "gpu/runtime/order.h"

struct capture { /* one for all streams that joined it */
    struct graph *graph;
    struct stream *origin;
    bool broken; /* something was asked that cannot be captured */
    uint64_t id;
};

struct stream {
    struct stream *next;
    uint64_t last;            /* number of the last operation */
    struct order_clock clock; /* what has ended when its next operation begins */
    unsigned flags;
    int priority;
    uint64_t id;
    struct capture *capture; /* or NULL */
    struct node **tips;      /* what the next captured operation waits for */
    size_t tip_count;
};

/* Puts op (taken over, also on failure) into a stream; type: what it is in a graph.
 * *ret_number: to be waited for; 0 when it was captured. */
cudart_error stream_put_numbered(struct stream *s, enum node_type type, struct op *op,
                                 uint64_t *ret_number);
cudart_error stream_put(struct stream *s, enum node_type type, struct op *op);
/* The same, and waits until it is done (unless it was captured). */
cudart_error stream_put_wait(struct stream *s, enum node_type type, struct op *op);
/* What has ended when all is done that was put into it so far. */
struct order_clock stream_clock(struct stream *s);
bool stream_is_captured(struct stream *s);
cudart_error stream_unknown(void); /* the error */
/* runtime.lock is held. The legacy stream for its names; NULL: there is none. */
struct stream *stream_find(struct stream *handle);
/* runtime.lock is held. The next captured operation waits for these as well. */
void stream_add_tips(struct stream *s, struct node *const *tips, size_t count);

/* An operation that calls the host; for graphs. */
struct op *host_call_make(void (*function)(void *), void *data);
