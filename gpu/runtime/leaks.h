#pragma once
/* leaks: where the program's allocations were made, and which it never freed. */
#include "gpu/device/device.h"

void allocation_note(const struct allocation *a); /* just made, by the calling thread */
void leaks_tell(void);
