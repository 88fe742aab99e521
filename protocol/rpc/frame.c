#include "protocol/rpc/frame.h"

#include "base/buf.h"
#include "protocol/rpc/frame_header.h"

#include <assert.h>

#define HEAD_MAX 4096u              /* bytes of a skipped message shown to `fault` */
#define HEADER_LINE_MAX (8u << 10)  /* one header line; a longer one is no header */
#define HEADER_BLOCK_MAX (8u << 10) /* all lines of one header block */
#define KEEP_CAP (256u << 10)       /* memory kept between messages */

enum state {
    AT_START,   /* between messages */
    IN_LINE,    /* a JSON text that ends at its newline */
    IN_HEADERS, /* lines of a header block */
    IN_BODY,    /* `left` bytes of a header-framed body */
    ATTACHING,  /* `left` bytes after it */
    SKIP_LINE,  /* the rest of a line that was too large; already reported */
    SKIP_BODY,  /* `left` bytes of a body and an attachment that are not taken */
    RESYNC,     /* reported; up to a newline or the next Content-Length */
};

/* The contents of a header. */
struct length {
    bool given;
    size_t bytes;
};

struct frame_decoder {
    struct frame_events events;
    void *data;
    size_t max_body, max_attached;
    enum state state;
    enum frame_mode last; /* framing of the latest message or header block */
    char *bytes;          /* [start, end) is still to be read; one spare byte after cap */
    size_t start, end, cap;
    size_t
        scanned; /* bytes from start that were searched already: nothing is read twice */
    /* the header block, body or attachment at hand */
    struct length body_length, attached_length;
    size_t left, block;
    bool bad_length, reported;
    struct buf body, attached; /* while ATTACHING */
    bool whole;       /* RESYNC: the segment at hand is unread from its first byte on */
    bool paused;      /* message() returned false */
    bool delivering;  /* inside frame_feed or frame_resume */
    bool over;        /* no more bytes come */
    bool freed;       /* frame_decoder_free came from a callback */
    struct buf later; /* fed from inside a callback, whose body must not move */
};

struct frame_decoder *frame_decoder_new(size_t max_body,
                                        const struct frame_events *events, void *data) {
    struct frame_decoder *d = xcalloc(1, sizeof *d);
    d->events = *events;
    d->data = data;
    d->max_body = max_body;
    d->later = BUF_INIT(SIZE_MAX / 4); /* the host stops reading; see frame_feed */
    d->body = d->attached = BUF_INIT(SIZE_MAX / 4); /* lengths were checked */
    return d;
}

void frame_decoder_attach(struct frame_decoder *d, size_t max) {
    d->max_attached = max;
}

static void decoder_destroy(struct frame_decoder *d) {
    buf_finish(&d->later);
    buf_finish(&d->body);
    buf_finish(&d->attached);
    free(d->bytes);
    free(d);
}

void frame_decoder_free(struct frame_decoder *d) {
    if (!d) {
        return;
    }
    if (d->delivering) {
        d->freed = true;
        return;
    }
    decoder_destroy(d);
}

/* Never NULL: bytes are, before the first and after a large message. */
static const char *unread(const struct frame_decoder *d) {
    return d->bytes ? d->bytes + d->start : "";
}

static size_t available(const struct frame_decoder *d) {
    return d->end - d->start;
}

static void consume(struct frame_decoder *d, size_t n) {
    assert(n <= available(d));
    d->start += n;
    d->scanned = 0;
}

static void enter(struct frame_decoder *d, enum state state) {
    d->state = state;
    d->scanned = 0;
}

static void report(struct frame_decoder *d, enum frame_mode mode, enum frame_fault fault,
                   size_t len) {
    d->events.fault(mode, fault, unread(d), len < HEAD_MAX ? len : HEAD_MAX, d->data);
}

/* Hand out the next `len` bytes as a message, then drop `used` of them. The byte after
 * the body becomes a NUL for the length of the call. */
