#pragma once
/* schema: the part of JSON Schema 2020-12 that our tables use.
 *
 * Supported: type (one or a list), properties, required, additionalProperties (boolean or
 * schema), items, prefixItems, enum, const, minimum, maximum, exclusiveMinimum,
 * exclusiveMaximum, minLength, maxLength (code points), pattern (PCRE2 with UTF and match
 * limits), minItems, maxItems, uniqueItems, minProperties, maxProperties, propertyNames,
 * anyOf, oneOf, allOf, not. Annotations title, description, default, examples, deprecated
 * and format are kept but not checked. schema_new refuses any other keyword, so
 * a table with a typing error does not load. Strings with U+0000 are always
 * refused, and so is 1.0 for an integer (json_is_integer is false for it).
 *
 * A compiled schema is immutable and may be shared by threads. */
#include "base/json.h"

struct schema;

/* text: a JSON object. schema_json returns the parsed object (borrowed). */
int schema_new(const char *text, struct schema **ret, struct err *err);
void schema_free(struct schema *s);
json_t *schema_json(const struct schema *s);

/* value as its sender probably means it: a new reference, to the same value if nothing
 * changes; never changed in place. Some models write all parameters as strings, and
 * strict function calling sends every parameter. So
 *   a string where none is allowed   becomes the JSON in it, if its type is allowed
 *   a string for a list of strings   becomes a list of one
 *   null or "" that is not allowed   is dropped, if the parameter is optional
 *   "" for a parameter with a default, or where one of several is required and another is
 *                                    given, is dropped
 * Values where a string is allowed do not change, required parameters stay missing, and
 * schema_check refuses what does not fit. */
json_t *schema_adapt(const struct schema *s, json_t *value);

/* 0, or -EINVAL with a sentence such as
 *   launch.block[1]: expected an integer, got the string "x"
 *   unknown parameter "sourc"; did you mean "source"?
 * `path` (may be NULL) receives a JSON Pointer to the offender, freed by the caller. */
int schema_check(const struct schema *s, const json_t *value, char **path,
                 struct err *err);
