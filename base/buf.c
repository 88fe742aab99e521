#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

char buf_empty[1];

void buf_finish(struct buf *b) {
    if (b->cap) {
        free(b->data);
    }
    *b = BUF_INIT(b->max);
}

void buf_reset(struct buf *b) {
    b->len = 0;
    b->full = false;
    if (b->cap) {
        b->data[0] = '\0';
    }
}

char *buf_detach(struct buf *b) {
    char *data = b->cap ? b->data : xstrdup("");
    *b = BUF_INIT(b->max);
    return data;
}

char *buf_reserve(struct buf *b, size_t len) {
    if (b->full || len > b->max - b->len) {
        b->full = true;
        return NULL;
    }
    size_t need = b->len + len + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap + b->cap / 2 : 64;
        cap = cap > need ? cap : need;
        b->data = xrealloc(b->cap ? b->data : NULL, cap);
        b->data[b->len] = '\0'; /* also when nothing will be committed */
        b->cap = cap;
        memory_advise_huge(b->data, cap);
    }
    return b->data + b->len;
}

void buf_commit(struct buf *b, size_t len) {
    if (b->cap) {
        b->len += len;
        b->data[b->len] = '\0';
    }
}

int buf_add(struct buf *b, const void *bytes, size_t len) {
    char *to = buf_reserve(b, len);
    if (!to) {
        return -EMSGSIZE;
    }
    if (len) {
        memcpy(to, bytes, len);
    }
    buf_commit(b, len);
    return 0;
}

int buf_adds(struct buf *b, const char *s) {
    return buf_add(b, s, strlen(s));
}

int buf_addc(struct buf *b, char c) {
    return buf_add(b, &c, 1);
}

int buf_addf(struct buf *b, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *to = n < 0 ? NULL : buf_reserve(b, (size_t)n);
    if (to) {
        vsnprintf(to, (size_t)n + 1, fmt, again);
        buf_commit(b, (size_t)n);
    }
    va_end(again);
    return to ? 0 : -EMSGSIZE;
}

void buf_consume(struct buf *b, size_t n) {
    if (n >= b->len) {
        buf_reset(b);
        return;
    }
    memmove(b->data, b->data + n, b->len - n + 1);
    b->len -= n;
}
