#pragma once
/* run_answers: the part of a report that shows each test's question and, side by side,
 * the answers without the skill and with it. */
#include "base/json.h"

#define RUN_ANSWERS_MAX 2000 /* answers that are shown */

/* batch as run_read gives it; its meta's "questions" ({test: text}) are shown if
 * recorded. Appended. */
void run_answers_write(struct buf *out, const json_t *batch);
