#pragma once
/* frame: splits a byte stream into messages.
 *
 * There are two framings, distinguished at the start of every message: a JSON text
 * that starts with '{' or '[' ends at its newline (MCP and our own methods); a header
 * block ("Content-Length: N", any order, any case, CRLF or LF) is followed by N bytes
 * (LSP). If the host accepts attachments, a header "Attachment-Length: M" means that M
 * more bytes follow the body, which are not parsed here. A byte order mark and white
 * space between messages are skipped; a line that is neither is reported once as junk and
 * skipped. After a fault reading continues at the next line that starts like JSON, or at
 * the next "Content-Length:" anywhere.
 *
 * The decoder owns its buffer, never blocks and knows nothing of libuv, so tests and
 * fuzzers can feed it any split of the same bytes. */
#include "base/mem.h"

enum frame_mode { FRAME_LINES, FRAME_HEADERS };

#define FRAME_MAX_BODY (64u << 20)

enum frame_fault {
    FRAME_TOO_LARGE,  /* a body or attachment over its limit: both were skipped */
    FRAME_ATTACHED,   /* the same for an attachment that the host does not accept */
    FRAME_BAD_HEADER, /* missing, negative, conflicting or absurd length; skipped to the
                         next text that looks like a message */
    FRAME_JUNK,       /* a line that is neither JSON nor a header */
};

struct frame_events {
    /* One message. body is NUL-terminated, may be changed in place, and is valid only
     * during the call. attached: its attachment or NULL; the contents may be taken.
     * Return false to stop delivery: frame_feed keeps the rest until frame_resume. */
    bool (*message)(enum frame_mode mode, char *body, size_t len, struct buf *attached,
                    void *data);
    /* Input was skipped; the stream continues. `head` contains up to the first 4 KiB of
     * the body, so that an id can still be found. */
    void (*fault)(enum frame_mode mode, enum frame_fault fault, const char *head,
                  size_t len, void *data);
};

struct frame_decoder;
struct frame_decoder *frame_decoder_new(size_t max_body,
                                        const struct frame_events *events, void *data);
/* Accepts attachments of at most `max` bytes from now on. */
void frame_decoder_attach(struct frame_decoder *d, size_t max);
void frame_decoder_free(struct frame_decoder *d); /* NULL is a no-op */
/* Inside an event it only stores the bytes and delivers them after the event; the
 * decoder may also be freed there. */
void frame_feed(struct frame_decoder *d, const char *bytes, size_t len);
/* The end of input: a final JSON text without a newline is a message too. */
void frame_end(struct frame_decoder *d);
/* Inside an event: stops delivery after it, like `message` returning false. */
void frame_pause(struct frame_decoder *d);
/* Continues after `message` returned false, or after frame_pause. May call events. */
void frame_resume(struct frame_decoder *d);
