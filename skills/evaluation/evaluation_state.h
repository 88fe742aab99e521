#pragma once
/* evaluation_state: the internals of an evaluation: evaluation.c decides which cells are
 * asked and when it ends, evaluation_cell.c takes a cell from the question to its grade.
 * The files that compute results read it too. */
#include "skills/evaluation/evaluation.h"

#include <sys/queue.h>

struct standing;

/* One cell in progress. */
struct asking {
    struct evaluation *e;
    LIST_ENTRY(asking) link;
    struct cell *cell;
    struct model_call *call;
    struct agent_run *agent;
    struct grading *grading;
    json_t *record; /* the answer's members in the record */
};

struct evaluation {
    struct evaluation_options o;
    struct cell_grid grid;
    struct standing *standings;
    LIST_HEAD(, asking) asking;
    size_t in_flight, next, ended;
    unsigned pass; /* 0: all; 1: the errored ones, once more */
    bool stopping, finished;
    enum evaluation_stop stop;
    json_t *served; /* {student: [the endpoint's name for the model]} */
    char *record_problem;
    uint64_t started_ms;
    uv_timer_t pump, deadline;
    uv_timer_cb on_pump;
    unsigned open_handles;
};

/* Starts more cells, or ends the evaluation if none is left; runs soon, from the loop. */
void evaluation_pump(struct evaluation *e);

/* Asks; the cell ends later, or before this returns. */
void evaluation_cell_start(struct evaluation *e, struct cell *c);
/* answer (borrowed) holds the record's further members, or NULL. */
void evaluation_cell_end(struct evaluation *e, struct cell *c, enum cell_state state,
                         json_t *answer);
