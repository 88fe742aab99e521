#pragma once
/* live_table: formats a running evaluation as text: a frame for a terminal, or one
 * line. */
#include "clients/ctl/terminal.h"

struct live_table {
    const struct terminal *terminal; /* for the colours of standard error */
    const json_t *partial; /* {"students": [{student, arm, done, total, …}]} */
    const json_t *figures; /* {"done", "total", "message"} */
    double elapsed_s;
    bool stopping;
    int columns, rows; /* of the terminal; no line is wider, no frame higher */
};

/* Lines, each ended by a newline. Each student has a line per arm, or one line if the
 * window is too low for that; students that still do not fit are counted. */
void live_table_frame(const struct live_table *t, struct buf *out);
/* The sum over all students by arm, without a newline. */
void live_table_line(const struct live_table *t, struct buf *out);
/* The width of a line of a frame in columns, without colours. */
int live_table_line_width(const char *line, size_t len);
