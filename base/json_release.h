#pragma once
/* json_release: frees large JSON values on one of libuv's threads, because freeing
 * millions of small values takes longer than one turn of the loop may. */
#include "base/json.h"

#include <uv.h>

/* Drops a reference, on a thread if the value contains thousands of others; the loop
 * stays alive until that is done. Reference counts are atomic, so other code may hold
 * parts of the value. */
void json_release(uv_loop_t *loop, json_t *value);
