#pragma once
/* trace_clean: cleans a text for a trace: without terminal control sequences, and without
 * its middle if it is long. */
#include "base/mem.h"

enum clean_how {
    CLEAN_WORDS,    /* trailing blanks are removed */
    CLEAN_TERMINAL, /* and text overwritten after a carriage return (progress bars) */
    CLEAN_FILE,     /* a file's contents: trailing blanks are kept */
};
/* Strings of at least this length may already have lost their middle
 * (trace_squeeze.h). */
#define CLEAN_LEFT_OUT (512u << 10)

/* Appends s in at most max bytes, plus a line with the number of bytes of `full` that are
 * left out. A long run of base64 is replaced by a word. */
void clean_text(struct buf *out, const char *s, size_t len, size_t max,
                enum clean_how how, size_t full);
/* Only cuts; the text must be clean. */
void clean_cut(struct buf *out, const char *s, size_t len, size_t max, size_t full);
