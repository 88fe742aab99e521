#pragma once
/* leaks: where the program allocated memory, and which of it was never freed. */
#include "gpu/device/device.h"

void allocation_note(const struct allocation *a); /* a new one, of the calling thread */
void leaks_tell(void);
