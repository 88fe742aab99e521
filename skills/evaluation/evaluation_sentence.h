#pragma once
/* evaluation_sentence: describes the result for one student: the verdict's sentence, or
 * why there is no verdict, and what was not counted. */
#include "skills/evaluation/evaluation.h"

struct evaluation_facts;
struct lift;
struct paired_results;

struct sentence_subject {
    const struct evaluation *evaluation;
    const struct evaluation_facts *facts;
    size_t student;
};

void sentence_of_student(struct buf *out, const struct sentence_subject *s,
                         const struct lift *lift, const struct paired_results *pairs,
                         const struct injection *seen);
/* Adds a text from outside, ending with exactly one full stop. */
void sentence_add(struct buf *out, const char *text);
/* The first cell that errored, was refused, or ran out of time after failures; or
 * NULL. */
const struct cell *sentence_first_problem(const struct evaluation *e, size_t student);
