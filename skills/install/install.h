#pragma once
/* install: a skill into agents' folders, whole or not at all.
 *
 * Staged beside the target (same file system), every file verified by digest after it was
 * written, folders fsynced, exchanged by renameat2(RENAME_EXCHANGE) or rename, the old
 * one removed afterwards. A reader or a crash sees the old skill or the new one. Nothing
 * is written through a link that leads out of the agent's folder. `.upskilld-lock.json`
 * beside the skills records what was installed (name, digests, source, time), itself
 * replaced atomically under a lock, so that two daemons do not lose each other's entries.
 */
#include "base/json.h"

#include <stdbool.h>

struct skill;
struct agents;

struct install_request {
    const struct skill *skill; /* for install */
    const char *name;          /* for uninstall */
    const char *const *agents; /* NULL-terminated names */
    const char *scope;         /* "project" or "user" */
    const char *root;          /* project root, absolute */
    const char *source;        /* where the skill came from; recorded */
    bool force;                /* replace what is not ours or was changed */
};

/* Array of {"agent", "path", "outcome": "installed|updated|unchanged|removed|refused",
 * "reason"?, "diff"?, "digest"}: one per agent; targets that are the same folder are
 * written once. Blocking (call it from the thread pool). New reference. */
json_t *install_skill(const struct agents *agents, const struct install_request *request);
json_t *uninstall_skill(const struct agents *agents,
                        const struct install_request *request);
/* Where the skill in this folder was installed from (a path or URI), when it was
 * installed: malloc'ed, else NULL. */
char *install_source(const char *folder);
