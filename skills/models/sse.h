#pragma once
/* sse: a parser for the event stream of the HTML standard, section 9.2.6, fed piece by
 * piece. Lines end with LF, CR LF or CR; a byte order mark at the start and comments are
 * skipped; `data` lines of one event are joined by LF; an event cut off by the stream's
 * end is dropped. Bounded: an event over SSE_MAX_EVENT bytes, or a longer line, is an
 * error. Pure. */
#include "base/buf.h"

#define SSE_MAX_EVENT (4u << 20)

/* name: "message" if the stream gave none, cut at 63 bytes. data is NUL-terminated and
 * may be modified. A negative return stops the parser. */
typedef int sse_event(const char *name, char *data, size_t len, void *user);

struct sse {
    struct buf line, data;
    char name[64];
    bool begun;    /* the byte order mark has been handled */
    bool after_cr; /* a LF now belongs to the previous line's end */
    bool has_data;
    sse_event *event;
    void *user;
};

void sse_init(struct sse *s, sse_event *event, void *user);
void sse_finish(struct sse *s);
/* 0, -EMSGSIZE over the limit, or what `event` returned. */
int sse_feed(struct sse *s, const char *bytes, size_t len, struct err *err);
