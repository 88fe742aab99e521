#pragma once
/* schema_complaint: explains why a schema refuses a value: its place, what was expected,
 * what was given, and the name that was probably meant. */
#include "protocol/schema/schema_tree.h"

#define SCHEMA_COMPLAINT_MAX 400u /* bytes of its text, with the NUL */

/* The place of a value: a list from the leaf to the root, on the stack of the check. */
struct schema_place {
    const struct schema_place *up; /* NULL: this is the root */
    const char *key;               /* NULL: use index */
    size_t index;
};

/* The first error. Initialise with zeros; free its pointer. */
struct schema_complaint {
    char text[SCHEMA_COMPLAINT_MAX]; /* "launch.block[1]: expected an integer, …" */
    char *pointer;                   /* malloc'ed JSON Pointer */
    size_t depth;                    /* of the place */
};

/* All return false, so that `return schema_complain(…)` is one line. */
bool schema_complain(struct schema_complaint *c, const struct schema_place *at,
                     const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* types: the allowed ones, of enum schema_type; 0 = none. */
bool schema_complain_type(unsigned types, const json_t *value,
                          const struct schema_place *at, struct schema_complaint *c);
/* up: the object with an unknown member. */
bool schema_complain_unknown(const struct schema *s, const char *name,
                             const struct schema_place *up, struct schema_complaint *c);

/* Appends the given value, cut: the string "x", the number 1.5, an array */
void schema_add_value(struct buf *out, const json_t *value);
