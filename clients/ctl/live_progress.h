#pragma once
/* live_progress: shows a request's progress on standard error while it runs.
 *
 * On a terminal it is one line, or for a request that reports a table of students
 * (skill/evaluate) a block that is redrawn in place: a bar for each student and arm,
 * answers, tokens, cost and the time left. It adapts to the window's size. If standard
 * error is not a terminal, a table becomes one plain line every few seconds, and nothing
 * else is shown. */
#include "clients/ctl/terminal.h"

struct live_progress;

/* terminal must outlive it. in_place false: never overwrite output, because others write
 * to standard error too. */
struct live_progress *live_progress_new(const struct terminal *terminal, bool in_place);
void live_progress_free(struct live_progress *p);

/* params of job/changed, or NULL if only time has passed. */
void live_progress_update(struct live_progress *p, const json_t *params,
                          double elapsed_s);
/* The request was asked to stop and has not stopped yet. */
void live_progress_stopping(struct live_progress *p);
/* The end: clears it from the screen, or (keep) leaves the last table. */
void live_progress_end(struct live_progress *p, bool keep);

/* The last partial and progress reported since the last end; NULL if none. */
const json_t *live_progress_partial(const struct live_progress *p);
