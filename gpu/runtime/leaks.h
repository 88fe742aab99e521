#pragma once
/* leaks: where the program allocated memory, and which of it was never freed. */
#include "gpu/device/device.h"
#include "gpu/runtime/report.h"

void allocation_note(const struct allocation *a, const struct host_site *site);
void allocation_note_free(const struct allocation *a, const struct host_site *site);
/* Where it was made; no frames: unknown. */
struct host_site allocation_site(const struct allocation *a);
/* A finding's other places: where a freed allocation was freed, and where it was made.
 * NULL: neither is known. */
struct allocation_life {
    struct host_site made, freed;
    struct report_other others[2];
};
const struct report_other *allocation_others(const struct allocation *a,
                                             struct allocation_life *ret);
/* Memory that has no address yet, and may get several: its bytes are left unless it is
 * forgotten. The queue's turn. */
void handle_note(const void *handle, uint64_t bytes, const struct host_site *site);
void handle_forget(const void *handle);
void leaks_tell(void);
