#pragma once
/* skill_serving: skills over MCP, as the extension io.modelcontextprotocol/skills and as
 * plain resources.
 *
 * A skill's URI is skill://<scope or agent>/<name>/SKILL.md; its files are beside it. The
 * extension offers only skills whose frontmatter all parsers read the same way; all
 * skills can be read as resources. Digests and sizes are those of the bytes that are
 * read. */
#include "protocol/provider.h"

struct call_origin;
struct catalog;
struct skill_serving;

/* origin must outlive it; the skills are requested from it when a request needs them. */
struct skill_serving *skill_serving_new(const struct call_origin *origin);
/* Only valid while the skills exist (skills_of). */
struct catalog *skill_serving_catalog(const struct skill_serving *s);
void skill_serving_free(struct skill_serving *s);
const struct resource_provider *skill_serving_resources(const struct skill_serving *s);
const struct extension *skill_serving_extension(const struct skill_serving *s);
/* Calls ready(arg) exactly once, from the loop, when the catalog is current or cannot
 * become so (without an index there are no names). */
void skill_serving_when_current(struct skill_serving *s, void (*ready)(void *arg),
                                void *arg);
/* The set of skills changed. */
void skill_serving_changed(struct skill_serving *s);
