#pragma once
/* yaml: a small, strict YAML reader on libyaml's events.
 *
 * Reads one document of mappings, sequences and scalars into jansson values. Limits: 64
 * KiB of text, 16 levels, 4096 nodes. Anchors, aliases, tags, several documents and
 * duplicate keys are refused: nobody needs them in configuration or frontmatter, and each
 * has been a way to surprise a reader. Frees: the caller owns the result. */
#include "base/json.h"

struct err;

enum yaml_scalars {
    YAML_STRINGS, /* every scalar is a string: `no` and `1.0` stay text */
    YAML_TYPED,   /* plain scalars follow the core schema: null, booleans, numbers */
};

/* An empty text gives json null. The message of an error begins "line N: ". */
int yaml_parse(const char *text, size_t len, enum yaml_scalars scalars, json_t **ret,
               struct err *err);
