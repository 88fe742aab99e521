#pragma once
/* run_html: a batch as one self-contained HTML file: inline SVG and CSS, no script,
 * nothing loaded (enforced by a content security policy), light and dark, printable. All
 * text is cleaned and escaped. */
#include "base/json.h"

/* batch as run_read gives it, with "rows" (run_rows). Appended; -EMSGSIZE at out's limit.
 */
int run_html_write(struct buf *out, const json_t *batch);
