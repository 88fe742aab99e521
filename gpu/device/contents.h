#pragma once
/* contents: saved contents of allocations: the bytes, and which of them were initialised.
 * They can be compared with the current content and restored. Everything is for the
 * queue's turn. */
#include "gpu/ptx/state/memory.h"

struct content;

struct contents {
    struct content *all;
    uint64_t bytes, limit;
    uint64_t compared; /* bytes, in all */
};

/* The current content of a; if it is saved already and the version shows no write since
 * then, that one. The caller releases it. NULL if there is no room under the limit. */
struct content *content_new(struct contents *in, struct allocation *a);
struct content *content_again(struct content *c); /* one more owner; NULL is fine */
void content_release(struct contents *in, struct content *c); /* NULL is fine */
bool content_is_of(const struct content *c, const struct allocation *a);
/* Whether the allocation has this content now: by the version, or if may_look by a
 * comparison of the bytes. */
bool content_is_there(struct content *c, bool may_look);
/* Writes it back under a new version. Bytes that are initialised stay so. */
void content_restore(struct content *c);
/* Bytes that saving a copies. */
uint64_t content_bytes(const struct allocation *a);
