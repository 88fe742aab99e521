#pragma once
/* teacher_tests: reads and filters the tests that a teacher or a host wrote. Pure.
 *
 * suite.h defines a test; this module defines which of many tests are accepted: no
 * repeated ones, no unsafe ones, each with its own check. */
#include "base/json.h"

/* A model's {"input", "checks": [{"kind", "value"}]} (teacher_tests_schema), or
 * {"input", "expected": {…}}, in suite.h's form: new reference, or NULL with -EINVAL. */
json_t *teacher_test_read(const json_t *asked, struct err *err);
/* The test as it is kept: canonical, under this id, without a split and marks of its own.
 * NULL with -EINVAL and a sentence for its author. */
json_t *teacher_test_check(const json_t *test, const char *id, struct err *err);
/* Whether it asks the same as one of the list: only letters and digits are compared, in
 * any case. */
bool teacher_test_is_there(const json_t *list, const json_t *test);
/* {"contains": 12, "regex": 9, …}: tests that have each check; {"refine": 8, …}. New
 * references. */
json_t *teacher_tests_kinds(const json_t *tests);
json_t *teacher_tests_splits(const json_t *tests);
