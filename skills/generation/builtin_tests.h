#pragma once
/* builtin_tests: test cases from lessons, without any model.
 *
 * Each asks for something that the traces show to be right, with names of its own where
 * there are any, and wants a short answer, so that quoting the skill does not pass. */
#include "base/json.h"
#include "skills/traces/lessons.h"

/* At most `count` candidates in suite.h's form, the best first; fewer when the lessons
 * have no more matter. New reference. */
json_t *builtin_tests(const struct lessons *l, const char *task, size_t count);
