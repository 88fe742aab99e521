#pragma once
/* refine_students: runs a refinement's looks with the evaluation engine.
 *
 * One look at a time: the tests of a split, with one or two texts as the skill, to all
 * students. Earlier answers come from the answer cache, so a refinement that is started
 * again only asks new questions. */
#include "skills/evaluation/evaluation.h"
#include "skills/format/skill.h"
#include "skills/refinement/refinement.h"

struct skill_check;

struct refine_students {
    /* Set by the owner, who keeps all of it until refine_students_finish. */
    struct evaluation_options options; /* loop, origin, models, students, judge, budget */
    const struct suite *suite;         /* tests with splits */
    struct skill *skill;               /* the folder; each look replaces its text */
    const char *name;                  /* the skill's name for students */
    uint64_t deadline_ms;              /* clock_ms(); 0 = never */
    /* How students get a text, on a thread; NULL: the whole skill in the prompt. */
    void (*make_arm)(void *host, const char *text, struct arm *ret);
    void *host;

    /* its own */
    struct refinement *refinement;
    struct refine_look look;
    struct refine_seen {
        const struct test_case **tests;
        size_t test_count;
        struct arm arms[2];
        struct refine_score *scores[2];
        json_t **failures; /* per test, or NULL */
        uint64_t
            /* the answer that a failure belongs to: the first in (run, student) */
            *failed_at;
    } seen; /* of the running look */
    struct evaluation *evaluation;
    bool stopped;
};

/* refinement_hooks.look, for this object. refinement_looked follows. */
void refine_students_look(struct refine_students *s, struct refinement *r,
                          const struct refine_look *look);
/* Ends the look at once, and the owner's current question or check; each may be NULL. */
void refine_students_stop(struct refine_students *s, struct model_call *asking,
                          struct skill_check *checking);
void refine_students_finish(struct refine_students *s); /* when no look is running */
