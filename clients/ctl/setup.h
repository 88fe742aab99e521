#pragma once
/* setup: `upskillctl setup [AGENT…]`, which tells agents of upskilld.
 *
 * Finds the agents of this machine, shows what it would write into which file, writes it
 * beside what is there, and starts the daemon as an agent would. It asks before it
 * writes, unless the agents were named or --yes is given; what it writes it has shown. */
#include "clients/ctl/terminal.h"

/* words: behind "setup". The exit status: 0 done (or there already), 1 not all of it,
 * 2 the words are wrong. */
int setup_run(const struct terminal *terminal, const char *const *words, int count,
              bool help);
