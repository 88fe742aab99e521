#pragma once
/* catalog: the index of known skills, and the search for a task.
 *
 * The folders are authoritative. The index (SQLite FTS5 in
 * $XDG_CACHE_HOME/upskilld/skills.db, shared by the daemons of a user) is a cache that is
 * built at first use, follows changes and is rebuilt if damaged. The search combines BM25
 * with field weights over the key phrases of the task, and similarity of meaning. It
 * returns nothing if no skill fits, and gives reasons. */
#include "base/json.h"

#include <uv.h>

struct catalog;

struct catalog_folder {
    char *path; /* absolute; holds skill folders, at most 6 levels down */
    const char
        *scope; /* "project", "user", "agent", "bundled": in this order of precedence */
    const char *agent;  /* "claude-code" or NULL */
    const char *within; /* a folder that must contain it after following links, or NULL:
                           a project's links may lead nowhere else */
};

/* The index is in memory if db_path is NULL or cannot be written. */
struct catalog *catalog_new(uv_loop_t *loop, const char *db_path);
/* Closes watches and waits for the writer; closed from the loop. */
void catalog_close(struct catalog *c, void (*closed)(void *data), void *data);
/* Sets the folders to index (copied). Cheap if nothing changed. */
void catalog_set_folders(struct catalog *c, const struct catalog_folder *folders,
                         size_t count);

/* Calls `ready` exactly once, from the loop, when the index is current; call it before
 * using the functions below. status -ECANCELED: the catalog is closing. */
typedef void catalog_ready(struct catalog *c, int status, void *data);
void catalog_when_current(struct catalog *c, catalog_ready *ready, void *data);

/* {"matches":
 * [{"name","description","uri","path","scope","source","agent"?,"trusted","danger",
 *   "hides"?,"score","why","installed_for","lift"}], "nearest": […]} New reference.
 * source: "project", "user", "agent" (then "agent" names it) or "bundled". danger: safety
 * errors (skills/check/danger.h); skills with any come after all others. trusted: neither
 * dangerous nor from a project. hides: others of the same name. score: the probability
 * that it is the one that is meant; rivals share it. The first match is the best. No
 * matches: probably none is meant. model: the model whose measured lifts
 * (skill_meta.json) affect the order, or NULL; "lift" and "why" then refer to that model
 * if it was measured. */
json_t *catalog_find(struct catalog *c, const char *task, unsigned limit,
                     const json_t *scopes, const char *model, struct err *err);
/* [{"key", "text"}] of the skills whose keys are not in `known`, as inputs for an
 * external similarity measure: the prefix, then name and description. New reference. */
json_t *catalog_texts(const struct catalog *c, const char *prefix, const json_t *known);
/* The same as catalog_find, with such a measure as evidence: {key: -1…1}, or NULL. */
json_t *catalog_find_near(struct catalog *c, const char *task, unsigned limit,
                          const json_t *scopes, const char *model, const json_t *near,
                          struct err *err);
/* [{"name","description","uri","path","scope","source","agent"?,"trusted","danger",
 *   "hides"?,"shadowed_by"?,"duplicates"?}] */
json_t *catalog_list(struct catalog *c, const json_t *scopes, struct err *err);
/* The absolute folder of a skill by name, skill:// URI or path; malloc'ed, NULL if
 * unknown. */
char *catalog_locate(struct catalog *c, const char *name_uri_or_path);
/* The folder of the nth skill of a name outside projects, or (nth 0) of the skill that a
 * URI names; malloc'ed. NULL if there is none; *foreign: a project has one. */
char *catalog_locate_own(const struct catalog *c, const char *name_or_uri, size_t nth,
                         bool *foreign);
/* {"source","agent"?,"hides"?,"misnamed"?} of a folder that catalog_locate returned, or
 * of one in the workspace. New reference. */
json_t *catalog_source(const struct catalog *c, const char *path);
/* {"hides"?,"misnamed"?} of a skill that is not in the index and was written to the paths
 * of `targets` ([{"path"}]), which are no others of its name. New reference. */
json_t *catalog_namesakes(const struct catalog *c, const char *name,
                          const json_t *targets);
/* The skill:// URI of a folder that catalog_locate returned: skill://<scope or
 * agent>/<name>/SKILL.md, even if another skill hides it; for a second one of the same
 * scope and name skill://shadowed/<digest of its files>/<name>/SKILL.md. Malloc'ed, NULL
 * if unknown. */
char *catalog_uri(struct catalog *c, const char *path);
/* The skill's name that was probably meant by an unknown word, or NULL. Borrowed until
 * the catalog changes. */
const char *catalog_meant(const struct catalog *c, const char *word);
/* Whether the index has contents; the first scan takes long. */
bool catalog_is_filled(const struct catalog *c);
/* Names that start with a prefix, for completion. */
json_t *catalog_names(struct catalog *c, const char *prefix, unsigned limit);
/* {"skills", "indexed_ms", "problem"?} for daemon/status. */
json_t *catalog_status(const struct catalog *c);
/* Called from the loop after the set of skills changed. One listener. */
void catalog_on_change(struct catalog *c, void (*changed)(void *data), void *data);
