#pragma once
/* stream: streams, what is put into them, and graphs that are captured from them. */
#include "tests/cuda/tasks.h"

struct graph {
    struct object object;
    struct task *first, **last;
};

struct stream {
    struct object object;
    uint64_t last; /* number of the last operation */
    unsigned flags;
    struct graph *capture; /* being recorded, or NULL */
    bool broken;           /* something was asked that cannot be captured */
};

/* Puts op (taken over, also on failure) into a stream or, where that is being captured,
 * into its graph. *ret_number may be NULL; 0 when it was captured. */
int stream_put(cuda_stream_ref handle, struct task *op, uint64_t *ret_number);
/* Breaks every capture: something is asked that none allows. False when there is none. */
bool streams_capture_break(void);
void streams_finish(void);
