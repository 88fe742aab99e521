#pragma once
/* trace_reader: the parts of a format's reader, and how the reader of a file is found. */
#include "skills/traces/trace_rules.h"

/* Functions for what a format's rules cannot express; each may be NULL. */
struct trace_hooks {
    size_t state_size; /* of b->state, zeroed */
    /* Before a record; key: of the array that contains it, or NULL. False: the record is
     * ignored. */
    bool (*begin)(struct trace_build *b, const char *key, const json_t *record);
    /* for text formats */
    void (*line)(struct trace_build *b, const char *text, size_t len);
    void (*end)(struct trace_build *b);
    const struct trace_odd *odd;
};
extern const struct trace_hooks trace_claude, trace_codex, trace_gemini, trace_pi,
    trace_swe, trace_otlp, trace_messages, trace_text_claude, trace_text;

struct trace_reader {
    const char
        /* the group of rules for its records; NULL: lines of text, including blank
         * ones */
        *rules;
    const char *format; /* its name */
    const char *rest;   /* the group for the document around them, or NULL or "" */
    const struct trace_hooks *hooks; /* or NULL */
    /* of the arrays whose elements are the records, for JSON documents that are split;
     * NULL: one JSON value per line */
    const char *const *keys;
    unsigned depth; /* the maximum depth of those arrays: 1 is in the document itself */
};

/* Finds the reader from the beginning of a file, at most TRACE_SNIFF bytes. NULL: err
 * says what to do. */
#define TRACE_SNIFF (1u << 20)
const struct trace_reader *trace_sniff(const char *text, size_t len, struct err *err);
/* The format that one record shows, or NULL. */
const char *trace_format_of(const json_t *record);
/* An outline of the JSON value at text, as far as it is complete: scalars (strings cut)
 * and, down to `depth`, objects and the first element of arrays. *ret_end: where it
 * ended. NULL: no JSON begins there. */
json_t *trace_outline(const char *text, size_t len, unsigned depth, size_t *ret_end);
