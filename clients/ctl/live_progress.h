#pragma once
/* live_progress: what a request is doing, on standard error while it runs.
 *
 * On a terminal one line, or for a request that tells a table of students
 * (skill/evaluate) a block that is drawn over in place: a bar for each student and arm,
 * answers, tokens, cost and the time left. It follows the window's size. Where standard
 * error is no terminal, a table becomes one plain line every few seconds, and everything
 * else is silent. */
#include "base/json.h"
#include "clients/ctl/terminal.h"

struct live_progress;

/* terminal outlives it. in_place false: never draw over anything, because others write
 * to standard error too. */
struct live_progress *live_progress_new(const struct terminal *terminal, bool in_place);
void live_progress_free(struct live_progress *p);

/* params of job/changed, or NULL when only time has passed. */
void live_progress_update(struct live_progress *p, const json_t *params,
                          double elapsed_s);
/* It was asked to stop and has not stopped yet. */
void live_progress_stopping(struct live_progress *p);
/* The end: nothing of it stays on the screen, or (keep) the last table does. */
void live_progress_end(struct live_progress *p, bool keep);

/* The last partial and progress that were told since the last end; NULL when none. */
const json_t *live_progress_partial(const struct live_progress *p);
