#pragma once
/* trace_reader: what a format's reader is, and the table of them. */
#include "skills/traces/trace_build.h"

enum trace_feed {
    FEED_LINES,    /* a JSON value per line */
    FEED_ELEMENTS, /* JSON documents, their arrays of messages taken apart */
    FEED_TEXT,     /* lines of text, blank ones too */
};

struct trace_reader {
    enum trace_feed feed;
    size_t state_size;       /* of b->state, zeroed */
    const char *const *keys; /* FEED_ELEMENTS: the arrays */
    unsigned depth;          /* that they may lie at: 1 in the document itself */
    /* key: of the array that value is an element of; NULL: a line, or the document's rest
     * after its elements. Returns false when the record is of a kind not known. */
    bool (*record)(struct trace_build *b, const char *key, json_t *value);
    void (*line)(struct trace_build *b, const char *text, size_t len);
    void (*end)(struct trace_build *b); /* may be NULL */
};

extern const struct trace_reader trace_claude, trace_codex, trace_opencode_run,
    trace_opencode_export, trace_gemini, trace_gemini_lines, trace_pi, trace_sts,
    trace_atif, trace_swe, trace_otlp, trace_messages, trace_messages_lines, trace_text_claude,
    trace_text_markdown, trace_text;

/* By the beginning of a file, at most TRACE_SNIFF bytes of it. The reader, or NULL with
 * what to do instead. */
#define TRACE_SNIFF (1u << 20)
const struct trace_reader *trace_sniff(const char *text, size_t len,
                                       enum trace_format *ret, struct err *err);
/* Members of the JSON value at text as far as it goes: scalars (strings cut) and, down to
 * `depth`, objects and the first element of arrays. *ret_end: where it ended. NULL: no
 * JSON begins there. */
json_t *trace_outline(const char *text, size_t len, unsigned depth, size_t *ret_end);
