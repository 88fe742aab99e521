#pragma once
/* driver_trial: tests whether this machine's driver starts under the confinement of
 * cuda_room.h.
 *
 * The files and calls that future drivers need cannot be listed. When a driver does not
 * start for a validation, the supervisor starts a process that has no kernel, so no
 * kernel can falsify the result: it starts the driver confined and, if that fails,
 * unconfined. If only the latter works, later runs of this worker have resource limits
 * only, and every result says so (`unconfined`). */
#include "base/json.h"

/* {}: it starts confined. {"too_narrow": "starting the driver: CUDA_ERROR_…"}: only
 * unconfined. {"failed": …}: it does not start at all, which decides nothing. A new
 * reference. For a process with one thread that does nothing else. */
json_t *driver_trial(void);

/* The finding for a result whose run was not confined; why: the text of too_narrow. A new
 * reference. */
json_t *driver_trial_finding(const char *why);
