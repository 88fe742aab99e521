#pragma once
/* render: answers as a person wants to read them. All write to standard output. */
#include "base/json.h"
#include "clients/ctl/terminal.h"

/* Compiler-style: place, severity, message, the source line with a caret, notes, fixes.
 * Files are read from disk for the quoted lines. `text` (may be NULL) was sent instead of
 * one, under the name `name`. `folder` (may be NULL): the files' names are relative to
 * it, and no link is followed out of it. */
struct finding_sources {
    const char *name, *text, *folder;
};
void render_findings(const struct terminal *t, const json_t *findings,
                     const struct finding_sources *sources);

/* ", 2 errors, 1 note": how many of each; false where there are none. */
bool render_severities(const json_t *findings);

/* kernel/validate's: findings, a table of the trials, the first wrong elements with a
 * histogram, what was measured, how to see it again. */
void render_kernel_validate(const struct terminal *t, const json_t *params,
                            const json_t *result, const struct finding_sources *sources);
/* Its measures, a line each: odd sizes, time, roofline, coalescing, bank conflicts,
 * divergence, work. What the result does not have prints nothing. */
void render_measures(const struct terminal *t, const json_t *result);
/* kernel/run's: what the program printed, findings, failed calls, leaks, launches, the
 * verdict. */
void render_kernel_run(const struct terminal *t, const json_t *result,
                       const struct finding_sources *sources);
/* Cells of a bar beside so many columns of words, fitting the terminal. */
int render_bar_cells(const struct terminal *t, int words);
/* skill/find's, skill/list's, skill/get's, skill/check's, and those of installing and
 * removing. */
void render_found(const struct terminal *t, const json_t *result);
void render_skills(const struct terminal *t, const json_t *result);
void render_skill(const struct terminal *t, const json_t *result);
void render_skill_check(const struct terminal *t, const json_t *params,
                        const json_t *result);
void render_targets(const struct terminal *t, const json_t *result);
/* skill/evaluate's: the sentence; for each student the arms with their intervals, the
 * lift as a plot and the tests that changed; marks of tests, the record, the next step.
 */
void render_evaluation(const struct terminal *t, const json_t *result);
/* A student's model and verdict, and its sentence where it is not the only one. */
void render_student_head(const struct terminal *t, const json_t *student, bool alone,
                         enum style style);
/* skill/trigger's: the sentence, rates with intervals, the queries that went wrong, what
 * the rounds did, the better description as a diff. */
void render_trigger(const struct terminal *t, const json_t *result);
/* A row for each test that a model was asked: passes of each arm, and the first thing
 * that was wrong with the skill. cells: as run/show gives them. */
void render_cells(const struct terminal *t, const json_t *cells, const char *model);
/* Marks of tests that prove little, with what each means; nothing where there are none.
 */
void render_marks(const struct terminal *t, const json_t *marks);
/* A line for each other skill of its name that is hidden by it. */
void render_hidden(const struct terminal *t, const json_t *row);
/* skill/generate's: where the skill was saved, its sections, what it tells, tests, check,
 * the next commands; or the work order. */
void render_generation(const struct terminal *t, const json_t *result);
/* Its refinement: rounds with bars, start against result. NULL prints nothing. */
void render_refinement(const struct terminal *t, const json_t *refinement);
/* run/list and run/show: a table and a matrix, bars, or the text that was asked for. */
void render_run_list(const struct terminal *t, const json_t *result);
void render_run(const struct terminal *t, const json_t *result);
/* run/marks': how many, and what they come to. */
void render_preference(const struct terminal *t, const json_t *result);
/* The workers of daemon/status: a table, and below it what went wrong. */
void render_workers(const struct terminal *t, const json_t *workers);
/* daemon/status: a line for each part, the workers, and what is missing with the way to
 * get it. */
void render_status(const struct terminal *t, const json_t *result);
/* A member: a whole number, 0 where there is none; a number, NAN where it is none. */
json_int_t count_of(const json_t *object, const char *key);
double number_of(const json_t *object, const char *key);
/* "n=1000 m=3", "" without sizes. Freed by the caller. */
char *render_sizes(const json_t *sizes);
/* Anything else: an indented outline of the JSON value. */
void render_value(const struct terminal *t, const json_t *value);

/* 0 good, 1 the answer is no: no skill fits, a check is not ok, a target was refused, a
 * kernel did not pass, a skill was not seen to help, there is nothing to teach or a draft
 * is wanted. 2, there is no answer: the compiler ended without a verdict, nothing here
 * can run the kernel, the check spec proves nothing, no student gave an answer that could
 * be graded, a skill just made could not be installed or measured. */
int result_exit_status(const char *operation, const json_t *result);
/* The right one for an operation. */
int render_result(const struct terminal *t, const char *operation, const json_t *params,
                  const json_t *result, const struct finding_sources *sources);

/* Columns of equal width; cells are cleaned text. Numbers are right-aligned. */
struct table;
struct table *table_new(const char *const *titles); /* NULL-terminated */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void table_style(struct table *t, enum style style); /* of the cell just added */
void table_print_and_free(const struct terminal *terminal, struct table *t);
