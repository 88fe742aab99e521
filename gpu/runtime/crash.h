#pragma once
/* crash: reports a fatal signal, and what the bad address was. */

/* Once. The program's own handlers of bad addresses run afterwards (sigaction and signal are
 * exported for that); those of other signals take the place of ours. */
void crash_watch(void);
