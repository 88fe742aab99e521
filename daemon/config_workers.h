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

#define CONFIG_WORKERS_SCHEMA                                                            \
    "\"local_worker\":{\"type\":\"boolean\"},"                                           \
    "\"workers\":{\"type\":\"array\",\"maxItems\":32,\"items\":{\"type\":\"object\","    \
    "\"additionalProperties\":false,\"properties\":{"                                    \
    "\"argv\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,"                       \
    "\"items\":{\"type\":\"string\",\"minLength\":1}},"                                  \
    "\"command\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,"                    \
    "\"items\":{\"type\":\"string\",\"minLength\":1}},"                                  \
    "\"name\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$\"},"  \
    "\"parallel\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":64},"                  \
    "\"local\":{\"type\":\"boolean\"},"                                                  \
    "\"start_timeout_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":86400},"        \
    "\"offers\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"    \
    "\"gpu\":{\"type\":\"boolean\"},\"compile\":{\"type\":\"boolean\"}}}}}},"

/* What the schema cannot say of a file that fits it: one argv each, names that differ.
 * -EINVAL with a sentence. */
int config_workers_check(const json_t *file, struct err *err);
/* Takes what the file says; its list replaces an earlier one. */
void config_workers_apply(struct pool_config *pool, const json_t *file);
void config_workers_free(struct pool_config *pool);
