#pragma once
/* suite: the test cases of a skill.
 *
 * A test: {"id", "input", "files"?: {name: text}, "expected": {check: …}, "split"?:
 * "refine|gate|report", "lesson"?: what it tests, "marks"?: [quality marks], other
 * members are kept}. Tests with the same lesson share a split and count as one
 * observation in the statistics. Suites come from a skill (skill_meta.json,
 * evals/evals.json), from a file (ours; upskill's list or
 * {"cases": […]} with context.files and bare strings; skill-creator's evals) or from a
 * request. Checks: expected.h and docs/guide/tests.md. */
#include "base/json.h"

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
    const json_t *expected; /* canonical object: every check in its full form */
    enum test_split split;
    const char *lesson; /* what it tests; defaults to the id */
    const json_t *json; /* the whole test */
};
struct suite {
    json_t *json;            /* array of tests, canonical; owned */
    struct test_case *tests; /* borrow from json */
    size_t count;
    char digest[72]; /* "sha256:…" over ids, inputs, files and checks, in any order;
                        independent of marks, split and other members */
};

/* Reads any of the formats above, already parsed. -EINVAL names the wrong test and
 * member ("tests[3].expected.regex[0]: …"); unknown checks are errors. Missing ids are
 * generated; ids must be unique. skill-creator's expectations and expected_output become
 * a judge's criteria. */
int suite_from_json(struct suite *ret, const json_t *value, struct err *err);
/* A skill's own tests, from skill_meta.json, or from evals/evals.json if that has none.
 * -ENOENT if there are none, -EINVAL if one is invalid. */
int suite_of_skill(struct suite *ret, const struct skill *skill, struct err *err);
void suite_finish(struct suite *s);
/* Assigns splits to tests without one, in thirds, but at least 6 to the report split
 * first (24 = 8 refine, 8 gate, 8 report); tests of one lesson stay together.
 * Deterministic: the order is that of the lessons' digests, and a test keeps its split,
 * so that adding a test to a saved suite moves no other. */
void suite_split(struct suite *s);
/* The question for a student: the input, then the context files as fenced blocks, each
 * headed by its name. Freed by the caller. */
char *test_case_prompt(const struct test_case *test);
/* Writes the context files beneath root. */
int test_case_write(const struct test_case *test, const struct root *root,
                    struct err *err);
