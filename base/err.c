#include "base/err.h"

#include "base/text.h"

#define WHOLE_SIZE (sizeof((struct err *)NULL)->msg + 4) /* and a character's rest */

/* A message that is too long is cut between two characters. */
static void keep(struct err *err, const char *whole) {
    size_t len = text_cut(whole, strlen(whole), sizeof err->msg - 1);
    memcpy(err->msg, whole, len);
    err->msg[len] = '\0';
}

int err_set(struct err *err, int code, const char *fmt, ...) {
    if (!err) {
        return code;
    }
    char whole[WHOLE_SIZE];
    text_format(whole, fmt);
    keep(err, whole);
    err->code = code;
    return code;
}

int err_wrap(struct err *err, const char *fmt, ...) {
    if (!err) {
        return -EIO;
    }
    char whole[WHOLE_SIZE];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(whole, sizeof whole, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof whole) {
        snprintf(whole + n, sizeof whole - (size_t)n, ": %s", err->msg);
    }
    keep(err, whole);
    return err->code;
}
