#pragma once
/* shared_bytes: immutable bytes with a reference count, used by one thread: tens of
 * megabytes that are written once, on some thread, and then sent without a copy, possibly
 * twice. Many bytes are in sealed memory, whose descriptor another process can map. */
#include "base/mem.h"

struct shared_bytes {
    size_t holders;
    char *data;
    size_t len;
};

/* Takes over the contents of bytes. Returns one reference. */
struct shared_bytes *shared_bytes_new(struct buf *bytes);
struct shared_bytes *shared_bytes_ref(struct shared_bytes *shared); /* returns shared */
void shared_bytes_unref(struct shared_bytes *shared);               /* NULL is a no-op */
/* The descriptor of sealed memory that holds these bytes, so that a process on this
 * machine needs no copy of them; -1: they are few, or it could not be made. */
int shared_bytes_fd(const struct shared_bytes *shared);

/* Bytes as memory that other processes can map and nobody can change: a descriptor, for
 * the caller to close, or -errno. */
int bytes_seal(const char *bytes, size_t len);
