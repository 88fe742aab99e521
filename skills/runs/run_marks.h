#pragma once
/* run_marks: a person's choices between two answers.
 *
 * A pair is the answers of one (model, test, run) without the skill and with it. A page
 * (run_mark_page.h) shows it as A and B, and returns the choices as
 *   {"run": batch, "order": "open" | "blind", "marks": [{"model", "test", "run",
 *    "choice": "a" | "b" | "same", "note"?}]}
 * They are stored in the batch's folder as marks.json:
 *   {"marks": [{"model", "test", "run", "better": "skill" | "baseline" | "same", "note"?,
 *    "blind": true|false}]}
 * In an open page, A is the answer without the skill. In a blind one, a digest of run,
 * model, test and turn decides, which the page does not contain. A later mark of a pair
 * replaces the earlier. */
#include "base/json.h"

#define RUN_MARKS_MAX 5000
#define RUN_MARK_NOTE 2000 /* bytes */

/* One pair; cells of run_read's batch. */
struct run_pair {
    const json_t *baseline, *skill;
};
/* All pairs with both answers, by model, test and run; freed by the caller. */
struct run_pair *run_pairs(const json_t *batch, size_t *ret_count);
/* Whether A of a blind page is the answer with the skill. */
bool run_pair_is_turned(const char *batch, const json_t *cell);

/* Adds the marks from a page to those of the batch (run_read's "marks") for other pairs,
 * in the form in which they are kept. NULL: -EINVAL, err names the mark. New
 * reference. */
json_t *run_marks_take(const json_t *batch, const json_t *given, struct err *err);

/* [{"model", "tests", "skill", "baseline", "same": tests in which that was better in more
 *   runs, "share": {"estimate", "low", "high"} of the decided ones (Wilson, 95 %), "p" of
 *   the sign test, "marks", "blind": how many, "sentence"}], one per marked model, or
 * NULL without marks. The unit is the test. New reference. */
json_t *run_marks_preference(const json_t *batch);
