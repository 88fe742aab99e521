#pragma once
/* builtin_tests: makes tests from lessons, without a model.
 *
 * Each asks for the change that ended an error, and requires of the answer only the
 * essential part of that change: names that the question does not contain. Before a test
 * is kept, three students answer it: one that knows the fix must pass, one that repeats
 * the error must fail, and one that makes other true statements (the error's cause, the
 * fixes of the other lessons) must not pass by accident. The tests of one lesson have its
 * name in "lesson" (suite.h). */
#include "skills/traces/lessons.h"

/* At most `count` tests in suite.h's form, the best first; fewer if the lessons do not
 * give more. New reference. */
json_t *builtin_tests(const struct lessons *l, const char *task, size_t count);
