#pragma once
/* json_hold: a large JSON value with several holders, freed on one of libuv's threads:
 * giving tens of megabytes back takes longer than a turn of the loop may.
 *
 * The holders are all on the loop's thread, and nobody changes the value. */
#include "base/json.h"

#include <uv.h>

struct json_hold;

/* value is stolen, and nobody else has a reference to it or to a part of it. One holder.
 */
struct json_hold *json_hold_new(uv_loop_t *loop, json_t *value);
struct json_hold *json_hold_ref(struct json_hold *hold); /* hold itself */
/* The last one frees it; the loop runs on until that is done. NULL is a no-op. */
void json_hold_unref(struct json_hold *hold);
const json_t *json_hold_value(const struct json_hold *hold); /* NULL's is NULL */
