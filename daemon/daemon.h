#pragma once
/* daemon: the process: connects tables, domains, jobs and the session to one loop, and
 * ends them together.
 *
 * EOF, SIGINT, SIGTERM, SIGHUP, a broken pipe, LSP's exit and the parent's death all lead
 * to daemon_stop: it kills children at once, flushes output, closes handles and lets the
 * loop run empty. A second signal, or handles that do not close, end the process
 * immediately. */
#include "daemon/config.h"

/* Runs until the end; returns the exit code. Takes ownership of the descriptors. */
int daemon_run(const struct config *config, int in_fd, int out_fd, struct err *err);
