#pragma once
/* err: what went wrong, in words, beside a negative errno.
 *
 * Functions that can fail return 0 (or a size) on success and a negative errno on
 * failure, and fill an optional `struct err` that the caller owns (usually on its stack).
 * Nothing here allocates, so the error path cannot fail. Library code never logs an
 * error: whoever handles it logs or answers, once. */
#include <stddef.h>

struct err {
    int code;      /* negative errno; 0 = no error */
    char msg[512]; /* one sentence for a person, no trailing newline, never a secret */
};

/* Set the error and return `code`, so that `return err_set(err, -EINVAL, …)` is one line.
 * err may be NULL. */
int err_set(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put context in front: "outer: inner". Returns err->code (or -EIO when err is NULL). */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