static void deliver(struct frame_decoder *d, enum frame_mode mode, size_t len,
                    size_t used) {
    char *body = d->bytes + d->start;
    char after = body[len];
    d->last = mode;
    body[len] = '\0';
    bool go_on = d->events.message(mode, body, len, NULL, d->data);
    body[len] = after;
    d->paused = d->paused || !go_on;
    consume(d, used);
    enter(d, AT_START);
}

/* --- lines --- */

/* The next newline, searching only bytes that were not searched before; NULL if there is
 * none. */
static const char *find_newline(struct frame_decoder *d) {
    return memchr(unread(d) + d->scanned, '\n', available(d) - d->scanned);
}

static size_t without_cr(const char *line, size_t len) {
    return len && line[len - 1] == '\r' ? len - 1 : len;
}

/* In a connection that speaks headers, a text that starts with '{' is most likely the
 * rest of a body whose length was given too small: it ends at the next header, too. */
static bool cut_at_header(struct frame_decoder *d, size_t to) {
    if (d->last != FRAME_HEADERS) {
        return false;
    }
    size_t most = d->max_body + 1; /* after that it is too large, however it arrived */
    ptrdiff_t at = frame_header_find(unread(d), d->scanned, to < most ? to : most);
    if (at < 0) {
        return false;
    }
    report(d, FRAME_HEADERS, FRAME_JUNK, (size_t)at);
    consume(d, (size_t)at);
    enter(d, AT_START);
    return true;
}

static bool step_line(struct frame_decoder *d) {
    const char *newline = find_newline(d);
    size_t len = newline ? (size_t)(newline - unread(d)) : available(d);
    if (cut_at_header(d, len)) {
        return true;
    }
    size_t body = without_cr(unread(d), len);
    if (body > d->max_body) {
        report(d, FRAME_LINES, FRAME_TOO_LARGE, body);
        consume(d, len);
        enter(d, SKIP_LINE);
        return true;
    }
    d->scanned = len;
    if (newline || d->over) {
        deliver(d, FRAME_LINES, body, newline ? len + 1 : len);
    }
    return newline || d->over;
}

static bool step_skip_line(struct frame_decoder *d) {
    const char *newline = find_newline(d);
    consume(d, newline ? (size_t)(newline - unread(d)) + 1 : available(d));
    if (newline) {
        enter(d, AT_START);
    }
    return newline;
}

/* --- headers --- */

static void start_resync(struct frame_decoder *d) {
    d->whole = true;
    enter(d, RESYNC);
}

static void read_header(struct frame_decoder *d, const char *line, size_t len,
                        size_t name) {
    struct length *told = frame_header_is(line, name, "content-length") ? &d->body_length
                          : frame_header_is(line, name, "attachment-length")
                              ? &d->attached_length
                              : NULL;
    if (!told) {
        return; /* Content-Type and whatever else: the text is UTF-8 anyway */
    }
    long long value = frame_header_length(line + name + 1, len - name - 1);
    d->bad_length |= value < 0 || (told->given && told->bytes != (size_t)value);
    *told = (struct length){true, (size_t)value};
}

static void start_headers(struct frame_decoder *d) {
    d->body_length = d->attached_length = (struct length){.given = false};
    d->bad_length = d->reported = false;
    d->block = 0;
    enter(d, IN_HEADERS);
}

static bool is_absurd(size_t length, size_t max) {
    return length > FRAME_ABSURD_LENGTH && length > max;
}

static void end_headers(struct frame_decoder *d) {
    size_t body = d->body_length.bytes, attached = d->attached_length.bytes;
    d->last = FRAME_HEADERS;
    d->left = body;
    if (d->bad_length || body == 0 || is_absurd(body, d->max_body) ||
        is_absurd(attached, d->max_attached)) {
        report(d, FRAME_HEADERS, FRAME_BAD_HEADER, 0);
        start_resync(d);
    } else if (body > d->max_body || attached > d->max_attached) {
        d->left += attached;
        enter(d, SKIP_BODY);
    } else {
        enter(d, IN_BODY);
    }
}

