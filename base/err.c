#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...) {
    if (!err) {
        return code;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    err->code = code;
    return code;
}

int err_wrap(struct err *err, const char *fmt, ...) {
    if (!err) {
        return -EIO;
    }
    char inner[sizeof err->msg];
    memcpy(inner, err->msg, sizeof inner);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof err->msg) {
        snprintf(err->msg + n, sizeof err->msg - (size_t)n, ": %s", inner);
    }
    return err->code;
}
