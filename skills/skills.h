#pragma once
/* skills: the domain's state and its operations skill/find, get, list, check, install,
 * uninstall. */
#include "protocol/document.h"
#include "protocol/operation.h"
#include "protocol/provider.h"

struct skills;
struct skills_config {
    const char *bundled; /* folder of the bundled skills, or NULL */
    const char *db_path; /* NULL: $XDG_CACHE_HOME/upskilld/skills.db */
};
struct skills *skills_new(uv_loop_t *loop, const struct skills_config *config);
void skills_close(struct skills *s, void (*closed)(void *data), void *data);
json_t *skills_status(struct skills *s); /* part of daemon/status */
struct catalog *skills_catalog(struct skills *s);
/* The project roots (absolute, NULL-terminated): where project scope is looked for. */
void skills_set_roots(struct skills *s, const char *const *roots);

void skills_set_locator(
    struct skills *(*locate)(void *host)); /* call_origin.host -> skills */
extern const struct operation skills_operations[];
extern const size_t skills_operation_count;
extern const struct document_kind skill_document_kind, build_toml_document_kind;