/* A line that is no header: junk at the start, else the end of a broken block. */
static void no_header(struct frame_decoder *d, size_t len) {
    bool first = d->block == 0;
    if (!first) {
        d->last = FRAME_HEADERS;
    }
    report(d, first ? d->last : FRAME_HEADERS, first ? FRAME_JUNK : FRAME_BAD_HEADER,
           len);
    start_resync(d);
}

static bool step_headers(struct frame_decoder *d) {
    const char *newline = find_newline(d);
    size_t len = newline ? (size_t)(newline - unread(d)) : available(d);
    if (len > HEADER_LINE_MAX || d->block > HEADER_BLOCK_MAX) {
        no_header(d, len);
        return true;
    }
    d->scanned = len;
    if (!newline) {
        return false;
    }
    size_t used = len + 1;
    len = without_cr(unread(d), len);
    size_t name = frame_header_name(unread(d), len);
    if (len && !name) {
        no_header(d, len);
        return true;
    }
    if (len) {
        read_header(d, unread(d), len, name);
    }
    d->block += used;
    consume(d, used);
    if (!len) {
        end_headers(d);
    }
    return true;
}

static bool step_body(struct frame_decoder *d) {
    size_t attached = d->attached_length.bytes;
    if (available(d) < d->left) {
        return false;
    }
    if (!attached) {
        deliver(d, FRAME_HEADERS, d->left, d->left);
        return true;
    }
    buf_add(&d->body, unread(d), d->left);
    consume(d, d->left);
    d->left = attached;
    buf_reserve(&d->attached, attached);
    enter(d, ATTACHING);
    return true;
}

/* How many of these bytes it took. */
static size_t attach(struct frame_decoder *d, const char *bytes, size_t len) {
    size_t n = len < d->left ? len : d->left;
    buf_add(&d->attached, bytes, n);
    d->left -= n;
    return n;
}

static bool step_attaching(struct frame_decoder *d) {
    consume(d, attach(d, unread(d), available(d)));
    if (d->left) {
        return false;
    }
    autobuf body = d->body, attached = d->attached;
    d->body = d->attached = BUF_INIT(SIZE_MAX / 4);
    enter(d, AT_START);
    bool go_on =
        d->events.message(FRAME_HEADERS, body.data, body.len, &attached, d->data);
    d->paused = d->paused || !go_on;
    return true;
}

/* The start of the body is waited for, so that an id in it can be reported. */
static bool step_skip_body(struct frame_decoder *d) {
    size_t body = d->body_length.bytes, wanted = body < HEAD_MAX ? body : HEAD_MAX;
    bool attached = d->attached_length.bytes && !d->max_attached;
    if (!d->reported && available(d) < wanted) {
        return false;
    }
    if (!d->reported) {
        report(d, FRAME_HEADERS, attached ? FRAME_ATTACHED : FRAME_TOO_LARGE, wanted);
        d->reported = true;
    }
    size_t n = available(d) < d->left ? available(d) : d->left;
    consume(d, n);
    d->left -= n;
    if (d->left == 0) {
        enter(d, AT_START);
    }
    return d->left == 0;
}

/* After a fault: what starts like a JSON text and ends at a newline may be a message;
 * everything else up to a newline or the next Content-Length is dropped unseen. */
static bool step_resync(struct frame_decoder *d) {
    const char *newline = find_newline(d);
    size_t to = newline ? (size_t)(newline - unread(d)) : available(d);
    ptrdiff_t header = frame_header_find(unread(d), d->scanned, to);
    if (header >= 0) {
        consume(d, (size_t)header);
        start_headers(d);
        return true;
    }
    bool text =
        d->whole && to && to <= d->max_body && (*unread(d) == '{' || *unread(d) == '[');
    d->scanned = to;
    if (!newline) {
        const size_t tail = FRAME_HEADER_NAME; /* may begin the next header */
        if (!text && to > tail) {
            consume(d, to - tail);
            d->scanned = tail;
            d->whole = false;
        }
        return false;
    }
    if (text) {
        deliver(d, FRAME_LINES, without_cr(unread(d), to), to + 1);
    } else {
        consume(d, to + 1);
        enter(d, AT_START);
    }
    return true;
}

