#pragma once
/* completion: scripts that complete upskillctl's commands and options, generated from the
 * daemon's own table. */
#include "base/json.h"

/* For "bash" (also NULL), "zsh" or "fish", to standard output. -EINVAL for another shell:
 * nothing is written. */
int completion_print(const json_t *discover, const char *shell);
