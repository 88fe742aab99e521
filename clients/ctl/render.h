#pragma once
/* render: shows answers to a person. All functions write to standard output. */
#include "clients/ctl/terminal.h"

#include <math.h>

/* Compiler-style: place, severity, message, the source line with a caret, notes, fixes.
 * Quoted lines are read from disk, beneath the working folder and `roots` alone
 * (NULL-terminated, real paths; may be NULL). `text` (may be NULL) was sent in place of a
 * file, under the name `name`. `folder` (may be NULL): the files' names are relative to
 * it, and links that leave it are not followed. */
struct finding_sources {
    const char *name, *text, *folder;
    const char *const *roots;
};
void render_findings(const struct terminal *t, const json_t *findings,
                     const struct finding_sources *sources);

/* "hint: text" on a line of its own, wrapped; nothing if text is NULL. */
void render_labelled(const struct terminal *t, enum style style, const char *label,
                     const char *text);

/* The colour of an object's "verdict": green is good, red is bad, yellow is undecided. */
enum style verdict_style(const json_t *object);
/* A last line: the verdict, and what follows it, such as ", 3 trials". */
void render_verdict(const struct terminal *t, enum style style, const char *verdict,
                    const struct buf *rest);

/* kernel/validate's result: findings, a table of the trials, the first wrong elements
 * with a histogram, the measurements, how to reproduce it. */
void render_kernel_validate(const struct terminal *t, const json_t *params,
                            const json_t *result, const struct finding_sources *sources);
/* Its measurements, a line each: odd sizes, time, roofline, coalescing, bank conflicts,
 * divergence, work. Those missing from the result print nothing. */
void render_measures(const struct terminal *t, const json_t *result);
/* What a run saved (words.h). */
#define SAVED_WORDS                                                                      \
    "[{?saved=*}{saved.files|0} file[{!saved.files=1}s] in {saved.dir|?}\n]"             \
    "[{?saved.omitted}{saved.omitted} more would have been over 256 MiB\n]"              \
    "[not all was saved: {saved.error}\n]"
/* A word of a command line, quoted for a shell where that is needed. */
void render_word(const char *word);
/* What a kernel or a program wrote; nothing if it is "". */
void render_printed(const struct terminal *t, const char *title, const char *text);
/* kernel/run's result: the program's output, findings, failed calls, leaks, launches, the
 * verdict. */
void render_kernel_run(const struct terminal *t, const json_t *result,
                       const struct finding_sources *sources);
/* The results of skill/find, skill/list, skill/get, skill/check, and of installing and
 * removing. */
void render_found(const struct terminal *t, const json_t *result);
void render_skills(const struct terminal *t, const json_t *result);
void render_skill(const struct terminal *t, const json_t *result);
void render_skill_check(const struct terminal *t, const json_t *params,
                        const json_t *result);
void render_targets(const struct terminal *t, const json_t *result);
void render_packed(const struct terminal *t, const json_t *result);
/* skill/evaluate's result: the sentence; for each student the arms with their intervals,
 * the lift as a plot and the tests that changed; marks of tests, the record, the next
 * step. */
void render_evaluation(const struct terminal *t, const json_t *result);
/* The verdict of skill/evaluate or skill/trigger and its sentence. */
void render_sentence(const struct terminal *t, const json_t *result);
/* A student's model and verdict, and its sentence if there are several students. */
void render_student_head(const struct terminal *t, const json_t *student, bool alone);
/* skill/trigger's result: the sentence, rates with intervals, the queries with wrong
 * answers, what the rounds did, the better description as a diff. */
void render_trigger(const struct terminal *t, const json_t *result);
/* A diff in its colours, at most so many lines. */
void render_diff(const struct terminal *t, const char *indent, const char *diff,
                 size_t most);
/* A row for each test of a model: passes of each arm, and the first problem with the
 * skill. cells: from run/show. */
void render_cells(const struct terminal *t, const json_t *cells, const char *model);
/* Marks of tests that prove little, with their meanings; nothing if there are none. */
void render_marks(const struct terminal *t, const json_t *marks);
/* A line for each other skill of the same name that it hides. */
void render_hidden(const struct terminal *t, const json_t *row);
/* skill/generate's result: the skill's path, its sections, its lessons, tests, check, the
 * next commands; or the work order. */
void render_generation(const struct terminal *t, const json_t *result);
/* Its refinement: rounds with bars, start against result. NULL prints nothing. */
void render_refinement(const struct terminal *t, const json_t *refinement);
/* run/list and run/show: a table and a matrix, bars, or the requested text. */
void render_run_list(const struct terminal *t, const json_t *result);
void render_run(const struct terminal *t, const json_t *result);
/* run/marks: the number of marks and the preference they show. */
void render_preference(const struct terminal *t, const json_t *result);
/* The workers of daemon/status: a table, and their problems below it. */
void render_workers(const struct terminal *t, const json_t *workers);
/* daemon/status: a line for each part, the workers, and missing parts with the way to
 * install them. */
void render_status(const struct terminal *t, const json_t *result);
/* A member: an integer, 0 if missing; a number, NAN if it is not one. */
static inline json_int_t count_of(const json_t *object, const char *key) {
    return json_get_integer(object, key, 0);
}
static inline double number_of(const json_t *object, const char *key) {
    return json_get_number(object, key, NAN);
}
/* "n=1000 m=3", "" without sizes. Freed by the caller. */
char *render_sizes(const json_t *sizes);
/* Anything else: an indented outline of the JSON value. */
void render_value(const struct terminal *t, const json_t *value);

/* 0: good. 1: the answer is negative: no skill fits, a check is not ok, a target was
 * refused, a kernel did not pass, a skill did not help, there is nothing to teach, or a
 * draft is wanted. 2: there is no answer: the compiler ended without a verdict, no
 * backend here can run the kernel, the check spec proves nothing, no student gave an
 * answer that could be graded, or a new skill could not be installed or measured. */
int result_exit_status(const char *operation, const json_t *result);
/* Calls the render function of an operation. */
int render_result(const struct terminal *t, const char *operation, const json_t *params,
                  const json_t *result, const struct finding_sources *sources);

/* Columns of equal width; cells are cleaned text. Numbers are right-aligned. */
struct table;
struct table *table_new(const char *titles); /* with a tab between two */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void table_style(struct table *t, enum style style); /* of the cell just added */
/* A row in words (words.h): cells with a tab between them, each with a style's mark in
 * front or none (terminal.h). */
void table_row(struct table *t, const char *words, const json_t *value);
/* Names the pages of what a run found. */
void render_explain(const struct terminal *t, const json_t *findings);
void table_free(struct table *t);
void table_print_and_free(const struct terminal *terminal, struct table *t);
/* A table with a row for each item; false, and nothing, of an empty list. */
bool table_print(const struct terminal *terminal, const char *titles, const char *row,
                 const json_t *list);
