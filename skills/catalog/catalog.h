#pragma once
/* catalog: which skills there are, and which fits a task.
 *
 * The folders are the truth; the index (SQLite FTS5 in
 * $XDG_CACHE_HOME/upskilld/skills.db, shared by the daemons of a user) is a cache that
 * builds on first use, follows changes and rebuilds itself when damaged. Search is BM25
 * with field weights over the key phrases of the task, and nearness in meaning; it
 * abstains when nothing fits and can say why. */
#include "base/json.h"

#include <stdbool.h>
#include <uv.h>

struct err;
struct catalog;

struct catalog_folder {
    char *path; /* absolute; holds skill folders, at most 6 levels down */
    const char
        *scope; /* "project", "user", "agent", "bundled": in this order of precedence */
    const char *agent;  /* "claude-code" or NULL */
    const char *within; /* a folder that it must lie in after links are followed, or NULL:
                           a project's links lead nowhere else */
};

/* Without a db_path (NULL), and where none can be written, the index lives in memory. */
struct catalog *catalog_new(uv_loop_t *loop, const char *db_path);
/* Closes watches and waits for the writer; closed from the loop. */
void catalog_close(struct catalog *c, void (*closed)(void *data), void *data);
/* What to look through from now on (copied). Cheap when nothing changed. */
void catalog_set_folders(struct catalog *c, const struct catalog_folder *folders,
                         size_t count);

/* Everything below first waits for the index to be current: `ready` is called exactly
 * once, from the loop. status -ECANCELED when the catalog closes. */
typedef void catalog_ready(struct catalog *c, int status, void *data);
void catalog_when_current(struct catalog *c, catalog_ready *ready, void *data);

/* {"matches":
 * [{"name","description","uri","path","scope","source","agent"?,"trusted","danger",
 *   "hides"?,"score","why","installed_for","lift"}], "nearest": […]} New reference.
 * source: "project", "user", "agent" (whose name is then told) or "bundled". danger: what
 * the safety rules hold against it (skills/check/danger.h); such a skill stands behind
 * all without. trusted: neither dangerous nor a project's. hides: others of its name.
 * score: how likely it is the one that is meant; rivals share. The first is the best.
 * What fits by itself stands in matches, and behind it its rivals. model: whose measured
 * lifts (skill_meta.json) order those that fit, or NULL; "lift" and "why" are then that
 * model's where it was measured. */
json_t *catalog_find(struct catalog *c, const char *task, unsigned limit,
                     const json_t *scopes, const char *model, struct err *err);
/* [{"key", "text"}] of the skills that `known` has no key of: what somebody else's
 * measure of nearness is taken of, the prefix before each name and description. New
 * reference. */
json_t *catalog_texts(const struct catalog *c, const char *prefix, const json_t *known);
/* The same as catalog_find, with that measure as evidence: {key: -1…1}, or NULL. */
json_t *catalog_find_near(struct catalog *c, const char *task, unsigned limit,
                          const json_t *scopes, const char *model, const json_t *near,
                          struct err *err);
/* [{"name","description","uri","path","scope","source","agent"?,"trusted","danger",
 *   "hides"?,"shadowed_by"?,"duplicates"?}] */
json_t *catalog_list(struct catalog *c, const json_t *scopes, struct err *err);
/* Absolute folder of a skill by name, skill:// URI or path; NULL when unknown. Malloc'ed.
 */
char *catalog_locate(struct catalog *c, const char *name_uri_or_path);
/* The folder of the nth skill by name that is no project's, or (nth 0) of that which a
 * URI names; NULL when there is none, and then whether a project has one. Malloc'ed. */
char *catalog_locate_own(const struct catalog *c, const char *name_or_uri, size_t nth,
                         bool *foreign);
/* {"source","agent"?,"hides"?,"misnamed"?} of a folder that catalog_locate gives, or of
 * one of the workspace. New reference. */
json_t *catalog_source(const struct catalog *c, const char *path);
/* The skill:// URI of a folder that catalog_locate gives: skill://<scope or
 * agent>/<name>/SKILL.md, whatever hides it; for another of the same scope and name
 * skill://shadowed/<digest of its files>/<name>/SKILL.md. NULL when unknown. Malloc'ed.
 */
char *catalog_uri(struct catalog *c, const char *path);
/* The name that somebody meant whose word names none, or NULL. The catalog's, until it
 * changes. */
const char *catalog_meant(const struct catalog *c, const char *word);
/* Whether something was found already: the first look takes long. */
bool catalog_is_filled(const struct catalog *c);
/* Names that start with a prefix, for completion. */
json_t *catalog_names(struct catalog *c, const char *prefix, unsigned limit);
/* {"skills", "indexed_ms", "problem"?} for daemon/status. */
json_t *catalog_status(const struct catalog *c);
/* Called from the loop after the set of skills changed. One listener. */
void catalog_on_change(struct catalog *c, void (*changed)(void *data), void *data);
