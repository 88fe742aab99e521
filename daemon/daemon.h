#pragma once
/* daemon: the process. Ties tables, domains, jobs and the session to one loop, and ends
 * them together.
 *
 * EOF, SIGINT, SIGTERM, SIGHUP, a broken pipe, LSP's exit and a dead parent all lead to
 * daemon_stop: children are killed at once, what is written is flushed, handles close and
 * the loop runs empty. A second signal, or handles that do not close, end the process
 * hard. */
#include "daemon/config.h"
#include "protocol/face.h"

struct daemon;
struct err;

/* Runs until the end; returns the exit code. Takes the descriptors over. */
int daemon_run(const struct config *config, int in_fd, int out_fd, struct err *err);

/* For operations, through call_origin(call)->host. */
struct jobs *daemon_jobs(struct daemon *d);
struct gpu *daemon_gpu(struct daemon *d);       /* made at first use */
struct skills *daemon_skills(struct daemon *d); /* the same; NULL once it ends */
struct evaluation_room *daemon_evaluations(struct daemon *d); /* the same */
struct skill_serving *daemon_serving(struct daemon *d);
uv_loop_t *daemon_loop(struct daemon *d);
const struct call_origin *daemon_origin(const struct daemon *d); /* the session's */
/* daemon/status' result; new reference. */
json_t *daemon_status(struct daemon *d);
