#pragma once
/* skill_serving_internal: what the parts of skill_serving share; nobody else's business.
 *
 *   skill_serving.c    the extension and the plain resources
 *   skill_listing.c    the skills that are served
 *   skill_questions.c  what is read on another thread: the extension's methods, and a
 *                      resource's text */
#include "daemon/skill_serving.h"

#define SKILL_PREFIX "skill://"
#define SKILL_MANIFEST "/SKILL.md"

struct skill_serving {
    const struct call_origin *origin; /* the session's */
    struct resource_provider provider;
    struct extension extension;
    json_t *listing; /* the served skills by URI; NULL: must be rebuilt */
};

/* The served skills by URI. Borrowed; NULL if the catalog has none. */
const json_t *skill_listing(struct skill_serving *s, struct err *err);
/* A cursor is the last URI of the previous page (NULL: the first page). Returns the index
 * of the first entry after it. */
size_t skill_listing_after(const json_t *listing, const char *cursor);
bool skill_is_cursor(const char *cursor);
/* The folder of the skill with exactly this base URI; NULL if there is none. Freed by the
 * caller. */
char *skill_folder_of(const struct skill_serving *s, const char *base);

/* --- skill_questions.c --- */

extern const struct extension_method skill_methods[];
extern const size_t skill_method_count;
/* resource_provider.read_later: reads, checks and encodes a file on another thread,
 * because it may be large. data is the skill_serving. */
void skill_read_resource(void *data, const char *uri, struct question *q);
