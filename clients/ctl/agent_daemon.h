#pragma once

#include "clients/ctl/terminal.h"

/* agent_daemon: starts the daemon as agents do: from another folder, with another PATH
 * and a minimal environment. */

/* Why agents cannot start it, now or soon; NULL: they can. */
const char *agent_daemon_unfit(const char *program);

/* Starts it that way and shows whether it answers and compiles a kernel. */
bool agent_daemon_verify(const struct terminal *terminal, const char *program);
