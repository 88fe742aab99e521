#pragma once
/* run_answers: the answers of a run in the order in which a report shows them: each test's
 * question and, side by side, the answers without the skill and with it. */
#include "base/json.h"

#define RUN_ANSWERS_MAX 2000 /* answers that are shown */

/* [{"model", "test", "question"?, "arms": [{"arm", "answers": [cell, with "same" if it is
 * as the one before]}], "marks": [a person's]}] of a batch as run_read gives it. *ret_more
 * is how many more there are. New reference. */
json_t *run_answers(const json_t *batch, size_t *ret_more);
