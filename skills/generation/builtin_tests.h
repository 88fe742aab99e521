#pragma once
/* builtin_tests: test cases from lessons, without any model.
 *
 * Each asks for the change that ended an error, and wants of the answer only what makes
 * that change: names that the question does not show. Before a test is kept, three
 * students answer it: one that knows the fix must pass, one that repeats the mistake must
 * fail, and one that says other true things (the error's cause, the fixes of the other
 * lessons) must not pass by accident. The tests of one lesson carry its name in "lesson"
 * (suite.h). */
#include "base/json.h"
#include "skills/traces/lessons.h"

/* At most `count` tests in suite.h's form, the best first; fewer when the lessons have no
 * more matter. New reference. */
json_t *builtin_tests(const struct lessons *l, const char *task, size_t count);
