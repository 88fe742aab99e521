#pragma once
/* check_spec_schema: the whole check spec as a JSON Schema, for those who write one.
 *
 * It is check_spec.json, with its references resolved; kernel/validate's parameters are
 * made from the same file, on one level where check_spec_read gives better errors than an
 * anyOf can. The names that check_spec_read takes are generated from it too
 * (gpu/check_spec.schema.h), so a new member is one there and the code that uses it. Only
 * keywords that protocol/schema/schema.h knows. JSON text, static. */
const char *check_spec_schema(void);
