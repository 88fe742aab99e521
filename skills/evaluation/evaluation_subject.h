#pragma once
/* evaluation_subject: the skill, its older version, the trace and the tests of an
 * evaluation, read once at the start; later changes to their files have no effect.
 *
 * The tests that count: those of `split` if it is given; otherwise only the report split
 * if the skill's provenance says that it was refined (its refine and gate tests shaped
 * it), and all tests if not. */
#include "skills/evaluation/arms.h"
#include "skills/format/skill.h"
#include "skills/grading/suite.h"

struct subject_request {
    char *folder;        /* of the skill */
    char *previous;      /* folder of the older version, or NULL */
    char *trace;         /* path of a text, or NULL */
    char *tests_path;    /* or NULL */
    const json_t *tests; /* inline, or NULL: the skill's own */
    const char *split;   /* "report", "gate", "refine", "all", or NULL */
    bool placebo, again, installed;
};

struct subject {
    /* Without the files that hold tests; older.folder NULL: none. */
    struct skill skill, older;
    char name[SKILL_MAX_NAME * 4 + 1];
    char
        /* of the files that a student sees: adding a record to the skill does not change
         * it */
        digest[72];
    char *text; /* the skill arm's text of it, for the tests' quality */
    struct suite suite;
    const struct test_case **tests; /* those that count */
    size_t test_count;
    /* which tests count: "report", …, "all"; may point into the request */
    const char *split;
    struct arm arms[ARM_KINDS];
    size_t arm_count;
    /* installed: private copies, from which agents' folders are filled. */
    char *copies;
    struct skill copy, older_copy;
};

/* Blocking: call it off the loop. -ENOENT without a skill, -ENODATA without tests,
 * -EINVAL for invalid tests; err says which. Call subject_finish in any case. */
int subject_read(struct subject *ret, const struct subject_request *request,
                 struct err *err);
void subject_finish(struct subject *s); /* removes the copies; then blocking */
