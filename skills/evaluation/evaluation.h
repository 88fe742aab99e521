#pragma once
/* evaluation: asks every student every test in every arm, and grades the answers.
 *
 * The engine beneath skill/evaluate and refinement: it knows no files and no params, only
 * arms (arms.h), tests, students and the grid of cells (cells.h). Cells are asked in the
 * grid's order through the model client (which limits what is in flight per endpoint),
 * graded as answers come, and written to the record as they end. An errored cell is tried
 * once more after all others. A student that cannot be asked at all (no such model, a
 * refused key, no money) is not asked again.
 *
 * Single-threaded; a request object: the callback comes exactly once, from the loop. */
#include "skills/evaluation/arms.h"
#include "skills/evaluation/cells.h"
#include "skills/models/model_client.h"

struct agent_student;
struct call_origin;
struct err;
struct evaluation;
struct run_writer;
struct test_case;

#define EVALUATION_MAX_STUDENTS 16
/* Cells in flight when nothing else is said; twice as many for several students, so that
 * a slow one does not hold up the others. */
#define EVALUATION_CONCURRENCY 64u

/* Either a model behind HTTP or an agent's command line. */
struct student {
    const char *name; /* what results call it */
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
/* A cell has ended and will not be asked again; answer (borrowed, or NULL) holds what the
 * record says beside it, "output" and "assertions" among it. */
typedef void evaluation_seen(const struct cell *cell, const json_t *answer, void *data);

/* In place of the test's checks: does an answer pass? called: what the arm's tool was
 * called with, or NULL; the verdict may add "assertions" to record. */
typedef bool evaluation_ruled(const struct test_case *test, const json_t *called,
                              json_t *record);

/* Everything is borrowed until evaluation_free. */
struct evaluation_options {
    uv_loop_t *loop;
    const struct call_origin *origin; /* for graders; may be NULL */
    struct model_client *models;      /* may be NULL when all students are agents */
    const struct test_case *const *tests;
    size_t test_count;
    const struct arm *arms; /* 0 is the baseline, 1 the skill; then any others */
    size_t arm_count;
    const struct student *students;
    size_t student_count;
    const struct model *judge;   /* of `judge` checks; may be NULL */
    const json_t *model_aliases; /* for the name of a judge; or NULL */
    evaluation_ruled *rule;      /* or NULL */
    unsigned runs;
    unsigned first_run; /* the answers' number in the cache: others are fresh draws */
    uint64_t seed;
    unsigned concurrency; /* 0 = EVALUATION_CONCURRENCY */
    struct model_budget *budget;
    unsigned deadline_ms;      /* of the whole; 0 = none */
    bool fresh;                /* neither read nor write the answer cache */
    const json_t *reuse;       /* cells of an earlier record (baseline.h), or NULL */
    struct run_writer *record; /* or NULL */
    evaluation_seen *seen;     /* or NULL */
    evaluation_done *done;
    void *data;
};

/* -E2BIG for too many cells; nothing is to be freed then. */
int evaluation_start(const struct evaluation_options *options, struct evaluation **ret,
                     struct err *err);
/* Stop at once; done follows with EVALUATION_CANCELLED. */
void evaluation_cancel(struct evaluation *e);
void evaluation_free(struct evaluation *e); /* after done */

const struct cell_grid *evaluation_grid(const struct evaluation *e);
size_t evaluation_cells_done(const struct evaluation *e);
/* Why the record is not whole, or NULL. */
const char *evaluation_record_problem(const struct evaluation *e);
/* Why a student could not be asked at all, or NULL. */
const char *evaluation_student_problem(const struct evaluation *e, size_t student);
/* [{"student", "arm", "done", "total", "passed", "failed", "refused", "errored",
 * "tokens", "cost", "eta_s"}]: new reference. */
json_t *evaluation_table(const struct evaluation *e);
