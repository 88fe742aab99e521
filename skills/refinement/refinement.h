#pragma once
/* refinement: improves a skill by small edits on its students' failures.
 *
 * Tests are split. A teacher sees the students' failures on the refine split and proposes
 * edits (patch.h); the gate split, which it never sees, decides whether they are accepted
 * (refine_rule.h); the report split is asked once, at the end, with the first text and
 * the final one. The best text is kept: the result is the first text or one that passed
 * the gate. It ends when nothing on the gate fails, after two rounds without a gain,
 * after the requested rounds, or when budget or time are used up.
 *
 * The engine asks no model itself: hooks measure, teach and check, so that HTTP models,
 * agents or a simulation can drive it. Single-threaded; a request object: done is called
 * exactly once, never from inside refinement_start. */
#include "skills/grading/suite.h"
#include "skills/refinement/refine_rule.h"

struct refinement;

#define REFINE_MAX_ROUNDS 20u
#define REFINE_PLATEAU 2u /* rejected rounds in a row that end it */
/* Retries per round for edits that cannot be applied or checked. */
#define REFINE_MENDS 2u
#define REFINE_RUNS 3u /* answers per test, student and look at the gate */

/* Why a hook has no result. */
enum refine_lack {
    REFINE_FINE,
    REFINE_SPENT,     /* budget or time */
    REFINE_NO_ANSWER, /* students or the teacher cannot be asked: `why` */
    REFINE_CANCELLED,
};

/* One question to the students: every test of a split with one text as the skill, or with
 * two in turn. Texts are borrowed until refinement_looked. */
struct refine_look {
    enum test_split split;
    const char *texts[2];
    size_t text_count;
    /* numbers of the answers: other numbers are other samples */
    unsigned first_run, runs;
    bool failures; /* also return the failures of texts[0] */
};
/* Each starts something and returns; the matching function below follows exactly once,
 * not from inside. */
struct refinement_hooks {
    void (*look)(void *host, struct refinement *r, const struct refine_look *look);
    void (*teach)(void *host, struct refinement *r, const char *system,
                  const char *prompt);
    void (*check)(void *host, struct refinement *r, const char *text);
    void (*stop)(void *host); /* ends the running operation at once */
    /* Something changed; see refinement_result and refinement_doing. */
    void (*changed)(void *host, struct refinement *r);
};

/* scores[i]: one per test of the split, for texts[i]; failures: refine_prompt.h's,
 * stolen, or NULL. With REFINE_SPENT and REFINE_NO_ANSWER the answers are ignored. */
void refinement_looked(struct refinement *r, enum refine_lack lack,
                       const struct refine_score *const scores[2], size_t tests,
                       json_t *failures, const char *why);
/* answer: patch.h's, borrowed; or NULL with a lack, or with REFINE_FINE and why it cannot
 * be read. */
void refinement_taught(struct refinement *r, enum refine_lack lack, const json_t *answer,
                       const char *why);
/* problem: what is wrong with the text, or NULL. */
void refinement_checked(struct refinement *r, enum refine_lack lack, const char *problem);

enum refinement_stop {
    REFINEMENT_PERFECT,
    REFINEMENT_PLATEAU,
    REFINEMENT_ROUNDS,
    REFINEMENT_BUDGET,
    REFINEMENT_UNAVAILABLE,
    REFINEMENT_CANCELLED,
};

typedef void refinement_done(struct refinement *r, enum refinement_stop stop, void *data);

struct refinement_options {
    const char *text; /* SKILL.md that passes its check; copied */
    unsigned rounds;  /* 1 … REFINE_MAX_ROUNDS */
    unsigned runs;    /* 0 = REFINE_RUNS */
    /* The teacher's system prompt, and the form of its answer; NULL: for patch.h's edits
     * of the whole text. */
    const char *system, *answer_form;
    /* What the teacher's prompt must not hold; borrowed until refinement_free. */
    const struct redaction *redaction;
    const struct refinement_hooks *hooks; /* borrowed until refinement_free */
    void *host;
    refinement_done *done;
    void *data;
};
struct refinement *refinement_start(const struct refinement_options *options);
void refinement_cancel(struct refinement *r);
void refinement_free(struct refinement *r); /* after done */

/* The best so far; borrowed. */
const char *refinement_text(const struct refinement *r);
/* {"rounds": [{"round", "edits": […], "why"?, "gate_before", "gate_after": null where the
 *   gate was not asked, "p"?, "accepted", "reason"}],
 *  "kept": rounds that were taken, "gate": {"start", "final"}, "stopped", "problem"?,
 *  "verdict"?: {"verdict", "start", "final", "lift": {"estimate", "low",
 *   "high", "p", "n_tests": lessons}}}; rates are 0…1. "stopped" is there at the end. New
 * reference. */
json_t *refinement_result(const struct refinement *r);
/* Of that object, as it stands in a result: two lines for a model or a person. NULL is
 * fine. */
void refinement_describe(const json_t *refinement, struct buf *out);
/* "round 2 of 4 (gate 25 % → 50 %): asking the gate"; borrowed. */
const char *refinement_doing(const struct refinement *r);
