#pragma once
/* stdio_link: a pair of descriptors of any type on the libuv loop.
 *
 * Pipes, sockets and terminals are polled; a regular file is read through the thread
 * pool (so `upskilld < recorded.jsonl` works) and written synchronously. The owner must
 * bound its writing: above STDIO_LINK_SOFT_LIMIT queued bytes stdio_link_congested()
 * is true until half of that is left, when `drained` is called. Meanwhile the owner must
 * start no new requests and drop droppable messages; requests in progress may still be
 * answered. Above STDIO_LINK_HARD_LIMIT the link breaks with -ENOBUFS.
 *
 * Single-threaded: all functions and callbacks run on the loop's thread. */
#include "base/mem.h"

#include <uv.h>

struct stdio_link;

#define STDIO_LINK_SOFT_LIMIT (1u << 20)
/* Two messages of the maximum size, and more. */
#define STDIO_LINK_HARD_LIMIT (160u << 20)

/* How long to wait for a reader with unread bytes. */
struct stdio_patience {
    unsigned stuck_ms; /* without reading anything */
    unsigned most_ms;  /* in all; 0 = as long as it keeps reading */
};
/* stuck_ms after the end of input. */
#define STDIO_LINK_STUCK_MS 30000

struct stdio_link_events {
    /* Bytes arrived; they are valid only during the call. */
    void (*bytes)(struct stdio_link *link, const char *bytes, size_t len, void *data);
    /* The input ended. Writing is still possible; from now on the link breaks with
     * -ETIMEDOUT if the reader reads nothing for STDIO_LINK_STUCK_MS. */
    void (*ended)(struct stdio_link *link, void *data);
    /* The link broke; -EPIPE: the reader is gone. Called once, from the loop. */
    void (*broken)(struct stdio_link *link, int status, void *data);
    /* Optional. It is no longer congested. */
    void (*drained)(struct stdio_link *link, void *data);
};

/* Opens missing descriptors 0-2, moves the protocol's two to descriptors >= 3 with
 * CLOEXEC, and puts /dev/null on 0 and stderr on 1, so that no printf of a library and
 * no child can write into the protocol. Call first in main(). Returns 0 or -errno. */
int stdio_claim(int *ret_in, int *ret_out);

/* Takes ownership of both descriptors (they may be the same socket), even on failure.
 * Reading starts at once. */
int stdio_link_new(uv_loop_t *loop, int in_fd, int out_fd,
                   const struct stdio_link_events *events, void *data,
                   struct stdio_link **ret, struct err *err);

/* Queues bytes; takes ownership of `bytes`, which was allocated with malloc. */
void stdio_link_write(struct stdio_link *link, char *bytes, size_t len);
size_t stdio_link_queued(const struct stdio_link *link);
bool stdio_link_congested(const struct stdio_link *link);

void stdio_link_pause(struct stdio_link *link); /* stop reading; does not nest */
void stdio_link_resume(struct stdio_link *link);

/* Flushes the queue, then closes and frees. No callback of stdio_link_events runs any
 * more. `closed` (may be NULL) runs once, from the loop; its status is 0, or the reason
 * why not everything was delivered. */
void stdio_link_close(struct stdio_link *link, struct stdio_patience patience,
                      void (*closed)(int status, void *data), void *data);
/* Changes the patience of a running stdio_link_close. */
void stdio_link_hurry(struct stdio_link *link, struct stdio_patience patience);
