#pragma once
/* spec_schema: the whole check spec as a JSON Schema, for those who write one.
 *
 * It is kernel_spec.json, with its references resolved; kernel/validate's parameters are
 * made from the same file, on one level where kernel_spec_read gives better errors than
 * an anyOf can. The names that kernel_spec_read takes are generated from it too
 * (gpu/kernel_spec_schema.h), so a new member is one there and the code that uses it.
 * Only keywords that protocol/schema/schema.h knows. JSON text, static. */
const char *spec_schema(void);
