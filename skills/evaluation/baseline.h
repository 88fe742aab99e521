#pragma once
/* baseline: reuses the baseline cells of an earlier evaluation.
 *
 * A student's answers without the skill do not change when the skill does. They may be
 * reused if the tests, the model, the baseline's prompt and the number of runs are the
 * same; missing answers are asked for again. */
#include "base/json.h"

struct cell;

/* The cells of a batch beneath runs_dir (NULL: the default place). -ENOENT if there is no
 * such run; -EINVAL for a bad name, other tests, another number of runs, or no baseline
 * with this prompt; err says which. Blocking: call it off the loop. New reference: the
 * cells by model, test and run. */
int baseline_load(json_t **ret, const char *runs_dir, const char *batch,
                  const char *tests_digest, const char *prompt_digest, unsigned runs,
                  struct err *err);
/* Fills a cell from them; false if it is not there. */
bool baseline_take(const json_t *cells, const char *model, const char *test,
                   const char *prompt_digest, struct cell *cell);
