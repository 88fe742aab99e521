#pragma once
/* schema_complaint: what is wrong with a value that a schema refuses, said so that it can
 * be mended: where it stands, what was expected, what was given, which name was probably
 * meant. */
#include "protocol/schema/schema_tree.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define SCHEMA_COMPLAINT_MAX 400u /* bytes of its text, with the NUL */

/* Where a value stands: a list from the leaf up, on the stack of the check. */
struct schema_place {
    const struct schema_place *up; /* NULL: this is the root */
    const char *key;               /* NULL: index is meant */
    size_t index;
};

/* The first thing that is wrong. Begin with one that is zero; free its pointer. */
struct schema_complaint {
    char text[SCHEMA_COMPLAINT_MAX]; /* "launch.block[1]: expected an integer, …" */
    char *pointer;                   /* malloc'ed JSON Pointer */
    size_t depth;                    /* of the place */
};

/* All return false, so that `return schema_complain(…)` is one line. */
bool schema_complain(struct schema_complaint *c, const struct schema_place *at,
                     const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* types: of enum schema_type, those that would be right; 0 = none. */
bool schema_complain_type(unsigned types, const json_t *value,
                          const struct schema_place *at, struct schema_complaint *c);
/* up: the object that has a member it must not have. */
bool schema_complain_unknown(const struct schema *s, const char *name,
                             const struct schema_place *up, struct schema_complaint *c);

/* What was given, cut: the string "x", the number 1.5, an array */
void schema_add_value(struct buf *out, const json_t *value);
