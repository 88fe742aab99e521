#pragma once
/* spec_schema: the whole check spec as a JSON Schema, for authors of specs.
 *
 * It is kernel_spec.json with its references resolved; kernel/validate's parameters are
 * generated from the same file, flattened where kernel_spec_read gives better errors than
 * an anyOf can. The names that kernel_spec_read accepts are generated from it too
 * (gpu/kernel_spec_schema.h), so a new member needs an entry there and the code that uses
 * it. Uses only keywords that protocol/schema/schema.h supports. JSON text, static. */
const char *spec_schema(void);
