#pragma once
/* trace_reader: what a format's reader is, and how one is found. */
#include "skills/traces/trace_rules.h"

/* What rows of rules cannot say of a format; each may be missing. */
struct trace_hooks {
    size_t state_size; /* of b->state, zeroed */
    /* Before a record; key: of the array that it is an element of, or NULL. False:
     * nothing is taken of it. */
    bool (*begin)(struct trace_build *b, const char *key, const json_t *record);
    void (*line)(struct trace_build *b, const char *text, size_t len); /* of text */
    void (*end)(struct trace_build *b);
    const struct trace_odd *odd;
};
extern const struct trace_hooks trace_claude, trace_codex, trace_gemini, trace_pi,
    trace_swe, trace_otlp, trace_messages, trace_text_claude, trace_text;

struct trace_reader {
    const char
        *rules; /* the group for its records; NULL: lines of text, blank ones too */
    const char *format; /* its name */
    const char *rest;   /* the group for what is around them, or NULL or "" */
    const struct trace_hooks *hooks; /* or NULL */
    const char *const *keys;         /* of the arrays whose elements are the records: JSON
                                        documents, taken apart; NULL: a JSON value per line */
    unsigned depth;                  /* that they may lie at: 1 in the document itself */
};

/* By the beginning of a file, at most TRACE_SNIFF bytes of it. The reader, or NULL with
 * what to do instead. */
#define TRACE_SNIFF (1u << 20)
const struct trace_reader *trace_sniff(const char *text, size_t len, struct err *err);
/* Members of the JSON value at text as far as it goes: scalars (strings cut) and, down to
 * `depth`, objects and the first element of arrays. *ret_end: where it ended. NULL: no
 * JSON begins there. */
json_t *trace_outline(const char *text, size_t len, unsigned depth, size_t *ret_end);
