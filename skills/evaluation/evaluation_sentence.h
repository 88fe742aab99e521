#pragma once
/* evaluation_sentence: what an evaluation shows about one student, in words: the
 * verdict's sentence, or why there is none, and what does not count. */
#include "skills/evaluation/evaluation.h"

struct buf;
struct evaluation_facts;
struct injection;
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
/* A text from outside, with one full stop at its end. */
void sentence_add(struct buf *out, const char *text);
/* The first cell that errored, was refused or ran out of time over failures, or NULL. */
const struct cell *sentence_first_problem(const struct evaluation *e, size_t student);
