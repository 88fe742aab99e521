#pragma once
/* grade: does an answer pass a test?
 *
 * Checks of a test's `expected` (all must pass):
 *   contains, not_contains  strings, case-insensitive (Unicode simple folding)
 *   regex, not_regex        PCRE2 with limits; {"pattern", "flags"?: "imsx"} or a string
 *   json_schema             the answer (or its only or first ```json block) fits it
 *   equals                  the trimmed answer, or {"number", "tolerance"} found last
 *   build_toml              {"valid": true}: the answer's build.toml passes kernel-builder's
 *                           rules
 *   kernel_project          the answer's files make a whole kernel-builder project
 *   kernel_compiles         {"entry"?, "arch"?}: the answer's CUDA block compiles
 *   kernel_passes           {"spec": check spec, …}: it compiles and is right (asks the
 *                           validator; "not available" is an error of the cell, not a
 *                           failure of the student)
 *   judge                   {"criteria": […], "model"?}: a model judges; never the only
 *                           check
 * Answers come as text; code is taken from fenced blocks (cmark), the last whole one of
 * the right language unless a check says otherwise. Answers are hostile: bounded, never
 * executed here. */
#include "base/json.h"
#include "skills/evaluation/suite.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct grading;
struct model_client;
struct model;
struct model_budget;

/* What the daemon lends: compile or validate a kernel. kernel_compiles: as skill_check.h's
 * grader. validate (NULL until it exists): params as kernel/validate's, done with its
 * result (stolen) or NULL and why. */
typedef void kernel_validated(void *data, json_t *result, const char *why);
struct kernel_validator {
    void *(*start)(void *host, const json_t *params, kernel_validated *done, void *data);
    void (*cancel)(void *handle);
};
void grade_set_validator(const struct kernel_validator *validator);

struct grade_room {
    uv_loop_t *loop;
    const struct call_origin *origin;
    struct model_client *models;  /* for judge; may be NULL */
    const struct model *judge;    /* the default judge; may be NULL */
    struct model_budget *budget;
};

enum grade_outcome {
    GRADE_PASSED,
    GRADE_FAILED,
    GRADE_ERRORED, /* could not be judged: no compiler, judge unreachable, … */
};
struct grade {
    enum grade_outcome outcome;
    unsigned assertions_passed, assertions_total;
    /* [{"check", "passed", "expected", "found"?, "message"}]: one per assertion, evidence
     * cut to a few hundred bytes. Borrowed. */
    const json_t *assertions;
    const char *why; /* of GRADE_ERRORED */
};
/* Exactly once, from the loop, never from inside grading_start. Cancelled: errored. */
typedef void grade_done(struct grading *g, const struct grade *grade, void *data);
/* test and room are borrowed until done; answer is copied. */
struct grading *grading_start(const struct grade_room *room, const struct test_case *test,
                              const char *answer, size_t len, grade_done *done,
                              void *data);
void grading_cancel(struct grading *g);

/* Quality of the tests themselves. Marks: "passes_empty" (passes without any answer),
 * "quotes_skill" (an answer that is the skill's own text passes), "echoes_input" (the
 * test's own input passes), "always_passes" and "never_passes" (in both arms, added after
 * an evaluation), "judge_only". */
struct quality;
/* [{"id", "marks": […], "message"}] for the tests with marks (stolen). */
typedef void quality_done(struct quality *q, json_t *marks, void *data);
struct quality *quality_start(const struct grade_room *room, const struct suite *suite,
                              const char *skill_text, size_t len, quality_done *done,
                              void *data);
void quality_cancel(struct quality *q); /* done follows with NULL */
