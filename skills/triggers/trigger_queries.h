#pragma once
/* trigger_queries: requests for which a skill must, or must not, be loaded.
 *
 * The usual form: [{"query": text, "should_trigger": true|false}], optionally with "id"
 * and "split"; or that list as "queries", "evals" or "tests" of an object. Each becomes a
 * test (suite.h) whose input is the query, in the order of the file. Two control queries
 * follow, for a skill that clearly fits them: a student that does not load that one
 * cannot be measured with this one. */
#include "skills/grading/suite.h"

#define TRIGGER_MAX_QUERIES 200
#define TRIGGER_MAX_QUERY (16u << 10)

/* skill: its name as it is listed. Queries without a split get refine, gate and report in
 * turn, separately for those that must load it and those that must not; the controls have
 * none. -EINVAL says which query is wrong. */
int trigger_queries_read(struct suite *ret, const json_t *value, const char *skill,
                         struct err *err);
bool trigger_wanted(const struct test_case *test);
bool trigger_is_control(const struct test_case *test);
/* evaluation.h's rule: the skill is loaded if it must be, and only then. Adds "loaded",
 * the name of the loaded skill, and "assertions" to record. */
bool trigger_rule(const struct test_case *test, const json_t *called, json_t *record);
