#pragma once
/* suite: the test cases of a skill.
 *
 * A test: {"id", "input", "files"?: {name: text}, "expected": {check: …}, "split"?:
 * "refine|gate|report", "lesson"?: what it tests, "marks"?: [quality marks], other
 * members kept}. Tests with the same lesson are looks at one thing: they share a split,
 * and in the statistics they are one observation. Read from a skill (skill_meta.json,
 * evals/evals.json), from a file (ours; upskill's list or
 * {"cases": […]} with context.files and bare strings; skill-creator's evals) or from a
 * request. Checks: expected.h and docs/guide/tests.md. */
#include "base/json.h"

#include <stdint.h>

struct err;
struct root;
struct skill;

#define SUITE_MAX_TESTS 1000
#define SUITE_MAX_TEXT (256u << 10) /* of an input or a context file */
#define SUITE_MAX_FILES 64          /* of a test */
#define SUITE_MAX_ID 128

enum test_split { SPLIT_NONE, SPLIT_REFINE, SPLIT_GATE, SPLIT_REPORT };
const char *test_split_name(enum test_split split); /* "" for SPLIT_NONE */

struct test_case {
    const char *id;
    const char *input;
    const json_t *files;    /* object name -> text, or NULL */
    const json_t *expected; /* object, canonical: every check in its full form */
    enum test_split split;
    const char *lesson; /* what it tests; the id where nothing is said */
    const json_t *json; /* the whole test */
};
struct suite {
    json_t *json;            /* array of tests, canonical; owned */
    struct test_case *tests; /* borrow from json */
    size_t count;
    char digest[72]; /* "sha256:…" over the ids, inputs, files and checks, whatever their
                        order; marks, split and other members change nothing */
};

/* Any of the shapes above, already parsed. -EINVAL names the test and member that is
 * wrong ("tests[3].expected.regex[0]: …"); unknown checks are errors. Ids are made where
 * missing and must be unique. What skill-creator says of a good answer (expectations,
 * expected_output) becomes a judge's criteria. */
int suite_from_json(struct suite *ret, const json_t *value, struct err *err);
/* A skill's own tests: those of skill_meta.json, or where it has none those of
 * evals/evals.json. -ENOENT when there are none, -EINVAL when one of them is no test. */
int suite_of_skill(struct suite *ret, const struct skill *skill, struct err *err);
void suite_finish(struct suite *s);
/* Give tests without a split one, in thirds, the report split first served with 6 (24 = 8
 * refine, 8 gate, 8 report), those of one lesson together. Deterministic: tests are taken
 * in the order of their lessons' digests, and a test that has a split keeps it, so that
 * adding one to a saved suite moves no other. */
void suite_split(struct suite *s);
/* What a student is asked: the input and, below it, the context files as fenced blocks,
 * each headed by its name. Freed by the caller. */
char *test_case_prompt(const struct test_case *test);
/* Its context files, beneath root. */
int test_case_write(const struct test_case *test, const struct root *root,
                    struct err *err);
