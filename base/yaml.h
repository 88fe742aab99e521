#pragma once
/* yaml: a small, strict YAML reader on libyaml's events.
 *
 * Reads one document of mappings, sequences and scalars into jansson values; a byte order
 * mark at the start is skipped. Limits: 64 KiB of text, 16 levels, 4096 nodes. Anchors,
 * aliases, tags, several documents and duplicate keys are refused: configuration and
 * frontmatter do not need them, and each can surprise a reader. The caller owns the
 * result. */
#include "base/json.h"

enum yaml_scalars {
    YAML_STRINGS, /* every scalar is a string: `no` and `1.0` stay text */
    YAML_TYPED,   /* plain scalars follow the core schema: null, booleans, numbers */
};

/* An empty text gives json null. The message of an error begins "line N: ". */
int yaml_parse(const char *text, size_t len, enum yaml_scalars scalars, json_t **ret,
               struct err *err);

/* --- the same with places, for callers that report or edit positions --- */

enum yaml_problem {
    YAML_SOUND,
    YAML_SYNTAX,      /* not YAML */
    YAML_DUPLICATE,   /* a repeated key */
    YAML_UNSUPPORTED, /* anchor, alias, tag, second document, a key that is no string */
    YAML_TOO_DEEP,
    YAML_TOO_LARGE, /* bytes or values */
    YAML_BAD_BYTES, /* not UTF-8, or control characters */
};

/* A pair of a mapping. Places are byte offsets in the text, ends exclusive and before
 * white space and comments; quotes and block headers belong to their value. */
struct yaml_pair {
    char *key;
    unsigned depth; /* 0: of the outermost mapping; pairs within sequences count theirs */
    size_t key_at, key_end;
    size_t at, end; /* the value; equal if there is none */
};
struct yaml_map {
    struct yaml_pair *pairs; /* as in the text: a nested pair follows its holder */
    size_t count, capacity;
    bool flow; /* the outermost value is written {…} or […] */
    enum yaml_problem problem;
    size_t problem_at, first_at; /* first_at: of YAML_DUPLICATE, the earlier key */
};
/* Fills the map up to the first problem. Always call yaml_map_finish. */
int yaml_parse_map(const char *text, size_t len, enum yaml_scalars scalars, json_t **ret,
                   struct yaml_map *map, struct err *err);
void yaml_map_finish(struct yaml_map *map);

/* --- writing --- */

/* Appends the text after "key:" for a value: " text", or nested lines indented by
 * `indent`. A string is written plain if no reader could take it for something else, as
 * block text if it has several lines, otherwise double-quoted. No line ending at the
 * end. */
void yaml_write_value(struct buf *out, const json_t *value, unsigned indent,
                      const char *newline);
void yaml_write_key(struct buf *out, const char *key);
