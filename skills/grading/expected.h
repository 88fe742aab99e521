#pragma once
/* expected: the checks of a test, read into their full form.
 *
 *   contains, not_contains  ["text", …]
 *   regex, not_regex        [{"pattern", "flags"}, …]
 *   json_schema             {schema}
 *   equals                  "text" or {"number", "tolerance"}
 *   build_toml              {"valid": true, "values"?: {JSON Pointer: value}}
 *   kernel_project          {"valid": true, "with_files": false}
 *   kernel_compiles         {"entry"?, "arch"?, "path"?}
 *   kernel_passes           {"spec": {…}, "entry"?, "arch"?, "path"?}
 *   files                   {path: true | false | {a check of text: …}}
 *   judge                   {"criteria": ["text", …], "model"?}
 * Short forms: a bare text or list of texts is contains (as upskill reads it), one item
 * stands for a list of it, true for an object without members, a list for judge's
 * criteria. docs/guide/tests.md. */
#include "base/json.h"

#define EXPECTED_MAX_ITEMS 64 /* of one check */

/* path precedes error messages: "tests[3].expected". A new reference in *ret. */
int expected_read(json_t **ret, const json_t *given, const char *path, struct err *err);
/* Whether a model decides this check. */
bool expected_is_judged(const char *check);
