#pragma once
/* trace_squeeze: JSON text in bounded memory: the middle of every very long string is
 * left out as it arrives, so that a record with a picture of 60 MB in it stays small and
 * can be parsed. Knows strings and escapes, nothing else of JSON. */
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQUEEZE_HEAD (512u << 10) /* kept of a string's beginning, bytes of JSON */
#define SQUEEZE_TAIL (128u << 10) /* at least, of its end */
#define SQUEEZE_VALUES 600000u    /* a record with more values is not worth its memory */

/* A line of a file, or a part of its document, handed to its reader. */
struct trace_piece {
    const char
        *key;   /* of the array it is of; "" of one that is the document; NULL: none */
    char *text; /* NUL-terminated, may be changed */
    size_t len, left_out; /* left out: bytes within its strings, or at its end */
    bool too_long;        /* over the limit all the same: text is its beginning */
    bool last;            /* a line without newline: the file may still be growing */
};
typedef void trace_hand(void *data, struct trace_piece *piece);

struct squeeze {
    struct buf text;
    size_t done;     /* text[0, done) has been looked at */
    size_t start;    /* of the string at hand */
    size_t left_out; /* bytes, of all strings of this record */
    size_t values;   /* about: commas and colons */
    bool in_string, escaped, cut;
};

void squeeze_init(struct squeeze *q, size_t max);
void squeeze_finish(struct squeeze *q);
void squeeze_reset(struct squeeze *q); /* for the next record */
/* text.full afterwards: the record is over its limit and of no use. */
void squeeze_add(struct squeeze *q, const char *bytes, size_t len);
