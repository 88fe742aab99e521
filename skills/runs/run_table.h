#pragma once
/* run_table: a batch as CSV (RFC 4180, CRLF).
 *
 * One row per cell, or per run if cells are unknown (upskill's batches). The first 22
 * columns are upskill's, in its order and spelling ("True", "False"); those of this
 * project follow (run_columns.txt). Assertions count checks in a cell's row and tests in
 * a run's. A text that a spreadsheet would read as a formula gets a leading
 * apostrophe. */
#include "base/json.h"

/* The line of the columns' names, once; then any number of batches, each as run_read
 * gives it. Appended; -EMSGSIZE at out's limit. */
int run_table_begin(struct buf *out);
int run_table_add(struct buf *out, const json_t *batch);
int run_table_write(struct buf *out, const json_t *batch); /* both, for one batch */
