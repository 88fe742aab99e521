#pragma once
/* evaluation_result: the result of skill/evaluate, from a grid of ended cells.
 *
 * A student's verdict compares its skill arm with its baseline over those (test, run)
 * pairs in which both were graded (statistics.h judges). It becomes `no_evidence` where
 * the skill did not reach the model. The verdict of the whole: with p-values adjusted for
 * the number of students (Holm), `helps` when the skill helps one and hurts none, `hurts`
 * when it hurts one and helps none, `not_measurable` when that is so for every student,
 * else `no_evidence`. A value that cannot be said is null.
 *
 * Resampling takes up to a second for large grids: call it off the loop. */
#include "skills/evaluation/evaluation.h"

struct evaluation_facts {
    const json_t *provenance; /* what the engine does not know: skill, digests, times … */
    bool again;               /* A/A: both arms were the same */
    bool measured_size;       /* inject: the growth of the prompt is checked */
    const json_t *marks;      /* quality.h's, or NULL */
    const char *record_problem; /* why the record is not whole, or NULL */
};

json_t *evaluation_result(const struct evaluation *e,
                          const struct evaluation_facts *facts);
/* The text for a model or a person; an operation's describe. */
struct buf;
void evaluation_describe(const json_t *result, struct buf *out);
