#pragma once
/* trace_clean: a text of a trace as it is kept: clean, without what only a screen wants,
 * and with its middle left out when it is long. */
#include <stddef.h>

struct buf;

enum clean_how {
    CLEAN_WORDS,    /* blank ends go */
    CLEAN_TERMINAL, /* and what a carriage return wrote over (progress bars) */
    CLEAN_FILE,     /* a file's contents: blank ends stay */
};
/* Strings from this length on may have lost their middle already (trace_squeeze.h). */
#define CLEAN_LEFT_OUT (512u << 10)

/* Append s in at most max bytes (and a line that says how many of `full` are left out).
 * Long runs of base64 are replaced by a word. */
void clean_text(struct buf *out, const char *s, size_t len, size_t max,
                enum clean_how how, size_t full);
/* Only the cutting, of a text that is clean. */
void clean_cut(struct buf *out, const char *s, size_t len, size_t max, size_t full);
