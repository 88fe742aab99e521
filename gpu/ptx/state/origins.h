#pragma once
/* origins: which loads the undefined values came from that lie in memory.
 *
 * A kernel that stores what it computed from bytes that nobody had written makes no
 * mistake until somebody uses it. The bytes stand in the shadow as written by a kernel
 * and not initialised; here stands, for each of their words, the load that is to be told.
 * A device has one table (struct memory). Any thread. */
#include "gpu/ptx/state/findings.h"
#include "gpu/ptx/state/memory.h"

struct origin { /* a load of bytes that nobody had written */
    struct finding_thread by;
    const char *space; /* "global" …: a constant */
    uint64_t bytes, offset;
    const char *buffer, *copied; /* copied: NULL, or by what copy it is to be written */
};

void origin_tell(struct findings *f, const struct origin *o);

/* word: the host's address of four bytes. What is borrowed is copied. false: there are
 * too many. */
bool origins_put(struct memory *m, const void *word, const struct origin *o);
/* ret->by.kernel and ret->buffer live as long as the table. */
bool origins_get(struct memory *m, const void *word, struct origin *ret);
void origins_free(struct origins *o);

/* Byte k of a word with this shadow: stored by a kernel, and not defined. */
static inline bool origins_has(uint8_t shadow, unsigned k) {
    return (shadow >> 4 & ~shadow & 15) >> k & 1;
}
/* These bytes were copied from one allocation to another, their shadow too. No launch may
 * run here and below. */
void origins_copied(struct memory *m, struct findings *f, struct allocation *to,
                    uint64_t to_offset, const struct allocation *from,
                    uint64_t from_offset, uint64_t bytes);
/* The host looks at these bytes of an allocation: what of them is undefined is told,
 * once. */
void origins_tell_bytes(struct memory *m, struct findings *f, struct allocation *a,
                        uint64_t offset, uint64_t bytes);
