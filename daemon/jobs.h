#pragma once
/* jobs: calls with an id, kept in SQLite.
 *
 * Every kept call (protocol/call.h) gets a row in $XDG_STATE_HOME/upskilld/jobs.db before
 * its id is sent to anyone, so that any daemon of the same user can answer for it. A job
 * whose daemon has ended is `interrupted`; this is detected from its process id and start
 * time when the job is read. The newest JOBS_KEEP jobs are kept. If the database cannot
 * be opened, jobs exist only in memory, and daemon/status says so. The database is opened
 * when the first call is kept or the first job is requested. */
#include "protocol/operation.h"

struct jobs;
#define JOBS_LENT "jobs" /* lent by the host of an origin */

#define JOBS_KEEP 1000
#define JOBS_MAX_RESULT (16u << 20)

/* path NULL: the default path. Becomes the calls' observer. */
struct jobs *jobs_new(const char *path);
/* Marks running jobs as interrupted. */
void jobs_free(struct jobs *jobs);

/* job/status' result for an id, or NULL if the id is unknown. live (may be NULL) receives
 * the running call, borrowed, if it is one of this daemon's. */
json_t *jobs_status(struct jobs *jobs, const char *id, struct call **live);
/* Newest first: [{"job", "operation", "state", "client", "created", "updated"}]. state
 * NULL = all. */
json_t *jobs_list(struct jobs *jobs, const char *state, unsigned limit);
/* Why jobs are not durable, or NULL if they are. */
const char *jobs_problem(const struct jobs *jobs);
