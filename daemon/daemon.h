#pragma once
/* daemon: the process. Ties tables, domains, jobs and the session to one loop, and ends
 * them together.
 *
 * EOF, SIGINT, SIGTERM, SIGHUP, a broken pipe, LSP's exit and a dead parent all lead to
 * daemon_stop: children are killed at once, what is written is flushed, handles close and
 * the loop runs empty. A second signal, or handles that do not close, end the process
 * hard. */
#include "daemon/config.h"

struct err;

/* Runs until the end; returns the exit code. Takes the descriptors over. */
int daemon_run(const struct config *config, int in_fd, int out_fd, struct err *err);
