#pragma once
/* shared_bytes: bytes with several holders, who are all on one thread. Nobody changes
 * them.
 *
 * What has tens of megabytes is written once, on some thread, and then sent from where it
 * is, perhaps twice. */
#include <stddef.h>

struct buf;

struct shared_bytes {
    size_t holders;
    char *data;
    size_t len;
};

/* bytes is moved away. One holder. */
struct shared_bytes *shared_bytes_new(struct buf *bytes);
struct shared_bytes *shared_bytes_ref(struct shared_bytes *shared); /* itself */
void shared_bytes_unref(struct shared_bytes *shared);               /* NULL is a no-op */
