#pragma once
/* grade: does an answer pass a test?
 *
 * Checks of a test's `expected`; all must pass (docs/guide/tests.md):
 *   contains, not_contains
 *       strings, case-insensitive (Unicode simple folding)
 *   regex, not_regex
 *       PCRE2 with limits; {"pattern", "flags"?: "imsx"} or a string
 *   json_schema
 *       the answer (or its only or first ```json block) matches the schema
 *   equals
 *       the trimmed answer, or {"number", "tolerance"}: the last number in it
 *   build_toml
 *       {"valid": true, "values"?: {pointer: value}}: the answer's build.toml passes
 *       kernel-builder's rules
 *   kernel_project
 *       {"valid": true, "with_files"?}: the answer's files (on top of the test's) contain
 *       a valid build.toml and the files that it names
 *   kernel_compiles
 *       {"entry"?, "arch"?, "path"?}: the answer's CUDA block compiles
 *   kernel_passes
 *       {"spec": check spec, "entry"?, "arch"?}: it compiles and is right (asks the
 *       validator; "not available" is an error of the cell, no failure of the student)
 *   files
 *       {path: true|false|checks of its text}: files that an agent left in its folder, or
 *       that the answer contains
 *   judge
 *       {"criteria": […], "model"?}: a model judges each criterion; asked only if nothing
 *       else failed
 *
 * Code is taken from fenced blocks (cmark), the last complete one of the right language
 * unless a check says otherwise. Answers are hostile: bounded and never executed here;
 * long work runs on a thread. */
#include "skills/grading/suite.h"

#include <uv.h>

struct call_origin;
struct grading;
struct model;
struct model_budget;
struct model_client;

#define GRADE_MAX_ANSWER (4u << 20) /* bytes; a longer one is an error */

/* Validates a kernel; call_lent() provides it like skill_check.h's grader. params:
 * kernel/validate's, with the check spec's members and source, name and arch. Calls done
 * exactly once with the result (stolen), or NULL and why. start returns NULL if it cannot
 * validate; then done does not follow. */
typedef void kernel_validated(void *data, json_t *result, const char *why);
struct kernel_validator {
    void *(*start)(const struct call_origin *origin, const json_t *params,
                   kernel_validated *done, void *data);
    void (*cancel)(void *handle); /* done still follows, not from inside */
};
#define KERNEL_VALIDATOR_LENT "kernel_validator"

struct grade_room {
    uv_loop_t *loop;
    const struct call_origin *origin;
    struct model_client *models; /* for judge; may be NULL */
    const struct model *judge;   /* the default judge; may be NULL */
    const json_t *model_aliases; /* the configuration's, for a judge's name; or NULL */
    struct model_budget *budget; /* or NULL */
    const json_t *written; /* files that an agent left: {path: text, or null for other
                              contents; "" if there are more}; copied; NULL: the
                              answer is only text */
    bool unjudged;         /* do not ask judges: their checks count as passed */
};

enum grade_outcome {
    GRADE_PASSED,
    GRADE_FAILED,
    GRADE_ERRORED, /* a check could not be judged: no compiler, judge unreachable, … */
};
struct grade {
    enum grade_outcome outcome;
    unsigned assertions_passed, assertions_total;
    /* [{"check", "passed", "expected", "found"?, "message"}]: one per assertion, evidence
     * cut to a few hundred bytes; passed is null if it was not judged. Borrowed. */
    const json_t *assertions;
    const char *why; /* of GRADE_ERRORED */
};
/* Exactly once, from the loop, never from inside grading_start. Cancelled: errored. */
typedef void grade_done(struct grading *g, const struct grade *grade, void *data);
/* room is copied; what it points to and test are borrowed until done. answer is copied.
 */
struct grading *grading_start(const struct grade_room *room, const struct test_case *test,
                              const char *answer, size_t len, grade_done *done,
                              void *data);
void grading_cancel(struct grading *g); /* done follows */

#include "skills/grading/quality.h"

/* Synchronous, for checks of the text alone (contains to build_toml above): whether the
 * answer passes expected (canonical). False if there are other checks.
 * Blocking; the answer must be short. */
bool grade_text_passes(const json_t *expected, const char *answer);
