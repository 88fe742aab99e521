#pragma once
/* run_html: a batch as one HTML file that stands alone: inline SVG and CSS, no script,
 * nothing loaded from anywhere (a content security policy says so too), light and dark,
 * printable. All text is cleaned and escaped. */
#include "base/json.h"

struct buf;

#define RUN_HTML_TESTS 300

/* batch as run_read gives it, with "rows" (run_rows). Appended; -EMSGSIZE at out's limit.
 */
int run_html_write(struct buf *out, const json_t *batch);
