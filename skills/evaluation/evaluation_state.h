#pragma once
/* evaluation_state: an evaluation's inside: evaluation.c decides which cells are asked
 * and when it is over, evaluation_cell.c brings a cell from the question to its grade;
 * results are read here. */
#include "skills/evaluation/evaluation.h"

#include <sys/queue.h>

struct standing;

/* One cell on its way. */
struct asking {
    struct evaluation *e;
    LIST_ENTRY(asking) link;
    struct cell *cell;
    struct model_call *call;
    struct agent_run *agent;
    struct grading *grading;
    json_t *record; /* what the answer leaves in the record */
};

struct evaluation {
    struct evaluation_options o;
    struct cell_grid grid;
    struct standing *standings;
    LIST_HEAD(, asking) asking;
    size_t in_flight, next, ended;
    unsigned pass; /* 0: all; 1: those that errored, once more */
    bool stopping, finished;
    enum evaluation_stop stop;
    json_t *served; /* {student: [as the endpoint named it]} */
    char *record_problem;
    uint64_t started_ms;
    uv_timer_t pump, deadline;
    uv_timer_cb on_pump;
    unsigned open_handles;
};

/* Ends when nothing is left, or starts more cells: from the loop, soon. */
void evaluation_pump(struct evaluation *e);

/* Asks; the cell ends some time later, or before this returns. */
void evaluation_cell_start(struct evaluation *e, struct cell *c);
/* answer (borrowed) is what the record says beside the cell, or NULL. */
void evaluation_cell_end(struct evaluation *e, struct cell *c, enum cell_state state,
                         json_t *answer);
