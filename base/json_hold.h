#pragma once
/* json_hold: large JSON values freed on one of libuv's threads: giving tens of megabytes
 * or millions of small values back takes longer than a turn of the loop may.
 *
 * A json_hold is one with several holders, who are all on the loop's thread; nobody
 * changes it. */
#include "base/json.h"

#include <uv.h>

struct json_hold;

/* value is stolen, and nobody else has a reference to it or to a part of it. One holder.
 */
struct json_hold *json_hold_new(uv_loop_t *loop, json_t *value);
struct json_hold *json_hold_ref(struct json_hold *hold); /* hold itself */
/* The last one frees it; the loop runs on until that is done. NULL is a no-op. */
void json_hold_unref(struct json_hold *hold);
/* Drops a reference, on a thread when the value has thousands of others in it; the loop
 * runs on until that is done. References are counted atomically, so parts of it may have
 * other holders. */
void json_release(uv_loop_t *loop, json_t *value);
const json_t *json_hold_value(const struct json_hold *hold); /* NULL's is NULL */
