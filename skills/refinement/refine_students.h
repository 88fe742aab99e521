#pragma once
/* refine_students: a refinement's looks, asked by the evaluation engine.
 *
 * One look at a time: the tests of a split, with one or two texts as the skill, to all
 * students. Answers come from the answer cache where they were given before, so a
 * refinement that is started again asks only what it has not asked. */
#include "skills/evaluation/evaluation.h"
#include "skills/format/skill.h"
#include "skills/refinement/refinement.h"

struct model_call;
struct skill_check;
struct suite;

struct refine_students {
    /* Set by the owner, who keeps it all until refine_students_finish. */
    struct evaluation_options options; /* loop, origin, models, students, judge, budget */
    const struct suite *suite;         /* tests with splits */
    struct skill *skill;  /* the folder; its text is replaced by each look's */
    const char *name;     /* that the skill is shown under */
    uint64_t deadline_ms; /* clock_ms(); 0 = never */
    /* What a text is to the students, on a thread; NULL: the whole skill in the prompt.
     */
    void (*make_arm)(void *host, const char *text, struct arm *ret);
    void *host;

    /* its own */
    uv_work_t work;
    struct refinement *refinement;
    struct refine_look look;
    struct refine_seen {
        const struct test_case **tests;
        size_t test_count;
        struct arm arms[2];
        struct refine_score *scores[2];
        json_t **failures; /* per test, or NULL */
        uint64_t
            *failed_at; /* which answer a failure is of: the first in (run, student) */
    } seen;             /* of the look that is under way */
    struct evaluation *evaluation;
    bool stopped;
};

/* refinement_hooks.look, for this object. refinement_looked follows. */
void refine_students_look(struct refine_students *s, struct refinement *r,
                          const struct refine_look *look);
/* The look then ends at once, and what the owner asks or checks meanwhile, or NULL. */
void refine_students_stop(struct refine_students *s, struct model_call *asking,
                          struct skill_check *checking);
void refine_students_finish(struct refine_students *s); /* when none is under way */
