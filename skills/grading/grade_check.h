#pragma once
/* grade_check: the parts of grading that the kinds of checks share.
 *
 * What is declared here runs on a thread of the pool and touches only its arguments,
 * unless said otherwise. */
#include "skills/grading/grade.h"
#include "skills/grading/grade_files.h"

/* An answer while it is judged. */
struct answer {
    char *text; /* UTF-8 (repaired), NUL-terminated, may hold U+0000 */
    size_t len;
    struct answer_code code; /* read at first need: answer_code_of */
    bool code_read;
    /* What an agent left in its folder and what the test had put there, {path: text, null
     * for what is none}; NULL for answers that are text alone. */
    const json_t *written, *given;
};
void answer_init(struct answer *a, const char *text, size_t len);
void answer_finish(struct answer *a);
/* Its blocks; behind them, as blocks of their own, the files that an agent wrote. */
const struct answer_code *answer_code_of(struct answer *a);
/* A file of the agent's folder or, of an answer that is text alone, of its blocks. False
 * where there is none; *ret NULL: it is no text. */
bool answer_file(struct answer *a, const char *path, const char **ret);

struct assertions {
    json_t *list; /* as struct grade's */
    unsigned passed, total;
    char *why; /* the first thing that could not be judged */
    bool failed;
    bool slow; /* a search met its limit: no further one is tried */
};
void assertions_finish(struct assertions *a);
/* found is stolen and may be NULL. Texts are cleaned and cut. */
void assertion_add(struct assertions *a, const char *check, enum grade_outcome outcome,
                   const json_t *expected, json_t *found, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* One that was not judged, for no fault of anyone. */
void assertion_skip(struct assertions *a, const char *check, const json_t *expected,
                    const char *why);
/* Text as evidence: repaired, cleaned, at most a few hundred bytes. New reference. */
json_t *evidence(const char *text, size_t len);
/* The first error of findings as evidence, or NULL. */
json_t *evidence_of_findings(const json_t *findings);

/* One check's value in full form against an answer. test: for the files. */
typedef void grade_check(struct answer *answer, const struct test_case *test,
                         const char *check, const json_t *expected,
                         struct assertions *out);
grade_check grade_search, grade_equals, grade_json_schema; /* grade_text.c */
grade_check grade_build_toml, grade_kernel_project;        /* grade_build.c */

/* The CUDA source that kernel_compiles or kernel_passes is about (malloc'ed), or NULL
 * with the assertion added. */
char *grade_kernel_source(struct answer *answer, const char *check,
                          const json_t *expected, struct assertions *out);

/* One wait of a grading, for a compiler, a validator or a judge. */
struct grade_step {
    void (*cancel)(struct grade_step *step); /* the step's done still follows */
};
/* What a step on the loop is about and whom it tells. Copied; what it names is borrowed
 * until done. */
typedef void grade_step_done(void *data);
struct grade_wait {
    const struct grade_room *room;
    const json_t *expected;
    struct assertions *out;
    grade_step_done *done;
    void *data;
};
/* Steps on the loop. start returns NULL when there is nothing to wait for: the assertions
 * are added then and `done` does not follow. Otherwise it follows once, also when
 * cancelled. source is taken over. */
struct grade_step *grade_compile_start(const struct grade_wait *wait, char *source);
struct grade_step *grade_validate_start(const struct grade_wait *wait, char *source);
struct grade_step *grade_judge_start(const struct grade_wait *wait,
                                     const struct test_case *test,
                                     const struct answer *answer);
/* One assertion a criterion that says why it was not asked about. */
void grade_judge_skip(const json_t *expected, struct assertions *out, const char *why);
