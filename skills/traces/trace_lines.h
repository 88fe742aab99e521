#pragma once
/* trace_lines: splits a file of any length into lines while it arrives. "\n" ends a line;
 * a "\r" before it, NUL bytes at a line's ends and blank lines are dropped. JSON lines
 * lose the middle of their long strings (trace_squeeze.h); other lines are cut. */
#include "skills/traces/trace_squeeze.h"

struct trace_lines {
    struct squeeze record; /* for JSON lines */
    bool is_json;
    bool blanks; /* also pass on empty lines */
    trace_hand *hand;
    void *data;
};

void trace_lines_init(struct trace_lines *l, bool is_json, trace_hand *hand, void *data);
void trace_lines_finish(struct trace_lines *l);
void trace_lines_add(struct trace_lines *l, const char *bytes, size_t len);
void trace_lines_end(struct trace_lines *l); /* at the end of the file */
