#pragma once
/* trace_lines: the lines of a file of any length, as its bytes arrive.
 *
 * "\n" ends a line; a "\r" before it, NUL bytes at a line's ends and blank lines go. JSON
 * lines lose the middle of their long strings (trace_squeeze.h); others are cut. */
#include "skills/traces/trace_squeeze.h"

struct trace_lines {
    struct squeeze record; /* of JSON lines */
    bool is_json;
    bool blanks; /* empty lines are handed out too */
    trace_hand *hand;
    void *data;
};

void trace_lines_init(struct trace_lines *l, bool is_json, trace_hand *hand, void *data);
void trace_lines_finish(struct trace_lines *l);
void trace_lines_add(struct trace_lines *l, const char *bytes, size_t len);
void trace_lines_end(struct trace_lines *l); /* of the file */
