#pragma once
/* jobs: calls that somebody may come back for, kept in SQLite.
 *
 * Every kept call (protocol/call.h) gets a row in $XDG_STATE_HOME/upskilld/jobs.db before
 * its id is told to anyone, so that any daemon of the same user can answer for it. A job
 * whose daemon is gone is `interrupted`: seen by its process id and start time, when it
 * is read. The newest JOBS_KEEP jobs are kept. When the database cannot be opened, jobs
 * live in memory only, and daemon/status says so.
 *
 * Nothing is opened before the first call is kept or the first job is asked for. */
#include "protocol/operation.h"

struct jobs;
#define JOBS_LENT "jobs" /* by the host of an origin */

#define JOBS_KEEP 1000
#define JOBS_MAX_RESULT (16u << 20)

/* path NULL: the default place. Becomes the calls' observer. */
struct jobs *jobs_new(const char *path);
/* What still runs is marked interrupted. */
void jobs_free(struct jobs *jobs);

/* job/status' result for an id, or NULL when nobody knows it. live (may be NULL) receives
 * the running call, borrowed, when it is one of ours. */
json_t *jobs_status(struct jobs *jobs, const char *id, struct call **live);
/* Newest first: [{"job", "operation", "state", "client", "created", "updated"}]. state
 * NULL = all. */
json_t *jobs_list(struct jobs *jobs, const char *state, unsigned limit);
/* Why jobs are not durable, or NULL when they are. */
const char *jobs_problem(const struct jobs *jobs);
