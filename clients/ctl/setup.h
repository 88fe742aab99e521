#pragma once
/* setup: `upskillctl setup [AGENT…]`, which adds upskilld to agents' configurations.
 *
 * It finds the agents of this machine, shows its planned change of each file, adds it to
 * the file's contents, and starts the daemon as an agent would. It asks before writing,
 * unless the agents were named or --yes is given; it writes only what it has shown. */
#include "clients/ctl/terminal.h"

/* words: those after "setup". The exit status: 0 done (or already there), 1 incomplete, 2
 * wrong usage. */
int setup_run(const struct terminal *terminal, const char *const *words, int count,
              bool help);
