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

/* 0, or -EINVAL with a sentence such as
 *   launch.block[1]: expected an integer, got the string "x"
 *   unknown parameter "sourc"; did you mean "source"?
 * `path` (may be NULL) receives a JSON Pointer to the offender, freed by the caller. */
int schema_check(const struct schema *s, const json_t *value, char **path,
                 struct err *err);
