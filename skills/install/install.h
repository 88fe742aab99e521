#pragma once
/* install: copies a skill into agents' folders, completely or not at all.
 *
 * The skill is staged beside the target (on the same file system), every file's digest is
 * verified after writing, folders are fsynced, the stage is exchanged with the target by
 * renameat2(RENAME_EXCHANGE) or rename, and the old one is removed. A reader or a crash
 * sees the old skill or the new one. Nothing is written through a link that leads out of
 * the agent's folder. `.upskilld-lock.json` beside the skills records what was installed
 * (name, digests, source, time). It is replaced atomically under a lock, so that two
 * daemons do not lose each other's entries. */
#include "base/json.h"

struct skill;
struct agents;

struct install_request {
    const struct skill *skill; /* for install */
    const char *name;          /* for uninstall */
    const char *const *agents; /* NULL-terminated names */
    const char *scope;         /* "project" or "user" */
    const char *root;          /* project root, absolute */
    const char *source;        /* where the skill came from; recorded */
    bool force;                /* replace foreign or changed copies */
};

/* Array of {"agent", "path", "outcome": "installed|updated|unchanged|removed|refused",
 * "reason"?, "diff"?, "digest"}: one per agent; targets that are the same folder are
 * written once. Blocking (call it from the thread pool). New reference. */
json_t *install_skill(const struct agents *agents, const struct install_request *request);
json_t *uninstall_skill(const struct agents *agents,
                        const struct install_request *request);
/* The source (a path or URI) of the installed skill in this folder, malloc'ed; NULL if it
 * was not installed. */
char *install_source(const char *folder);
