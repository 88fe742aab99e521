#pragma once
/* evaluation_result: the result of skill/evaluate, from a grid of ended cells.
 *
 * A student's verdict compares its skill arm with its baseline over the (test, run) pairs
 * in which both were graded (statistics.h computes it). It is `no_evidence` if the skill
 * did not reach the model. The overall verdict, with p-values adjusted for the number of
 * students (Holm), is `helps` if the skill helps at least one and hurts none, `hurts` if
 * it hurts at least one and helps none, `not_measurable` if every student's is, else
 * `no_evidence`. Unknown values are null. Resampling takes up to a second for large
 * grids: call it off the loop. */
#include "skills/evaluation/evaluation.h"

struct evaluation_facts {
    /* facts that the engine does not know: skill, digests, times … */
    const json_t *provenance;
    bool again;                 /* A/A: both arms were identical */
    bool measured_size;         /* inject: the growth of the prompt is checked */
    const json_t *marks;        /* from quality.h, or NULL */
    const char *record_problem; /* why the record is incomplete, or NULL */
};

json_t *evaluation_result(const struct evaluation *e,
                          const struct evaluation_facts *facts);
/* The text for a model or a person: an operation's `describe`. */
void evaluation_describe(const json_t *result, struct buf *out);
