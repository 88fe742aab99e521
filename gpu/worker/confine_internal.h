#pragma once
/* confine_internal: the two mechanisms behind confine.h. Each says whether it is in
 * force. */
#include "gpu/worker/confine.h"

enum { /* system calls, as everywhere */
       LANDLOCK_CREATE = 444,
       LANDLOCK_ADD = 445,
       LANDLOCK_RESTRICT = 446,
};

/* Version of the kernel's interface; 0: it has none. */
int landlock_abi(void);
bool landlock_apply(const struct confine_rules *rules);
/* After landlock_apply: its list does not let that through any more. */
bool seccomp_apply(const struct confine_rules *rules);
