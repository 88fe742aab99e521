#pragma once
/* skills: the domain's state and its operations skill/find, get, list, check, install,
 * uninstall. */
#include "protocol/document.h"
#include "protocol/operation.h"
#include "protocol/provider.h"

struct catalog;
struct root;
struct skills;
struct skills_config {
    const char *bundled;      /* folder of the bundled skills, or NULL */
    const char *db_path;      /* NULL: $XDG_CACHE_HOME/upskilld/skills.db */
    const char *links;        /* "public", "none", "any": what may be fetched; or NULL */
    bool agents_may_suppress; /* agents may suppress safety findings; else only people */
};
/* Cheap: nothing is read or watched before the first use of the catalog. */
struct skills *skills_new(uv_loop_t *loop, const struct skills_config *config);
void skills_close(struct skills *s, void (*closed)(void *data), void *data);
/* {"catalog", "agents": [{"name", "title", "project", "user"} of those that are
 * installed], "bundled"?, "problem"?}: part of daemon/status. */
json_t *skills_status(struct skills *s);
struct catalog *skills_catalog(struct skills *s);
/* Whether this caller may suppress safety findings: a person may, an agent
 * only if the user's configuration allows it. */
bool skills_may_suppress(const struct skills *s, const struct call_origin *origin);
/* What may be fetched: "public" (addresses of the public internet), "none" or "any". */
const char *skills_links(const struct skills *s);
/* Sets the project roots (absolute, NULL-terminated) for the scope "project". */
void skills_set_roots(struct skills *s, const char *const *roots);

/* The folder of a skill by its name or skill:// URI, or by a path beneath the caller's
 * roots (absolute, or relative to any of them; links are followed). Malloc'ed; NULL with
 * err: -ENOENT there is none, -EACCES it is outside the roots.
 * The catalog must be current. */
char *skills_find_folder(struct skills *s, const struct call_origin *origin,
                         const char *words, struct err *err);
/* The same, but a bare name means the skill that an installed copy was made from, if that
 * is known and still there: the copy has no tests. */
char *skills_find_original(struct skills *s, const struct call_origin *origin,
                           const char *words, struct err *err);
/* The same for uses outside the project: a bare name or a URI never means a
 * project's skill (-ENOTUNIQ if only a project has one), and a name never means an
 * installed copy, which may have been changed. */
char *skills_find_own_folder(struct skills *s, const struct call_origin *origin,
                             const char *words, struct err *err);
/* An existing file or folder beneath the caller's roots, without links: malloc'ed. */
char *skills_resolve(const struct call_origin *origin, const char *path, struct err *err);

/* 0 if the caller may change a skill's folder: it is beneath the roots and no installed
 * copy. Otherwise -EACCES. */
int skills_check_own(const struct call_origin *origin, const char *folder,
                     struct err *err);

/* Opens the caller's root that contains `out` (relative paths: the first) for writing,
 * and returns the rest of the path, malloc'ed; out NULL: the first root, and NULL.
 * -EACCES if no root contains it. */
int skills_out(const struct call_origin *origin, const char *out, struct root *ret_root,
               char **ret_path, struct err *err);

#define SKILLS_LENT "skills" /* by the host of an origin: a struct skills */
struct skills *skills_of(const struct call_origin *origin); /* NULL: there are none */
extern const struct operation skills_operations[];
extern const size_t skills_operation_count;
extern const struct document_kind skill_document_kind, build_toml_document_kind;
