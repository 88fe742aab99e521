#pragma once
/* method: an operation as the daemon's own table (rpc.discover) describes it, for the
 * code that turns words into a request and the code that explains it. Everything is
 * borrowed from the table unless it says "freed by the caller". */
#include "base/json.h"

/* Replaces the first word if it is a short name for a common request or a command of
 * upskill's. words is malloc'ed, and may be reallocated. */
const char **alias_expand(const char **words, int *count);
/* The method for words such as "kernel check" or "kernel/check"; *used is the number of
 * words it took. NULL if none fits. */
const json_t *method_find(const json_t *discover, const char **words, int count,
                          int *used);
/* "kernel/check" as a person types it: "kernel check". Freed by the caller. */
char *method_command(const json_t *method);

/* A parameter by its name ("fast-math" is fast_math; the singular of a list's name works
 * too), or NULL. */
const json_t *method_parameter(const json_t *method, const char *name, size_t len);
/* The same, and also by upskill's names. */
const json_t *method_option(const json_t *method, const char *name, size_t len);
/* "--fast-math". Freed by the caller. */
char *method_option_name(const json_t *parameter);
/* Whether a schema allows values of a JSON type, by "type" or one of its alternatives. */
bool schema_has_type(const json_t *schema, const char *type);
/* Whether it starts a program, whose own arguments stand behind "--". */
bool method_takes_words(const json_t *method);
bool method_has_type(const json_t *parameter, const char *type);
/* "properties" of the parameter's object form; NULL if it lists none. */
const json_t *method_members(const json_t *parameter);
/* Whether a list takes several values in one word: lists of plain names and of words from
 * a choice do, and help shows them in the plural, as they are written. Other values,
 * such as compiler options, may contain commas. */
bool method_takes_commas(const json_t *parameter);
/* What to use in place of an option that only upskill has; NULL for others. */
const char *method_instead(const char *name, size_t len);
/* Whether its "x-flags" contain one: "read-only", "long" and so on. */
bool method_has_flag(const json_t *method, const char *flag);
/* Whether it is a long text, which takes all remaining words. */
bool method_is_prose(const json_t *parameter);
