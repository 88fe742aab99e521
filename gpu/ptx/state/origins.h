#pragma once
/* origins: the loads that undefined values in memory came from.
 *
 * A kernel that stores a value computed from uninitialised bytes makes no error until the
 * value is used. The shadow marks such bytes as written by a kernel and not initialised;
 * this table has, for each of their words, the load to report. A device has one table
 * (struct memory), for any thread. What a launch's blocks have for themselves ends with
 * it: of that, each processor has its own table. */
#include "gpu/ptx/state/findings.h"
#include "gpu/ptx/state/memory.h"

struct origin { /* a load of uninitialised bytes */
    struct finding_thread by;
    const char *space; /* "global" …: a constant */
    uint64_t bytes, offset;
    /* copied: NULL, or the pending copy that writes it (block_copies_to) */
    const char *buffer, *copied;
};

void origin_tell(struct findings *f, const struct origin *o);

/* word: the host's address of four bytes. Borrowed data is copied. false: there are too
 * many. */
bool origins_put(struct memory *m, const void *word, const struct origin *o);
/* ret->by.kernel and ret->buffer live as long as the table. */
bool origins_get(struct memory *m, const void *word, struct origin *ret);
/* The same for a table of the caller's, NULL as long as it is empty. */
bool origins_put_own(struct origins **own, const void *word, const struct origin *o);
bool origins_get_own(const struct origins *own, const void *word, struct origin *ret);
void origins_free(struct origins *o);

/* Whether byte k of a word with this shadow was stored by a kernel and is undefined. */
static inline bool origins_has(uint8_t shadow, unsigned k) {
    return (shadow >> 4 & ~shadow & 15) >> k & 1;
}
/* These bytes were copied from one allocation to another, with their shadow. No launch
 * may run, here and below. */
void origins_copied(struct memory *m, struct findings *f, struct allocation *to,
                    uint64_t to_offset, const struct allocation *from,
                    uint64_t from_offset, uint64_t bytes);
/* The launch was ended before its time: a warning for each allocation that holds undefined
 * values which nobody has used yet. */
void origins_tell_unused(struct memory *m, struct findings *f);
/* The host reads these bytes of an allocation: undefined ones are reported, once. */
void origins_tell_bytes(struct memory *m, struct findings *f, struct allocation *a,
                        uint64_t offset, uint64_t bytes);
