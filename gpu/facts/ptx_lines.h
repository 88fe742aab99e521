#pragma once
/* ptx_lines: maps a line of PTX to its source line, using the `.file` and `.loc`
 * directives (compile with -lineinfo), and to its function. */
#include "base/mem.h"

struct ptx_lines;
struct ptx_lines *ptx_lines_new(const char *ptx, size_t len); /* never NULL, copies */
/* For a text that was copied into the PTX after `before` lines: gives the file's own
 * lines. */
struct ptx_lines *ptx_lines_copied(const char *file, int before);
void ptx_lines_free(struct ptx_lines *p);
struct ptx_line_place {
    const char *file;     /* as in .file; NULL = unknown */
    int line, column;     /* 1-based; 0 = unknown */
    const char *function; /* symbol of the .entry or .func, or NULL */
    size_t caller;        /* for ptx_lines_caller; 0 = not inlined */
};
/* The place of 1-based PTX line `line`: the last .loc at or before it in its function.
 * The place of inlined code is where it was written. */
struct ptx_line_place ptx_lines_at(const struct ptx_lines *p, int line);
/* Where the code at *place was inlined; false if it was not. At most as many steps as
 * there are .loc lines. */
bool ptx_lines_caller(const struct ptx_lines *p, struct ptx_line_place *place);
