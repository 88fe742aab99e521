#pragma once
/* grade_check: declarations shared by the kinds of checks. Unless noted otherwise, these
 * functions run on a thread of the pool and use only their arguments. */
#include "skills/grading/grade.h"
#include "skills/grading/grade_files.h"

/* An answer that is being graded. */
struct answer {
    char *text; /* UTF-8 (repaired), NUL-terminated, may contain U+0000 */
    size_t len;
    struct answer_code code; /* read at first use: answer_code_of */
    bool code_read;
    /* The files that an agent left in its folder, and those that the test had put there,
     * {path: text, null if it is not text}; NULL for answers that are only text. */
    const json_t *written, *given;
};
void answer_init(struct answer *a, const char *text, size_t len);
void answer_finish(struct answer *a);
/* Its code blocks, followed by the files that an agent wrote, as blocks. */
const struct answer_code *answer_code_of(struct answer *a);
/* A file of the agent's folder or, for an answer that is only text, of its blocks. False
 * if there is none; *ret NULL: it is not text. */
bool answer_file(struct answer *a, const char *path, const char **ret);

struct assertions {
    json_t *list; /* as in struct grade */
    unsigned passed, total;
    char *why; /* the first reason why something could not be graded */
    bool failed;
    bool slow; /* a search reached its limit: no further one is tried */
};
void assertions_finish(struct assertions *a);
/* found is stolen and may be NULL. Texts are cleaned and cut. */
void assertion_add(struct assertions *a, const char *check, enum grade_outcome outcome,
                   const json_t *expected, json_t *found, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Adds an assertion that was not graded, through nobody's fault. */
void assertion_skip(struct assertions *a, const char *check, const json_t *expected,
                    const char *why);
/* Text as evidence: repaired, cleaned, at most a few hundred bytes. New reference. */
json_t *evidence(const char *text, size_t len);
/* The first error of findings as evidence, or NULL. */
json_t *evidence_of_findings(const json_t *findings);

/* Grades one check's value, in full form, against an answer. test: for the files. */
typedef void grade_check(struct answer *answer, const struct test_case *test,
                         const char *check, const json_t *expected,
                         struct assertions *out);
grade_check grade_search, grade_equals, grade_json_schema; /* grade_text.c */
grade_check grade_build_toml, grade_kernel_project;        /* grade_build.c */

/* The CUDA source for kernel_compiles or kernel_passes (malloc'ed), or NULL with the
 * assertion added. */
char *grade_kernel_source(struct answer *answer, const char *check,
                          const json_t *expected, struct assertions *out);

/* One asynchronous step of a grading: a compiler, a validator or a judge. */
struct grade_step {
    void (*cancel)(struct grade_step *step); /* the step's done still follows */
};
/* The input of a step on the loop, and its callback. Copied; its pointers are borrowed
 * until done. */
typedef void grade_step_done(void *data);
struct grade_wait {
    const struct grade_room *room;
    const json_t *expected;
    struct assertions *out;
    grade_step_done *done;
    void *data;
};
/* Steps on the loop. start returns NULL if there is nothing to wait for: then the
 * assertions are already added and `done` is not called. Otherwise done is called once,
 * also if cancelled. Takes ownership of source. */
struct grade_step *grade_compile_start(const struct grade_wait *wait, char *source);
struct grade_step *grade_validate_start(const struct grade_wait *wait, char *source);
struct grade_step *grade_judge_start(const struct grade_wait *wait,
                                     const struct test_case *test,
                                     const struct answer *answer);
/* Adds one assertion per criterion that says why it was not graded. */
void grade_judge_skip(const json_t *expected, struct assertions *out, const char *why);
