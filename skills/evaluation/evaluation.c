#include "skills/evaluation/evaluation.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/baseline.h"
#include "skills/evaluation/evaluation_record.h"
#include "skills/evaluation/grade.h"
#include "skills/evaluation/run_record.h"
#include "skills/evaluation/standing.h"
#include "skills/evaluation/suite.h"

#include <errno.h>
#include <string.h>

#define MAX_WHY 300 /* bytes of a sentence that a cell keeps */
/* Cells that are started in one turn of the loop: each copies and hashes its prompt. */
#define STARTS_PER_TURN 16

/* One cell on its way. */
struct asking {
    struct evaluation *e;
    struct asking *next, **link;
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
    struct asking *asking;
    size_t in_flight, next, ended;
    unsigned pass; /* 0: all; 1: those that errored, once more */
    bool stopping, finished;
    enum evaluation_stop stop;
    json_t *served;
    char *record_problem;
    uint64_t started_ms;
    uv_timer_t pump, deadline;
    unsigned open_handles;
};

static void pump_soon(struct evaluation *e);

/* --- the end of a cell --- */

static void write_record(struct evaluation *e, const struct cell *c, json_t *answer) {
    struct err err = {0};
    autojson *record = evaluation_cell_record(&e->o, c, answer);
    if (e->o.record && !e->record_problem &&
        run_writer_cell(e->o.record, record, &err) < 0) {
        e->record_problem = xstrdup(err.msg);
    }
}

static void set_why(struct cell *c, const char *message) {
    char *why = message && *message
                    ? xstrndup(message, text_cut(message, strlen(message), MAX_WHY))
                    : NULL;
    free(c->why);
    c->why = why;
}

static bool will_try_again(const struct evaluation *e, const struct cell *c) {
    return c->state == CELL_ERRORED && c->again_useful && e->pass == 0 && !e->stopping &&
           !e->standings[c->student].problem;
}

/* answer (borrowed) is what the record says beside the cell, or NULL. */
static void cell_end(struct evaluation *e, struct cell *c, enum cell_state state,
                     json_t *answer) {
    c->state = state;
    c->deferred = will_try_again(e, c);
    bool happened = c->attempts || c->reused;
    if (state != CELL_SKIPPED && !c->deferred && happened) {
        write_record(e, c, answer);
        if (e->o.seen) {
            e->o.seen(c, answer, e->o.data);
        }
    }
    e->ended += !c->deferred;
}

static void asking_free(struct asking *a) {
    *a->link = a->next;
    if (a->next) {
        a->next->link = a->link;
    }
    a->e->in_flight--;
    json_decref(a->record);
    free(a);
}

static void asking_end(struct asking *a, enum cell_state state) {
    struct evaluation *e = a->e;
    cell_end(e, a->cell, state, a->record);
    asking_free(a);
    pump_soon(e);
}

/* --- grading --- */

static void on_graded(struct grading *g, const struct grade *grade, void *data) {
    (void)g;
    struct asking *a = data;
    struct cell *c = a->cell;
    a->grading = NULL;
    c->assertions_passed = grade->assertions_passed;
    c->assertions_total = grade->assertions_total;
    if (grade->assertions) {
        json_object_set(a->record, "assertions", (json_t *)(uintptr_t)grade->assertions);
    }
    if (grade->outcome != GRADE_ERRORED) {
        asking_end(a, grade->outcome == GRADE_PASSED ? CELL_PASSED : CELL_FAILED);
    } else if (a->e->stopping) {
        asking_end(a, CELL_SKIPPED); /* cancelled: nobody's error */
    } else {
        c->again_useful = true;
        set_why(c, grade->why);
        asking_end(a, CELL_ERRORED);
    }
}

static void grade_answer(struct asking *a, const char *text) {
    struct evaluation *e = a->e;
    struct grade_room room = {.loop = e->o.loop,
                              .origin = e->o.origin,
                              .models = e->o.models,
                              .judge = e->o.judge,
                              .model_aliases = e->o.model_aliases,
                              .budget = e->o.budget};
    if (e->stopping && e->stop != EVALUATION_BUDGET) {
        asking_end(a, CELL_SKIPPED);
        return;
    }
    e->standings[a->cell->student].answered++;
    a->grading =
        grading_start(&room, e->o.tests[a->cell->test], text, strlen(text), on_graded, a);
}

/* --- answers of models --- */

