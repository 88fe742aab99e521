#pragma once
/* stdio_link: a pair of descriptors on the libuv loop, whatever they are.
 *
 * Pipes and sockets are polled, terminals too; a regular file is read through the thread
 * pool (so `upskilld < recorded.jsonl` works) and written synchronously. Writing is
 * bounded by its owner: above STDIO_LINK_SOFT_LIMIT queued bytes stdio_link_congested()
 * is true until half of that is left, which `drained` tells; meanwhile the owner answers
 * nothing more and drops what can be dropped. What is under way then may still be
 * answered; above STDIO_LINK_HARD_LIMIT the link breaks with -ENOBUFS.
 *
 * Single-threaded: all functions and callbacks run on the loop's thread. */
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct err;
struct stdio_link;

#define STDIO_LINK_SOFT_LIMIT (1u << 20)
/* Two messages of the largest size and some. */
#define STDIO_LINK_HARD_LIMIT (160u << 20)

/* How long a reader is waited for that has its bytes still to take. */
struct stdio_patience {
    unsigned stuck_ms; /* for which it may take nothing */
    unsigned most_ms;  /* however much it takes; 0 = as long as it goes on taking */
};
/* After an end of input, when nobody but the reader decides how long it takes. */
#define STDIO_LINK_STUCK_MS 30000

struct stdio_link_events {
    /* Bytes arrived; they are valid only during the call. */
    void (*bytes)(struct stdio_link *link, const char *bytes, size_t len, void *data);
    /* The input ended. Writing is still possible; from now on the link breaks with
     * -ETIMEDOUT when the reader takes nothing for STDIO_LINK_STUCK_MS. */
    void (*ended)(struct stdio_link *link, void *data);
    /* The link broke, -EPIPE for a reader that is gone. Called once, from the loop. */
    void (*broken)(struct stdio_link *link, int status, void *data);
    /* Optional. It is no longer congested. */
    void (*drained)(struct stdio_link *link, void *data);
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

/* Flush what is queued, then close and free. No callback of stdio_link_events runs any
 * more; `closed` runs once, from the loop (may be NULL): status is 0, or says why not
 * everything was delivered. */
void stdio_link_close(struct stdio_link *link, struct stdio_patience patience,
                      void (*closed)(int status, void *data), void *data);
/* Only after stdio_link_close, while it flushes: from now on with this patience. */
void stdio_link_hurry(struct stdio_link *link, struct stdio_patience patience);
