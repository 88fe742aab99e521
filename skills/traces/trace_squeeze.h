#pragma once
/* trace_squeeze: keeps JSON text in bounded memory: the middle of every very long string
 * is dropped on arrival, so that a record with a picture of 60 MB stays small and can be
 * parsed. It recognises only strings and escapes. */
#include "base/buf.h"

#define SQUEEZE_HEAD (512u << 10) /* bytes of JSON kept of a string's beginning */
#define SQUEEZE_TAIL (128u << 10) /* bytes kept of its end, at least */
#define SQUEEZE_VALUES 600000u    /* a record with more values is not worth its memory */

/* A line of a file, or a part of its document, for its reader. */
struct trace_piece {
    const char
        *key; /* of the array that contains it; "" for the document itself; NULL: none */
    char *text;           /* NUL-terminated, may be modified */
    size_t len, left_out; /* left out: bytes dropped within its strings, or at its end */
    bool too_long;        /* still over the limit: text is its beginning */
    bool last;            /* a line without a newline: the file may still be growing */
};
typedef void trace_hand(void *data, struct trace_piece *piece);

struct squeeze {
    struct buf text;
    size_t done;     /* text[0, done) has been scanned */
    size_t start;    /* of the current string */
    size_t left_out; /* bytes, in all strings of this record */
    size_t values;   /* approximately: commas and colons */
    bool in_string, escaped, cut;
};

void squeeze_init(struct squeeze *q, size_t max);
void squeeze_finish(struct squeeze *q);
void squeeze_reset(struct squeeze *q); /* before the next record */
/* Afterwards text.full means that the record exceeds its limit and is useless. */
void squeeze_add(struct squeeze *q, const char *bytes, size_t len);
