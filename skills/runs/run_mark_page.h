#pragma once
/* run_mark_page: a page on which a person marks the pairs of a run (run_marks.h).
 *
 * One self-contained HTML file that works from a disk; its script is part of it, and the
 * content security policy allows only that script, by its digest. A blind page contains
 * neither which answer is which nor the results of checks. */
#include "base/json.h"

#define RUN_MARK_PAIRS 1000
#define RUN_MARK_ANSWER (16u << 10) /* bytes of an answer that are shown */

/* batch as run_read gives it. Appended; -ENODATA without a pair, -EALREADY where the
 * answers of each pair are the same, -EMSGSIZE at out's limit. */
int run_mark_page_write(struct buf *out, const json_t *batch, bool blind);
