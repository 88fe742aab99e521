#pragma once
/* quality: finds tests that measure nothing.
 *
 * Marks of a test:
 *   passes_empty   passes without any answer
 *   quotes_skill   an answer that is the skill's own text passes
 *   echoes_input   an answer that repeats the question and its files passes
 *   judge_only     only a model decides it
 *   always_passes, never_passes  in both arms of an evaluation (quality_of_results)
 * The first three are found by grading such answers; judges are not asked, so a test
 * is marked if its other checks let such an answer pass. */
#include "skills/grading/suite.h"

struct grade_room;
struct quality;

/* [{"id", "marks": […], "message"}] for the tests with marks (stolen), in the suite's
 * order; NULL if cancelled. Exactly once, from the loop. */
typedef void quality_done(struct quality *q, json_t *marks, void *data);
/* skill_text may be NULL. room is copied; the suite is borrowed until done; skill_text is
 * copied. */
struct quality *quality_start(const struct grade_room *room, const struct suite *suite,
                              const char *skill_text, size_t len, quality_done *done,
                              void *data);
void quality_cancel(struct quality *q); /* done follows with NULL */

/* The mark for a test's pass rates in both arms ("always_passes": both 1, "never_passes":
 * both 0), or NULL. */
const char *quality_of_results(double baseline, double skill);
/* A sentence that explains a mark; NULL for an unknown one. */
const char *quality_mark_message(const char *mark);
