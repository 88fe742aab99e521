#pragma once
/* evaluation: asks every student every test in every arm, and grades the answers.
 *
 * This is the engine of skill/evaluate and of refinement. It works on arms (arms.h),
 * tests, students and the grid of cells (cells.h), not on files or params. Cells are
 * asked in the grid's order through the model client (which limits the requests in flight
 * per endpoint), graded as answers arrive, and written to the record as they end. An
 * errored cell is tried once more after all others. A student that cannot be asked at all
 * (unknown model, rejected key, no credit) is not asked again. Single-threaded; a request
 * object: the callback comes exactly once, from the loop. */
#include "skills/evaluation/arms.h"
#include "skills/evaluation/cells.h"
#include "skills/models/model_client.h"

struct agent_student;
struct call_origin;
struct evaluation;
struct run_writer;

#define EVALUATION_MAX_STUDENTS 16
/* The default number of cells in flight; doubled for several students, so that a slow one
 * does not delay the others. */
#define EVALUATION_CONCURRENCY 64u

/* Either a model behind HTTP or an agent's command line. */
struct student {
    const char *name; /* its name in results */
    const struct model *model;
    const struct agent_student *agent;
};

enum evaluation_stop {
    EVALUATION_COMPLETE,
    EVALUATION_BUDGET, /* tokens or money */
    EVALUATION_TIME,
    EVALUATION_CANCELLED,
};

typedef void evaluation_done(struct evaluation *e, enum evaluation_stop stop, void *data);
/* Called when a cell has ended and will not be asked again. answer (borrowed, or NULL)
 * holds the record's further members, including "output" and "assertions". */
typedef void evaluation_seen(const struct cell *cell, const json_t *answer, void *data);

/* Replaces the test's checks: returns whether an answer passes. called: the arguments
 * with which the arm's tool was called, or NULL; it may add "assertions" to record. */
typedef bool evaluation_ruled(const struct test_case *test, const json_t *called,
                              json_t *record);

/* Everything is borrowed until evaluation_free. */
struct evaluation_options {
    uv_loop_t *loop;
    const struct call_origin *origin; /* for graders; may be NULL */
    struct model_client *models;      /* may be NULL if all students are agents */
    const struct test_case *const *tests;
    size_t test_count;
    const struct arm *arms; /* 0 is the baseline, 1 the skill; then any others */
    size_t arm_count;
    const struct student *students;
    size_t student_count;
    const struct model *judge;   /* for `judge` checks; may be NULL */
    const json_t *model_aliases; /* for the name of a judge; or NULL */
    evaluation_ruled *rule;      /* or NULL */
    unsigned runs;
    /* the run number of the first answers in the cache: other numbers give fresh
     * answers */
    unsigned first_run;
    uint64_t seed;
    unsigned concurrency; /* 0 = EVALUATION_CONCURRENCY */
    struct model_budget *budget;
    unsigned deadline_ms;      /* for the whole evaluation; 0 = none */
    bool fresh;                /* neither reads nor writes the answer cache */
    const json_t *reuse;       /* cells of an earlier record (baseline.h), or NULL */
    struct run_writer *record; /* or NULL */
    evaluation_seen *seen;     /* or NULL */
    evaluation_done *done;
    void *data;
};

/* -E2BIG for too many cells; then there is nothing to free. */
int evaluation_start(const struct evaluation_options *options, struct evaluation **ret,
                     struct err *err);
/* Stops at once; done follows with EVALUATION_CANCELLED. */
void evaluation_cancel(struct evaluation *e);
void evaluation_free(struct evaluation *e); /* after done */

const struct cell_grid *evaluation_grid(const struct evaluation *e);
size_t evaluation_cells_done(const struct evaluation *e);
/* Why the record is incomplete, or NULL. */
const char *evaluation_record_problem(const struct evaluation *e);
/* Why a student could not be asked at all, or NULL. */
const char *evaluation_student_problem(const struct evaluation *e, size_t student);
/* [{"student", "arm", "done", "total", "passed", "failed", "refused", "errored",
 * "tokens", "cost", "eta_s"}]: new reference. */
json_t *evaluation_table(const struct evaluation *e);