static void note_failure(struct evaluation *e, struct cell *c, const char *reason,
                         const char *message, const char *hint) {
    struct standing *s = &e->standings[c->student];
    c->again_useful = standing_note_failure(s, reason, message, hint);
    set_why(c, message);
}

static void note_served(struct evaluation *e, const struct cell *c, const char *model) {
    standing_note_served(e->served, e->o.students[c->student].name, model);
}

static void count_answer(struct evaluation *e, struct cell *c,
                         const struct model_answer *answer) {
    const struct model *m = e->o.students[c->student].model;
    c->requests += answer->requests;
    c->cached = answer->cached;
    c->reported = answer->usage.reported;
    c->input = answer->usage.input;
    c->output = answer->usage.output;
    c->cost = answer->outcome == MODEL_ANSWERED || answer->usage.input
                  ? model_cost(m, &answer->usage)
                  : 0;
    note_served(e, c, answer->served_model);
}

static void budget_spent(struct evaluation *e) {
    if (!e->stopping) {
        e->stopping = true;
        e->stop = EVALUATION_BUDGET;
    }
}

static void on_answer(struct model_call *call, const struct model_answer *answer,
                      void *data) {
    (void)call;
    struct asking *a = data;
    struct evaluation *e = a->e;
    struct cell *c = a->cell;
    a->call = NULL;
    if (answer->outcome == MODEL_CANCELLED || answer->outcome == MODEL_BUDGET) {
        if (answer->outcome == MODEL_BUDGET) {
            budget_spent(e);
        }
        c->requests += answer->requests;
        set_why(c, answer->message); /* of its last attempt that failed */
        asking_end(a, CELL_SKIPPED);
        return;
    }
    count_answer(e, c, answer);
    c->truncated = answer->outcome == MODEL_TRUNCATED;
    a->record = evaluation_answer_record(answer);
    switch (answer->outcome) {
    case MODEL_ANSWERED:
    case MODEL_TRUNCATED: /* what came is what the student had to say in this room */
        grade_answer(a, answer->text);
        break;
    case MODEL_REFUSED:
        set_why(c, answer->message);
        e->standings[c->student].answered++;
        asking_end(a, CELL_REFUSED);
        break;
    case MODEL_CONTEXT_CUT:
        note_failure(e, c, "context_cut", answer->message, answer->hint);
        asking_end(a, CELL_ERRORED);
        break;
    default:
        note_failure(e, c, answer->reason, answer->message, answer->hint);
        asking_end(a, CELL_ERRORED);
    }
}

/* --- answers of agents --- */

static void count_agent(struct evaluation *e, struct cell *c,
                        const struct agent_answer *answer) {
    c->requests += 1;
    c->reported = answer->reported;
    c->input = answer->input;
    c->output = answer->output;
    c->cost = answer->cost;
    c->activated = answer->activated;
    note_served(e, c, answer->served_model);
    if (e->o.budget) {
        e->o.budget->tokens += answer->input + answer->output;
        e->o.budget->cost += answer->cost > 0 ? answer->cost : 0;
    }
}

static void on_agent(struct agent_run *run, const struct agent_answer *answer,
                     void *data) {
    (void)run;
    struct asking *a = data;
    struct evaluation *e = a->e;
    a->agent = NULL;
    if (answer->failure == -ECANCELED && e->stopping) {
        asking_end(a, CELL_SKIPPED);
        return;
    }
    count_agent(e, a->cell, answer);
    a->record = evaluation_agent_record(answer);
    if (answer->failure == 0) {
        grade_answer(a, answer->text);
        return;
    }
    note_failure(e, a->cell, answer->failure == -ENOENT ? "not_found" : "agent_failed",
                 answer->why, NULL);
    asking_end(a, CELL_ERRORED);
}

/* --- asking --- */

static bool budget_is_spent(const struct model_budget *b) {
    return b && ((b->max_tokens && b->tokens >= b->max_tokens) ||
                 (b->max_cost > 0 && b->cost >= b->max_cost));
}

static int ask_model(struct asking *a, const struct arm *arm, const char *question,
                     struct err *err) {
    const struct evaluation_options *o = &a->e->o;
    const struct model *m = o->students[a->cell->student].model;
    const struct model_message message = {.role = "user", .text = question};
    struct model_request request = {
        .model = m,
        .system = arm->system,
        .messages = &message,
        .message_count = 1,
        .max_tokens = m->max_tokens,
        .at_once = o->concurrency,
        .run = o->first_run + a->cell->run + (arm->again ? ARM_AGAIN_RUNS : 0),
        .no_cache = o->fresh,
        .budget = o->budget,
    };
    return model_call_start(o->models, &request, NULL, on_answer, a, &a->call, err);
}

