#pragma once
/* json_release: large JSON values freed on one of libuv's threads: giving millions of
 * small values back takes longer than a turn of the loop may. */
#include "base/json.h"

#include <uv.h>

/* Drops a reference, on a thread when the value has thousands of others in it; the loop
 * runs on until that is done. References are counted atomically, so parts of it may have
 * other holders. */
void json_release(uv_loop_t *loop, json_t *value);
