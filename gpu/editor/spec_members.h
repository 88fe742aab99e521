#pragma once
/* spec_members: the parts of a check spec's schema for a place in its text. */
#include "base/json.h"
#include "gpu/editor/json_places.h"

enum { CHECK_MEMBERS_MAX = 24 };

/* Schemas that apply to a value, with anyOf expanded; borrowed from the kept schema. */
struct spec_members {
    const json_t *list[CHECK_MEMBERS_MAX];
    size_t count;
};

/* The whole check spec's schema, parsed once. */
const json_t *spec_members_schema(void);
/* For the value at a place; of the alternatives for an object, only those that define all
 * of its members, if there are any. */
void spec_members_of(const struct json_places *p, size_t place, struct spec_members *ret);
/* For a member with this name in an object at `object`. */
void spec_members_named(const struct json_places *p, size_t object, const char *name,
                        size_t len, struct spec_members *ret);
/* The first description among them, or NULL. */
const char *spec_members_description(const struct spec_members *m);
