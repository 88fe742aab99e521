#pragma once
/* rope: bytes that leave as one and lie in several places.
 *
 * A message of tens of megabytes is little more than one or two long texts that somebody
 * holds already: a rope refers to them where they are, and copies only what stands around
 * them. */
#include "base/buf.h"

/* Stands before own.data[at]. */
struct rope_text {
    size_t at;
    const char *text;
    size_t len;
};

struct rope {
    struct buf own; /* what is copied; its limit is the whole rope's */
    struct rope_text *texts;
    size_t count, borrowed;       /* texts; their bytes */
    void (*release)(void *owner); /* by rope_finish: the texts are no longer needed */
    void *owner;
};

struct rope_piece {
    const char *bytes;
    size_t len;
};

#define ROPE_INIT(limit)                                                                 \
    (struct rope) {                                                                      \
        .own = BUF_INIT(limit)                                                           \
    }

/* Frees what is its own and calls release, if there is one. */
void rope_finish(struct rope *rope);
size_t rope_len(const struct rope *rope);
/* At the end; borrowed until rope_finish. 0, or -EMSGSIZE (own is full then). */
int rope_add_text(struct rope *rope, const char *text, size_t len);
/* In order, without empty ones; room for 2 * count + 1. How many there are. They stay
 * where they are until own grows. */
size_t rope_cut(const struct rope *rope, struct rope_piece *ret);
