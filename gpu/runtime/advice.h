#pragma once
/* advice: what the program says of managed memory: where it had better be, and where it
 * was fetched to. The host and the device see it alike, so this is only kept for whoever
 * asks. */
#include <stdint.h>

/* The memory is new: nothing has been said of it. */
void advice_forget(uint64_t address, uint64_t bytes);
