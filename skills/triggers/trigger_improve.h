#pragma once
/* trigger_improve: improves a description with the queries that it decides wrongly.
 *
 * A refinement (refinement.h) whose looks are the trigger tests of a split, with the
 * description listed among its neighbours: the teacher only sees the failures of the
 * refine split, the gate split decides which description is accepted, and the report
 * split compares start and result. Only the description changes, and nothing is written.
 * A request object: done is called exactly once, never from inside
 * trigger_improve_start. */
#include "protocol/call.h"
#include "skills/evaluation/evaluation.h"

struct trigger_improve;
struct suite;

/* Everything is borrowed until trigger_improve_free. */
struct trigger_improve_options {
    struct evaluation_options students; /* loop, origin, models, students, budget */
    const struct suite *queries;
    const json_t *neighbours;
    const char *folder, *name; /* of the skill */
    const char *text;          /* its SKILL.md */
    const struct model *teacher;
    unsigned rounds, runs;
    uint64_t deadline_ms; /* clock_ms(); 0 = never */
    void (*changed)(struct trigger_improve *x, void *data);
    void (*done)(struct trigger_improve *x, void *data);
    void *data;
};

struct trigger_improve *
trigger_improve_start(const struct trigger_improve_options *options);
void trigger_improve_cancel(struct trigger_improve *x); /* done follows */
void trigger_improve_free(struct trigger_improve *x);   /* after done */

/* The best SKILL.md so far; borrowed. The original text if nothing was better. */
const char *trigger_improve_text(const struct trigger_improve *x);
json_t *trigger_improve_result(const struct trigger_improve *x); /* refinement_result's */
const char *trigger_improve_doing(const struct trigger_improve *x);
