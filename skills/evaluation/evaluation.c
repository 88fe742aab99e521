#include "skills/evaluation/evaluation_state.h"

#include "base/clock.h"
#include "base/err.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/baseline.h"
#include "skills/evaluation/standing.h"
#include "skills/grading/grade.h"

/* Cells that are started in one turn of the loop: each copies and hashes its prompt. */
#define STARTS_PER_TURN 16

/* The next cell that is to be asked in this pass, or NULL. */
static struct cell *next_cell(struct evaluation *e) {
    while (e->next < e->grid.count) {
        struct cell *c = &e->grid.cells[e->next++];
        const char *problem = e->standings[c->student].problem;
        if (!(e->pass == 0 ? c->state == CELL_WAITING : c->deferred)) {
            continue;
        }
        if (!problem) {
            return c;
        }
        evaluation_cell_end(e, c, CELL_ERRORED, NULL); /* without asking */
    }
    return NULL;
}

static void fill(struct evaluation *e) {
    size_t usual = EVALUATION_CONCURRENCY * (e->o.student_count > 1 ? 2 : 1);
    size_t limit = e->o.concurrency ? e->o.concurrency : usual;
    unsigned started = 0;
    while (!e->stopping && e->in_flight < limit) {
        struct cell *c = next_cell(e);
        if (c) {
            evaluation_cell_start(e, c);
            if (++started == STARTS_PER_TURN) {
                evaluation_pump(e);
                break;
            }
        } else if (e->in_flight == 0 && e->pass == 0) {
            e->pass = 1; /* no request is in flight: retry the errored cells once */
            e->next = 0;
        } else {
            break;
        }
    }
}

/* --- the end --- */

static void skip_rest(struct evaluation *e) {
    for (size_t i = 0; i < e->grid.count; i++) {
        struct cell *c = &e->grid.cells[i];
        if (c->state == CELL_WAITING) {
            evaluation_cell_end(e, c, CELL_SKIPPED, NULL);
        } else if (c->deferred) { /* it will not be retried */
            evaluation_cell_end(e, c, CELL_ERRORED, NULL);
        }
    }
}

static void finish(struct evaluation *e) {
    e->finished = true;
    uv_timer_stop(&e->deadline);
    uv_timer_stop(&e->pump);
    skip_rest(e);
    e->o.done(e, e->stop, e->o.data);
}

static void on_pump(uv_timer_t *timer) {
    struct evaluation *e = container_of(timer, struct evaluation, pump);
    fill(e);
    if (e->in_flight == 0 && !e->finished &&
        (e->stopping || (e->pass == 1 && e->next >= e->grid.count))) {
        finish(e);
    }
}

static void stop_now(struct evaluation *e, enum evaluation_stop why) {
    if (e->finished || (e->stopping && e->stop != EVALUATION_BUDGET)) {
        return;
    }
    e->stopping = true;
    e->stop = why;
    for (struct asking *a = LIST_FIRST(&e->asking), *next; a; a = next) {
        next = LIST_NEXT(a, link);
        if (a->call) {
            model_call_cancel(a->call);
        } else if (a->agent) {
            agent_run_cancel(a->agent);
        } else if (a->grading) {
            grading_cancel(a->grading);
        }
    }
    evaluation_pump(e);
}

static void on_deadline(uv_timer_t *timer) {
    stop_now(container_of(timer, struct evaluation, deadline), EVALUATION_TIME);
}

void evaluation_cancel(struct evaluation *e) {
    stop_now(e, EVALUATION_CANCELLED);
}

/* --- life --- */

static void take_reused(struct evaluation *e) {
    for (size_t i = 0; e->o.reuse && i < e->grid.count; i++) {
        struct cell *c = &e->grid.cells[i];
        const struct arm *arm = &e->o.arms[c->arm];
        const struct student *s = &e->o.students[c->student];
        if (arm->kind == ARM_BASELINE &&
            baseline_take(e->o.reuse, s->name, e->o.tests[c->test]->id, arm->digest, c)) {
            evaluation_cell_end(e, c, c->state, NULL);
        }
    }
}

int evaluation_start(const struct evaluation_options *options, struct evaluation **ret,
                     struct err *err) {
    struct evaluation *e = xcalloc(1, sizeof *e);
    e->o = *options;
    int rc = cell_grid_init(&e->grid, options->student_count, options->arm_count,
                            options->test_count, options->runs, options->seed);
    if (rc < 0) {
        free(e);
        return err_set(err, rc,
                       "that makes more than %u answers: take fewer `tests`, `runs`, "
                       "`arms` or `students`",
                       CELLS_MAX);
    }
    e->standings = xcalloc(options->student_count, sizeof *e->standings);
    e->served = json_object();
    e->on_pump = on_pump;
    e->started_ms = clock_ms();
    uv_timer_init(options->loop, &e->pump);
    uv_timer_init(options->loop, &e->deadline);
    e->open_handles = 2;
    take_reused(e);
    if (options->deadline_ms) {
        uv_timer_start(&e->deadline, on_deadline, options->deadline_ms, 0);
    }
    evaluation_pump(e);
    *ret = e;
    return 0;
}

static void on_closed(uv_handle_t *handle) {
    struct evaluation *e = handle->data;
    if (--e->open_handles == 0) {
        free(e);
    }
}

void evaluation_free(struct evaluation *e) {
    for (size_t i = 0; i < e->o.student_count; i++) {
        standing_finish(&e->standings[i]);
    }
    free(e->standings);
    free(e->record_problem);
    json_decref(e->served);
    cell_grid_finish(&e->grid);
    e->pump.data = e->deadline.data = e;
    uv_close((uv_handle_t *)&e->pump, on_closed);
    uv_close((uv_handle_t *)&e->deadline, on_closed);
}

/* --- what is known --- */

const struct cell_grid *evaluation_grid(const struct evaluation *e) {
    return &e->grid;
}

size_t evaluation_cells_done(const struct evaluation *e) {
    return e->ended < e->grid.count ? e->ended : e->grid.count;
}

const char *evaluation_record_problem(const struct evaluation *e) {
    return e->record_problem;
}

const char *evaluation_student_problem(const struct evaluation *e, size_t student) {
    return e->standings[student].problem;
}

/* Seconds that the rest takes at the pace so far; null while there is none. */
static json_t *eta(const struct evaluation *e, size_t done, size_t total) {
    double elapsed = (double)(clock_ms() - e->started_ms) / 1000;
    return done && done <= total
               ? json_real(elapsed * (double)(total - done) / (double)done)
               : json_null();
}

static json_t *row(const struct evaluation *e, size_t student, size_t arm) {
    struct cell_tally t;
    size_t total = e->grid.tests * e->grid.runs;
    cell_tally(&e->grid, student, arm, &t);
    return json_pack(
        "{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "student",
        e->o.students[student].name, "arm", arm_name(e->o.arms[arm].kind), "done",
        (json_int_t)t.done, "total", (json_int_t)total, "passed", (json_int_t)t.passed,
        "failed", (json_int_t)t.failed, "refused", (json_int_t)t.refused, "errored",
        (json_int_t)t.errored, "tokens", (json_int_t)(t.input + t.output), "cost",
        t.cost < 0 ? json_null() : json_real(t.cost), "eta_s", eta(e, t.done, total));
}

json_t *evaluation_table(const struct evaluation *e) {
    json_t *table = json_array();
    for (size_t s = 0; s < e->o.student_count; s++) {
        for (size_t a = 0; a < e->o.arm_count; a++) {
            json_array_append_new(table, row(e, s, a));
        }
    }
    return table;
}
