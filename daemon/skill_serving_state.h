#pragma once
/* skill_serving_state: what the parts of skill_serving share; nobody else's business.
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
    json_t *listing; /* what is served, by URI; NULL: to be made anew */
};

/* What is served, by URI. Borrowed; NULL when the catalog has none to give. */
const json_t *skill_listing(struct skill_serving *s, struct err *err);
/* A cursor is the last URI of the page before (NULL: the first page). The index of the
 * first entry after it. */
size_t skill_listing_after(const json_t *listing, const char *cursor);
bool skill_is_cursor(const char *cursor);
/* The skill's folder for the skill's part of a URI; NULL when none has exactly it. Freed
 * by the caller. */
char *skill_folder_of(const struct skill_serving *s, const char *base);

/* --- skill_questions.c --- */

extern const struct extension_method skill_methods[];
extern const size_t skill_method_count;
/* resource_provider.read_later: the largest file is read, looked through and encoded on
 * another thread. data is the skill_serving. */
void skill_read_resource(void *data, const char *uri, struct question *q);
