#pragma once
/* trigger_result: counts the queries for which a skill was loaded.
 *
 * A query is right if the skill was loaded in at least half of its answers and had to be,
 * or in fewer and had not to be. Intervals (Wilson, 95 %) count queries, not answers:
 * several answers to one query are not independent. A student that loads the control's
 * skill in fewer than half of its answers, or that gave none, cannot be measured: its
 * zeros say nothing about the description. */
#include "base/json.h"

struct evaluation;

/* The skills that were loaded instead, counted as answers end: [student][test], objects
 * name -> count. */
json_t *trigger_loads_new(size_t students, size_t tests);
void trigger_loads_add(json_t *loads, size_t student, size_t test, const json_t *answer);

/* {"verdict": "pass" (every query is right) | "fail" | "not_measurable", "sentence",
 *  "students": [{"model", "verdict", "sentence", "control": {"loaded", "of"}, "recall",
 *   "specificity", "precision": {"right", "of", "estimate", "low", "high"}, "queries":
 *   [{"id", "query", "should_trigger", "split", "runs", "loaded", "others"?, "right":
 *    null where nothing was answered}], "errored", "refused", "tokens", "cost",
 *   "problem"?}]}: new reference. */
json_t *trigger_result(const struct evaluation *e, const json_t *loads,
                       const char *skill);
/* That object, with the additions of trigger_operation.c, for a model or a person. */
void trigger_describe(const json_t *result, struct buf *out);
