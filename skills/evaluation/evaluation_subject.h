#pragma once
/* evaluation_subject: what is evaluated, read once.
 *
 * The skill, its older version, the trace and the tests are read at the start; what
 * happens to their files afterwards changes nothing. Which tests count: those of `split`
 * when it is said; otherwise the report split alone when the skill's provenance says that
 * it was refined (its refine and gate tests shaped it), and all tests when it was not. */
#include "skills/evaluation/arms.h"
#include "skills/format/skill.h"
#include "skills/grading/suite.h"

struct err;

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
    /* Without the files that hold tests; older.folder NULL: there is none. */
    struct skill skill, older;
    char name[SKILL_MAX_NAME * 4 + 1];
    char
        digest[72]; /* of what a student sees: a record in the skill does not change it */
    char *text;     /* what the skill arm holds of it: for the tests' quality */
    struct suite suite;
    const struct test_case **tests; /* those that count */
    size_t test_count;
    const char *split; /* which tests count: "report", …, "all"; maybe the request's */
    struct arm arms[ARM_KINDS];
    size_t arm_count;
    /* installed: private copies that agents' folders are filled from. */
    char *copies;
    struct skill copy, older_copy;
};

/* Blocking: call it off the loop. -ENOENT without a skill, -ENODATA without tests,
 * -EINVAL for tests that are none; err says. ret is to be finished in any case. */
int subject_read(struct subject *ret, const struct subject_request *request,
                 struct err *err);
void subject_finish(struct subject *s); /* removes the copies; blocking with them */
