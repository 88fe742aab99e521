#pragma once
/* baseline: the baseline cells of an earlier evaluation, to be used again.
 *
 * What a student does without the skill does not change when the skill does. Its answers
 * may be reused when the tests, the model, the baseline's prompt and the number of runs
 * are the same; whatever is missing is asked anew. */
#include "base/json.h"

#include <stdbool.h>

struct cell;
struct err;

/* The cells of a batch beneath runs_dir (NULL: the default place). -ENOENT when there is
 * no such run, -EINVAL for a bad name and when it holds other tests or another number of
 * runs, or no baseline with this prompt; err says which. Blocking: call it off the loop.
 * New reference: the cells by model, test and run. */
int baseline_load(json_t **ret, const char *runs_dir, const char *batch,
                  const char *tests_digest, const char *prompt_digest, unsigned runs,
                  struct err *err);
/* Fill a cell from them; false when it is not there. */
bool baseline_take(const json_t *cells, const char *model, const char *test,
                   const char *prompt_digest, struct cell *cell);