static int ask(struct asking *a, struct err *err) {
    struct evaluation *e = a->e;
    const struct student *s = &e->o.students[a->cell->student];
    const struct arm *arm = &e->o.arms[a->cell->arm];
    const struct test_case *test = e->o.tests[a->cell->test];
    autobuf question = BUF_INIT(ARM_MAX_TEXT);
    arm_question(arm, test, !s->agent, &question);
    if (question.full) {
        return err_set(err, -EMSGSIZE, "the test's input and files are over %u MiB",
                       ARM_MAX_TEXT >> 20);
    }
    if (!s->agent) {
        return ask_model(a, arm, question.data, err);
    }
    if (budget_is_spent(e->o.budget)) {
        budget_spent(e);
        return -EDQUOT;
    }
    a->agent = agent_run_start(e->o.loop, s->agent, arm->installed, test, question.data,
                               on_agent, a);
    return 0;
}

static void cell_start(struct evaluation *e, struct cell *c) {
    struct err err = {0};
    struct asking *a = xcalloc(1, sizeof *a);
    *a = (struct asking){.e = e, .cell = c, .next = e->asking, .link = &e->asking};
    if (a->next) {
        a->next->link = &a->next;
    }
    e->asking = a;
    e->in_flight++;
    c->state = CELL_RUNNING;
    c->deferred = false;
    c->attempts++;
    set_why(c, NULL);
    int rc = ask(a, &err);
    if (rc < 0) {
        if (rc != -EDQUOT) {
            note_failure(e, c, rc == -ENOSYS ? "no_http" : "bad_request", err.msg, NULL);
        }
        cell_end(e, c, rc == -EDQUOT ? CELL_SKIPPED : CELL_ERRORED, NULL);
        asking_free(a);
    }
}

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
        cell_end(e, c, CELL_ERRORED, NULL); /* without asking */
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
            cell_start(e, c);
            if (++started == STARTS_PER_TURN) {
                pump_soon(e);
                break;
            }
        } else if (e->in_flight == 0 && e->pass == 0) {
            e->pass = 1; /* nothing is on its way: the errored ones, once more */
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
            cell_end(e, c, CELL_SKIPPED, NULL);
        } else if (c->deferred) { /* its second attempt does not come */
            cell_end(e, c, CELL_ERRORED, NULL);
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

static void pump_soon(struct evaluation *e) {
    if (!e->finished) {
        /* Not 0: before libuv 1.45 that would run at once, before anything else. */
        uv_timer_start(&e->pump, on_pump, 1, 0);
    }
}

static void stop_now(struct evaluation *e, enum evaluation_stop why) {
    if (e->finished || (e->stopping && e->stop != EVALUATION_BUDGET)) {
        return;
    }
    e->stopping = true;
    e->stop = why;
    for (struct asking *a = e->asking, *next; a; a = next) {
        next = a->next;
        if (a->call) {
            model_call_cancel(a->call);
        } else if (a->agent) {
            agent_run_cancel(a->agent);
        } else if (a->grading) {
            grading_cancel(a->grading);
        }
    }
    pump_soon(e);
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
            cell_end(e, c, c->state, NULL);
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
                       "that makes more than %u answers: take fewer tests, runs, "
                       "arms or students",
                       CELLS_MAX);
    }
    e->standings = xcalloc(options->student_count, sizeof *e->standings);
    e->served = json_object();
    e->started_ms = clock_ms();
    uv_timer_init(options->loop, &e->pump);
    uv_timer_init(options->loop, &e->deadline);
    e->open_handles = 2;
    take_reused(e);
    if (options->deadline_ms) {
        uv_timer_start(&e->deadline, on_deadline, options->deadline_ms, 0);
    }
    pump_soon(e);
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

const json_t *evaluation_served(const struct evaluation *e) {
    return e->served;
}

const char *evaluation_student_problem(const struct evaluation *e, size_t student) {
    return e->standings[student].problem;
}

const char *evaluation_student_hint(const struct evaluation *e, size_t student) {
    return e->standings[student].hint;
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
