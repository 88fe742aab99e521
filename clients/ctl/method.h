#pragma once
/* method: an operation as the daemon's own table (rpc.discover) describes it, for those
 * who turn words into a request and those who explain it. Everything is borrowed from the
 * table unless it says "freed by the caller". */
#include "base/json.h"

#include <stdbool.h>

/* words, malloc'ed, with the first one replaced where it is a short name for what people
 * ask most, or a command of upskill's: reallocated. */
const char **alias_expand(const char **words, int *count);
/* The method for words such as "kernel check" or "kernel/check"; used receives how many
 * words it took. NULL when none fits. */
const json_t *method_find(const json_t *discover, const char **words, int count,
                          int *used);
/* "kernel/check" as a person types it: "kernel check". Freed by the caller. */
char *method_command(const json_t *method);

/* A parameter by its name ("fast-math" is fast_math; the singular of a list names the
 * list), or NULL. */
const json_t *method_parameter(const json_t *method, const char *name, size_t len);
/* The same, and by the names that upskill has for it. */
const json_t *method_option(const json_t *method, const char *name, size_t len);
/* "--fast-math". Freed by the caller. */
char *method_option_name(const json_t *parameter);
/* Whether a schema allows values of a JSON type, by "type" or one of its forms. */
bool schema_has_type(const json_t *schema, const char *type);
bool method_has_type(const json_t *parameter, const char *type);
/* "properties" of what it is as an object; NULL where it lists none. */
const json_t *method_members(const json_t *parameter);
/* Lists of plain names take several in one word. Others, compilers' options among them,
 * may hold commas of their own. */
bool method_takes_commas(const json_t *parameter);
/* What to do instead of an option that only upskill has; NULL for others. */
const char *method_instead(const char *name, size_t len);
/* Whether its "x-flags" hold one: "read-only", "long" and so on. */
bool method_has_flag(const json_t *method, const char *flag);
/* A text that may be long is said in as many words as it takes. */
bool method_is_prose(const json_t *parameter);
