#pragma once
/* frame: cut a byte stream into messages, and put messages on a stream.
 *
 * Two framings are understood, told apart at the start of every message: a JSON text
 * that starts with '{' or '[' ends at its newline (MCP and our own methods); a header
 * block ("Content-Length: N", any order, any case, CRLF or LF) is followed by N bytes
 * (LSP). Where the host takes attachments, a header "Attachment-Length: M" says that M
 * more bytes follow the body, which nobody here looks into. A byte order mark and white
 * space between messages are skipped; a line that is neither is reported once as junk and
 * skipped. After a fault reading goes on at the next line that starts like JSON, or at
 * the next "Content-Length:" wherever it stands.
 *
 * The decoder owns its buffer, never blocks and knows nothing of libuv, so tests and
 * fuzzers can feed it any split of the same bytes. */
#include <stdbool.h>
#include <stddef.h>

struct buf;

enum frame_mode { FRAME_LINES, FRAME_HEADERS };

#define FRAME_MAX_BODY (64u << 20)

enum frame_fault {
    FRAME_TOO_LARGE,  /* a body or attachment over its limit: both were skipped whole */
    FRAME_ATTACHED,   /* the same for an attachment that nobody takes here */
    FRAME_BAD_HEADER, /* no, negative, conflicting or absurd length; skipped to the next
                         thing that looks like a message */
    FRAME_JUNK,       /* a line that is neither JSON nor a header */
};

struct frame_events {
    /* One message. body is NUL-terminated, may be changed in place, and is valid only
     * during the call. attached: NULL, or what came with it, which may be moved away.
     * Return false to stop delivering: frame_feed keeps the rest until frame_resume. */
    bool (*message)(enum frame_mode mode, char *body, size_t len, struct buf *attached,
                    void *data);
    /* Something was skipped; the stream goes on. `head` holds up to the first 4 KiB of
     * the body, so that an id can still be looked for. */
    void (*fault)(enum frame_mode mode, enum frame_fault fault, const char *head,
                  size_t len, void *data);
};

struct frame_decoder;
struct frame_decoder *frame_decoder_new(size_t max_body,
                                        const struct frame_events *events, void *data);
/* Attachments of at most so many bytes are taken; none before. */
void frame_decoder_attach(struct frame_decoder *d, size_t max);
void frame_decoder_free(struct frame_decoder *d); /* NULL is a no-op */
/* From inside an event it only stores the bytes, which then come after the event; the
 * decoder may be freed there, too. */
void frame_feed(struct frame_decoder *d, const char *bytes, size_t len);
/* No more bytes come: a JSON text without its newline is a message, too. */
void frame_end(struct frame_decoder *d);
/* From inside an event: deliver nothing more after it, as when `message` returns false.
 */
void frame_pause(struct frame_decoder *d);
/* Go on after `message` returned false, or after frame_pause. May call them again. */
void frame_resume(struct frame_decoder *d);
