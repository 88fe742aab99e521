#pragma once
/* check_spec_schema: the whole check spec as a JSON Schema, for those who write one.
 *
 * kernel/validate's own schema stays on one level, and check_spec_read gives better
 * errors than an anyOf can; this one is for editors and agents: every member at its
 * place, with a sentence. It says no less than check_spec_read takes, and uses only
 * keywords that protocol/schema/schema.h knows, no references. JSON text, static. */
const char *check_spec_schema(void);
