#pragma once
/* schema_tree: the internals of a compiled schema, shared by schema.c (compiles it),
 * schema_check.c (applies it) and schema_complaint.c (explains refusals). */
#include "base/json.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum schema_type {
    SCHEMA_NULL = 1 << 0,
    SCHEMA_BOOLEAN = 1 << 1,
    SCHEMA_INTEGER = 1 << 2,
    SCHEMA_NUMBER = 1 << 3, /* also any integer */
    SCHEMA_STRING = 1 << 4,
    SCHEMA_ARRAY = 1 << 5,
    SCHEMA_OBJECT = 1 << 6,
    SCHEMA_ANY = (1 << 7) - 1,
};

struct schema_list {
    struct schema **items;
    size_t count;
};

struct schema_property {
    const char *name; /* borrowed from the JSON */
    struct schema *schema;
};

struct schema_properties {
    struct schema_property *items;
    size_t count;
};

/* A limit that may be absent. long double holds every 64-bit integer and every double. */
struct schema_bound {
    bool set;
    long double value;
};

struct schema {
    json_t *json;   /* a reference */
    unsigned types; /* of schema_type; 0 = no value matches (the schema `false`) */
    const json_t *fixed, *choices; /* const, enum */
    struct schema_bound minimum, maximum, above, below;
    struct schema_bound min_length, max_length, min_items, max_items, min_members,
        max_members;
    bool unique;
    pcre2_code *pattern;
    struct schema_properties properties;
    const json_t *required;
    struct schema *additional, *items, *names, *negated;
    struct schema_list prefix, any, one, all;
};

unsigned schema_type_of(const json_t *value); /* of enum schema_type */
/* The allowed types, as far as `type` and the alternatives determine them. */
unsigned schema_wanted(const struct schema *s);
const struct schema_property *schema_property(const struct schema *s, const char *name);
