#pragma once
/* driver_trial: does this machine's driver start in the room of cuda_room.h?
 *
 * Nobody can list what the drivers to come will open and call. When a driver does not
 * start for a validation, the supervisor has a process find out that has no kernel, and
 * that no kernel can lie for: the driver is started confined, and when that fails, as it
 * is. If it starts then, runs of this worker have resource limits only from then on, and
 * every result says so (`unconfined`). */
#include "base/json.h"

/* {}: it starts in the room. {"too_narrow": "starting the driver: CUDA_ERROR_…"}: only
 * outside of it. {"failed": …}: it does not start at all, which says nothing. A new
 * reference. For a process with one thread that does nothing else. */
json_t *driver_trial(void);

/* The finding for a result whose run was not confined; why: what too_narrow says. A new
 * reference. */
json_t *driver_trial_finding(const char *why);
