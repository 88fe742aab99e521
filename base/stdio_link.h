#pragma once
/* stdio_link: a pair of descriptors on the libuv loop, whatever they are.
 *
 * Pipes and sockets are polled, terminals too; a regular file is read through the thread
 * pool (so `upskilld < recorded.jsonl` works) and written synchronously. Writing is
 * bounded: above `soft_limit` queued bytes stdio_link_congested() is true and the owner
 * drops what can be dropped; above `hard_limit` the reader is taken for dead and the link
 * ends with -EPIPE.
 *
 * Single-threaded: all functions and callbacks run on the loop's thread. */
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct err;
struct stdio_link;

#define STDIO_LINK_SOFT_LIMIT (8u << 20)
/* Two messages of the largest size and some. */
#define STDIO_LINK_HARD_LIMIT (160u << 20)

#define STDIO_LINK_FLUSH_MOST_MS 1500

struct stdio_link_events {
    /* Bytes arrived; they are valid only during the call. */
    void (*bytes)(struct stdio_link *link, const char *bytes, size_t len, void *data);
    /* The input ended (status 0) or the link broke (negative errno, -EPIPE for a reader
     * that is gone). Called once; writing is still possible after an end of input. */
    void (*ended)(struct stdio_link *link, int status, void *data);
};

/* Make descriptors 0-2 exist, move the protocol's two to descriptors >= 3 with CLOEXEC,
 * and leave /dev/null on 0 and stderr on 1, so that no printf of a library and no child
 * can write into the protocol. First thing in main(). Returns 0 or -errno. */
int stdio_claim(int *ret_in, int *ret_out);

/* Takes both descriptors over (they may be the same one, a socket), also when it fails.
 * Reading starts at once. */
int stdio_link_new(uv_loop_t *loop, int in_fd, int out_fd,
                   const struct stdio_link_events *events, void *data,
                   struct stdio_link **ret, struct err *err);

/* Queue bytes; `bytes` was allocated with malloc and belongs to the link from now on. */
void stdio_link_write(struct stdio_link *link, char *bytes, size_t len);
size_t stdio_link_queued(const struct stdio_link *link);
bool stdio_link_congested(const struct stdio_link *link);

void stdio_link_pause(struct stdio_link *link); /* stop reading; nestable is not needed */
void stdio_link_resume(struct stdio_link *link);

/* Flush what is queued, then close and free. A reader that takes nothing for `flush_ms`
 * is not waited for; one that takes its time is, for STDIO_LINK_FLUSH_MOST_MS. No
 * callback of stdio_link_events runs any more; `closed` runs once, from the loop (may be
 * NULL). */
void stdio_link_close(struct stdio_link *link, unsigned flush_ms,
                      void (*closed)(void *data), void *data);
