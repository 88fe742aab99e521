#pragma once
/* buf: bytes that grow up to a limit.
 *
 * Every buffer that outside bytes can grow carries its own maximum, so no caller can
 * forget it. Once an addition would pass the maximum the buffer keeps what it has, stays
 * "full", and every later addition fails the same way: a run of buf_add calls needs one
 * check at its end.
 *
 * `data` is never NULL and always NUL-terminated (the NUL is not counted in `len`). */
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t len;
    size_t cap; /* 0 while data points at the shared empty string */
    size_t max; /* bytes, without the terminating NUL */
    bool full;  /* an addition was refused */
};

extern char buf_empty[1];
#define BUF_INIT(limit)                                                                  \
    (struct buf) {                                                                       \
        .data = buf_empty, .max = (limit)                                                \
    }

void buf_finish(struct buf *b); /* frees; b is then an empty buffer with the same limit */
void buf_reset(struct buf *b);  /* empties, keeps the memory, clears `full` */
/* The bytes, to be freed by the caller with free(); b is then empty. */
char *buf_detach(struct buf *b);

/* All return 0, or -EMSGSIZE when the limit would be passed (nothing is added then). */
int buf_add(struct buf *b, const void *bytes, size_t len);
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for `len` more bytes at the end (uninitialised), or NULL at the limit; commit what
 * was written with buf_commit. */
char *buf_reserve(struct buf *b, size_t len);
void buf_commit(struct buf *b, size_t len);
/* Drop the first n bytes. */
void buf_consume(struct buf *b, size_t n);

#define autobuf __attribute__((cleanup(buf_finish))) struct buf

/* Bytes with several holders, who are all on one thread. Nobody changes them. What has
 * tens of megabytes is written once, on some thread, and then sent from where it is,
 * perhaps twice. */
struct shared_bytes {
    size_t holders;
    char *data;
    size_t len;
};

/* bytes is moved away. One holder. */
struct shared_bytes *shared_bytes_new(struct buf *bytes);
struct shared_bytes *shared_bytes_ref(struct shared_bytes *shared); /* itself */
void shared_bytes_unref(struct shared_bytes *shared);               /* NULL is a no-op */
