#pragma once
/* setup_verify: the daemon as an agent starts it, seen to work. */
#include "clients/ctl/terminal.h"

/* Starts the program with nothing of our environment but the home folder, as programs of
 * a desktop do, speaks MCP with it and has it compile a kernel. Says what came of it;
 * false when an agent would get no answer. A machine without a compiler is told, and
 * true: skills work there. */
bool setup_verify(const struct terminal *terminal, const char *program);
