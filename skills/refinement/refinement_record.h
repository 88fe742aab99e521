#pragma once
/* refinement_record: what a refinement did, round by round, for results and provenance.
 */
#include "base/json.h"
#include "skills/refinement/refine_rule.h"

#include <stdbool.h>

struct refine_round {
    unsigned round;
    const json_t *edits;     /* or NULL */
    const char *why;         /* the teacher's words, or NULL */
    double before, after, p; /* NaN: not asked */
    bool accepted;
    const char *reason;
};
struct refinement_record {
    json_t *rounds, *verdict;
    unsigned kept;
    double start, final; /* the gate's rate; NaN before it was asked */
    const char *stopped; /* a constant, or NULL while it runs */
    char *problem;
    bool nothing_fails; /* the refine split has no failure to learn from */
};
void refinement_record_init(struct refinement_record *r);
void refinement_record_round(struct refinement_record *r,
                             const struct refine_round *round);
/* Start against final on the report split. */
void refinement_record_verdict(struct refinement_record *r,
                               const struct refine_score *start,
                               const struct refine_score *final, size_t tests,
                               unsigned runs);
json_t *refinement_record_json(const struct refinement_record *r); /* new reference */
/* Of that object, as it stands in a result: two lines for a model or a person. NULL is
 * fine. */
struct buf;
void refinement_describe(const json_t *refinement, struct buf *out);
void refinement_record_finish(struct refinement_record *r);
