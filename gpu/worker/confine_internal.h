#pragma once
/* confine_internal: the two mechanisms behind confine.h. Each says whether it is in
 * force. */
#include "gpu/worker/confine.h"

/* Version of the kernel's interface; 0: it has none. */
int landlock_abi(void);
bool landlock_apply(const struct confine_rules *rules);
/* After landlock_apply: its list does not let that through any more. */
bool seccomp_apply(const struct confine_rules *rules);
