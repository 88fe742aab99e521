#pragma once
/* toml: a strict reader of TOML 1.0 that keeps the place of every value.
 *
 * Limits: 256 KiB, 32 levels, 10,000 values. Values become JSON: dates and times stay
 * text, floats that are not finite become "Infinity", "-Infinity" and "NaN". An integer
 * must fit 64 bits; a key must not contain U+0000. A byte order mark at the start is
 * skipped. */
#include "base/json.h"

struct toml_document;

enum toml_kind {
    TOML_STRING,
    TOML_INTEGER,
    TOML_FLOAT,
    TOML_BOOLEAN,
    TOML_DATE, /* dates, times and both */
    TOML_ARRAY,
    TOML_INLINE_TABLE,
    TOML_TABLE,
    TOML_TABLES, /* [[name]] */
};
enum toml_origin {
    TOML_FROM_VALUE,
    TOML_FROM_HEADER,
    TOML_FROM_LONGER_HEADER, /* [a.b] makes a */
    TOML_FROM_DOTTED_KEY,    /* a.b = 1 makes a */
};
struct toml_node {
    enum toml_kind kind;
    enum toml_origin origin;
    size_t key_start, key_end; /* bytes of the key as written; equal for items */
    size_t start, end;         /* of the value; for a table, of its header or key */
    int depth;
    json_t *value;    /* borrowed from the document's JSON */
    json_t *children; /* {key: index of node} or [index of node]; NULL for scalars */
};

struct toml_error {
    char msg[256];
    int line, column; /* 1-based */
};

/* NULL with *error filled if it is invalid. */
struct toml_document *toml_parse(const char *text, size_t len, struct toml_error *error);
void toml_free(struct toml_document *t);
DEFINE_CLEANUP(struct toml_document *, toml_free);

const json_t *toml_json(const struct toml_document *t);
/* 1-based line and byte column of a byte offset of the text. */
int toml_place(const struct toml_document *t, size_t offset, int *ret_column);

/* Nodes live as long as the document; "" is the root. NULL if there is none. */
const struct toml_node *toml_find(const struct toml_document *t, const char *pointer);
const struct toml_node *toml_member(const struct toml_document *t,
                                    const struct toml_node *table, const char *key);
const struct toml_node *toml_item(const struct toml_document *t,
                                  const struct toml_node *array, size_t index);
size_t toml_count(const struct toml_node *node); /* members or items */
