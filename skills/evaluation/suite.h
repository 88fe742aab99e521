#pragma once
/* suite: the test cases of a skill.
 *
 * A test: {"id", "input", "files"?: {name: text}, "expected": {check: …}, "split"?:
 * "refine|gate|report", "marks"?: [quality marks], other members kept}. Read from a
 * skill (skill_meta.json, evals/evals.json), from a file (ours; upskill's list or
 * {"cases": […]} with context.files and bare strings; skill-creator's evals) or from a
 * request. Checks: docs/architecture/evaluation.md and grade.h. */
#include "base/json.h"

#include <stdint.h>

struct err;
struct skill;

#define SUITE_MAX_TESTS 1000
#define SUITE_MAX_TEXT (256u << 10) /* of an input or a context file */

enum test_split { SPLIT_NONE, SPLIT_REFINE, SPLIT_GATE, SPLIT_REPORT };
const char *test_split_name(enum test_split split); /* "" for SPLIT_NONE */

struct test_case {
    const char *id;
    const char *input;
    const json_t *files;    /* object name -> text, or NULL */
    const json_t *expected; /* object, canonical: every check in its full form */
    enum test_split split;
    const json_t *json; /* the whole test */
};
struct suite {
    json_t *json; /* array of tests, canonical; owned */
    struct test_case *tests; /* borrow from json */
    size_t count;
    char digest[72]; /* "sha256:…" over the canonical tests, marks and split left out */
};

/* Any of the shapes above, already parsed. -EINVAL names the test and member that is
 * wrong ("tests[3].expected.regex[0]: …"); unknown checks are errors. Ids are made where
 * missing and must be unique. */
int suite_from_json(struct suite *ret, const json_t *value, struct err *err);
/* A skill's own tests; -ENOENT when it has none. */
int suite_of_skill(struct suite *ret, const struct skill *skill, struct err *err);
void suite_finish(struct suite *s);
/* Give tests without a split one, deterministically (by digest of the id, so that adding
 * a test moves no other): 24 = 8 refine, 8 gate, 8 report; another count in thirds, the
 * report split first served with 6. */
void suite_split(struct suite *s);
/* The tests as upskill reads them ({"cases": …} with contains), as skill-creator does
 * (evals.json), and as we do: new references. */
json_t *suite_to_upskill(const struct suite *s);
json_t *suite_to_evals(const struct suite *s, const char *skill_name);
