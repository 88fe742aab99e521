#pragma once
/* config: the daemon's settings, from files, environment and flags.
 *
 * $XDG_CONFIG_HOME/upskilld/config.yaml, then ./upskilld.yaml, then the environment, then
 * flags; later ones override earlier ones, lists are replaced. ./upskilld.yaml arrives
 * with a cloned repository, so it may not name programs to run or folders outside the
 * project, and it cannot prevent the daemon from starting: wrong settings in it are
 * ignored, with a warning. Secrets are never read from a file. Workers:
 *
 *   local_worker: true
 *   workers:
 *     - argv: [srun, --gres=gpu:h100:1, upskilld-worker]
 *       name: h100               # default: the program's name
 *       parallel: 4              # jobs at once
 *       offers: {gpu: true, compile: false}   # default: its greeting's
 *       start_timeout_s: 600     # for a long queue; default: 30
 *       local: false             # default: true if the program is upskilld-worker
 *
 * `command` is another name for argv.
 *
 * docs/guide/configuration.md lists the keys; config.json is their source.
 */
#include "base/log.h"
#include "gpu/pool/pool.h"
#include "protocol/face.h"

/* Strings and JSON values belong to `settings`. */
struct config {
    /* the given settings by key, with the schema's defaults; folders are absolute */
    json_t *settings;
    struct schema *schema; /* of the settings */
    enum log_level log_level;
    /* folders in which params may name files; the working directory is first.
     * NULL-terminated, like the list below */
    char **roots;
    char **include_dirs; /* -I for every check */
    const char *arch;    /* "sm_90a" */
    struct pool_config pool;
    unsigned compile_timeout_s;
    size_t cache_bytes;
    unsigned tool_wait_s, debounce_ms;
    json_t *tools;            /* names of the offered MCP tools, or NULL: all */
    bool structured;          /* MCP results also contain their JSON */
    bool agents_may_suppress; /* findings that prevent a skill's installation */
    const char *runs_dir;     /* records of evaluations; or NULL */
    json_t *files;            /* paths of the files that were read, for daemon/status */
    json_t *warnings;         /* sentences about ignored settings */
};

/* What main() does after reading the command line. */
enum config_action { CONFIG_RUN, CONFIG_HELP, CONFIG_VERSION };

/* Reads everything. -EINVAL with a sentence that names the file and line, or the flag. */
int config_load(struct config *ret, int argc, char **argv, enum config_action *ret_action,
                struct err *err);
void config_finish(struct config *c);
