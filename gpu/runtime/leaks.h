#pragma once
/* leaks: where the program allocated memory, and which of it was never freed. */
#include "gpu/device/device.h"
#include "gpu/runtime/host_site.h"

void allocation_note(const struct allocation *a, const struct host_site *site);
/* Where it was made; no frames: unknown. */
struct host_site allocation_site(const struct allocation *a);
void leaks_tell(void);
