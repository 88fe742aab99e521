#pragma once
/* config_workers: the part of the configuration that names workers.
 *
 *   local_worker: true
 *   workers:
 *     - argv: [srun, --gres=gpu:h100:1, upskilld-worker]
 *       name: h100               # else the program's name
 *       parallel: 4              # jobs at once
 *       offers: {gpu: true, compile: false}   # else its greeting tells
 *       start_timeout_s: 600     # a queue may be long; else 30
 *       local: false             # else: is the program upskilld-worker itself?
 *
 * argv is also understood as `command`. They start programs: only the user's own file may
 * hold them. */
#include "base/json.h"

struct err;
struct pool_config;

/* What the schema cannot say of a file that fits it: one argv each, names that differ.
 * -EINVAL with a sentence. */
int config_workers_check(const json_t *file, struct err *err);
/* Fills workers, count and add_local; names are the settings' own. */
void config_workers_read(struct pool_config *pool, const json_t *settings);
void config_workers_free(struct pool_config *pool);
