#pragma once
/* sse: the event stream of the HTML standard, section 9.2.6, read piece by piece.
 *
 * Lines end with LF, CR LF or CR; a byte order mark at the start and comments are
 * skipped; `data` lines of one event are joined by LF; an event that the stream's end
 * cuts off is dropped. Bounded: an event over SSE_MAX_EVENT bytes, or a longer line, is
 * an error. Pure. */
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

#define SSE_MAX_EVENT (4u << 20)

/* name: "message" when the stream gave none, cut at 63 bytes. data is NUL-terminated and
 * may be changed in place. A negative return stops the reading. */
typedef int sse_event(const char *name, char *data, size_t len, void *user);

struct sse {
    struct buf line, data;
    char name[64];
    bool begun;    /* the byte order mark is behind us */
    bool after_cr; /* a LF now belongs to the line that ended */
    bool has_data;
    sse_event *event;
    void *user;
};

void sse_init(struct sse *s, sse_event *event, void *user);
void sse_finish(struct sse *s);
/* 0, -EMSGSIZE over the limit, or what `event` returned. */
int sse_feed(struct sse *s, const char *bytes, size_t len, struct err *err);
