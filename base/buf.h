#pragma once
/* buf: bytes that grow up to a limit.
 *
 * Every buffer that outside input can grow has a maximum, so no caller can forget it. An
 * addition that would exceed the maximum fails, leaves the contents unchanged and sets
 * `full`; all later additions fail too. A sequence of buf_add calls therefore needs only
 * one check at its end.
 *
 * `data` is never NULL and always NUL-terminated (the NUL is not counted in `len`). */
#include "base/mem.h"

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

/* All return 0, or -EMSGSIZE if the limit would be exceeded (then nothing is added). */
int buf_add(struct buf *b, const void *bytes, size_t len);
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `len` writable bytes at the end (uninitialised), or NULL if the limit would be
 * exceeded. Call buf_commit with the number of bytes written. */
char *buf_reserve(struct buf *b, size_t len);
void buf_commit(struct buf *b, size_t len);
/* Drop the first n bytes. */
void buf_consume(struct buf *b, size_t n);

#define autobuf __attribute__((cleanup(buf_finish))) struct buf
