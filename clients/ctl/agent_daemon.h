#pragma once

#include "clients/ctl/terminal.h"

#include <stdbool.h>

/* The daemon as agents start it: from another folder, with another PATH and little else.
 */

/* Why they could not, now or before long; NULL: they can. */
const char *agent_daemon_unfit(const char *program);

/* Starts it so, and shows whether it answers and compiles a kernel. */
bool agent_daemon_verify(const struct terminal *terminal, const char *program);
