#pragma once
/* schema: the part of JSON Schema 2020-12 that our tables use.
 *
 * Supported: type (one or a list), properties, required, additionalProperties (boolean or
 * schema), items, prefixItems, enum, const, minimum, maximum, exclusiveMinimum,
 * exclusiveMaximum, minLength, maxLength (code points), pattern (PCRE2 with UTF and match
 * limits), minItems, maxItems, uniqueItems, minProperties, maxProperties, propertyNames,
 * anyOf, oneOf, allOf, not. Annotations title, description, default, examples, deprecated
 * and format are kept and not checked. Any other keyword is refused by schema_new, so
 * that a table with a typing error does not start. Strings that hold U+0000 are always
 * refused, and so is 1.0 where an integer is expected (its reader would see none).
 *
 * A compiled schema is immutable and may be shared by threads. */
#include "base/json.h"

struct err;
struct schema;

/* text: a JSON object. It is kept; schema_json gives it back (borrowed). */
int schema_new(const char *text, struct schema **ret, struct err *err);
void schema_free(struct schema *s);
json_t *schema_json(const struct schema *s);

/* value as its sender probably means it (a new reference, the same where nothing is to be
 * changed; never changed in place). Models that write all parameters as texts, and strict
 * function calling, which wants each parameter sent, mean by
 *   a text where no text may stand   the JSON in it, if of a type that may stand there
 *   a text where a list of texts may that list of one
 *   null or "" that is not allowed   nothing, where a known parameter may be left out
 *   "" where there is a default, or where one of several must be given and another is
 *                                    nothing
 * What allows a text stays what it is, a name that must be given stays missing, and what
 * does not fit is left for schema_check to refuse. */
json_t *schema_adapt(const struct schema *s, json_t *value);

/* 0, or -EINVAL with a sentence such as
 *   launch.block[1]: expected an integer, got the string "x"
 *   unknown parameter "sourc"; did you mean "source"?
 * `path` (may be NULL) receives a JSON Pointer to the offender, freed by the caller. */
int schema_check(const struct schema *s, const json_t *value, char **path,
                 struct err *err);
