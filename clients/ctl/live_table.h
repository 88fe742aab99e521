#pragma once
/* live_table: an evaluation under way as text: a frame for a terminal, or one line. */
#include "base/json.h"
#include "clients/ctl/terminal.h"

struct buf;

struct live_table {
    const struct terminal *terminal; /* for the colours of standard error */
    const json_t *partial; /* {"students": [{student, arm, done, total, …}]} */
    const json_t *figures; /* {"done", "total", "message"} */
    double elapsed_s;
    bool stopping;
    int columns, rows; /* of the terminal; no line is wider, no frame higher */
};

/* Lines, each ended by a newline. Students come with a line per arm, or, where the window
 * is too low for that, with one line each; what still does not fit is counted. */
void live_table_frame(const struct live_table *t, struct buf *out);
/* The sum of all students by arm, without the newline. */
void live_table_line(const struct live_table *t, struct buf *out);
/* Columns that a frame's line takes, colours not counted. */
int live_table_line_width(const char *line, size_t len);