/* --- between messages --- */

/* Skip white space and a byte order mark. False when more bytes are needed. */
static bool skip_blank(struct frame_decoder *d) {
    static const char mark[] = "\xEF\xBB\xBF";
    for (;;) {
        const char *p = unread(d);
        size_t n = available(d), k = 0;
        while (k < n && (p[k] == ' ' || p[k] == '\t' || p[k] == '\r' || p[k] == '\n')) {
            k++;
        }
        consume(d, k);
        p += k, n -= k;
        size_t same = 0;
        while (same < n && same < 3 && p[same] == mark[same]) {
            same++;
        }
        if (same < 3) {
            return n > same;
        }
        consume(d, 3);
    }
}

static bool step_start(struct frame_decoder *d) {
    if (!skip_blank(d)) {
        return false;
    }
    char c = *unread(d);
    if (c == '{' || c == '[') {
        enter(d, IN_LINE);
    } else {
        start_headers(d); /* junk is found out there, at the end of its line */
    }
    return true;
}

static bool step(struct frame_decoder *d) {
    static bool (*const steps[])(struct frame_decoder *) = {
        [AT_START] = step_start,      [IN_LINE] = step_line,
        [IN_HEADERS] = step_headers,  [IN_BODY] = step_body,
        [ATTACHING] = step_attaching, [SKIP_LINE] = step_skip_line,
        [SKIP_BODY] = step_skip_body, [RESYNC] = step_resync,
    };
    return steps[d->state](d);
}

/* --- memory --- */

/* Between messages: frees the memory of a large one. */
static void shrink(struct frame_decoder *d) {
    if (d->start < d->end) {
        return;
    }
    d->start = d->end = d->scanned = 0;
    if (d->cap > KEEP_CAP) {
        free(d->bytes);
        d->bytes = NULL;
        d->cap = 0;
    }
}

static void append(struct frame_decoder *d, const char *bytes, size_t len) {
    if (d->start && d->end + len > d->cap) {
        memmove(d->bytes, d->bytes + d->start, available(d));
        d->end -= d->start;
        d->start = 0;
    }
    if (d->end + len > d->cap || !d->bytes) {
        size_t most = d->max_body + HEADER_BLOCK_MAX; /* do not double past the limit */
        size_t cap = d->cap * 2 < most ? d->cap * 2 : most;
        size_t need = d->end + len + 4096;
        d->cap = cap > need ? cap : need;
        d->bytes = xrealloc(d->bytes, d->cap + 1);
    }
    memcpy(d->bytes + d->end, bytes, len);
    d->end += len;
}

/* Delivers complete messages. False if a callback freed the decoder. */
static bool run(struct frame_decoder *d) {
    d->delivering = true;
    for (;;) {
        while (!d->paused && !d->freed && step(d)) {}
        if (!d->later.len || d->freed) {
            break;
        }
        append(d, d->later.data, d->later.len);
        buf_finish(&d->later);
    }
    d->delivering = false;
    if (d->freed) {
        decoder_destroy(d);
        return false;
    }
    shrink(d);
    return true;
}

void frame_feed(struct frame_decoder *d, const char *bytes, size_t len) {
    if (d->delivering) {
        buf_add(&d->later, bytes, len);
        return;
    }
    /* In pieces, so that little of the skipped input is ever stored. */
    const size_t piece = 1u << 20;
    while (len) {
        size_t n = len < piece || d->paused ? len : piece;
        if (d->state == ATTACHING && !available(d)) {
            n = attach(d, bytes, n); /* with one copy */
        } else {
            append(d, bytes, n);
        }
        bytes += n, len -= n;
        if (!d->paused && !run(d)) {
            return;
        }
    }
}

void frame_end(struct frame_decoder *d) {
    d->over = true;
    if (available(d) && !d->delivering && !d->paused) {
        run(d);
    }
}

void frame_pause(struct frame_decoder *d) {
    d->paused = true;
}

void frame_resume(struct frame_decoder *d) {
    d->paused = false;
    if (!d->delivering) {
        run(d);
    }
}
