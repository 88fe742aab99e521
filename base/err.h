#pragma once
/* err: an error message to go with a negative errno.
 *
 * Functions that can fail return 0 (or a size) on success and a negative errno on
 * failure, and fill an optional `struct err` that the caller owns (usually on its stack).
 * Nothing here allocates, so the error path cannot fail. Library code never logs an
 * error: the code that handles it logs it or puts it in the answer, once. */
#include "base/mem.h"

struct err {
    int code;      /* negative errno; 0 = no error */
    char msg[512]; /* one sentence for a person, no trailing newline, never a secret */
};

/* Set the error and return `code`, so that `return err_set(err, -EINVAL, …)` is one line.
 * err may be NULL. */
int err_set(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prefix the message with context: "outer: inner". Returns err->code (-EIO if err is
 * NULL). */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
