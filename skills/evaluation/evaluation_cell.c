/* A cell of an evaluation: asked, answered, graded, written down. */
#include "skills/evaluation/evaluation_state.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "skills/evaluation/agent_files.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/standing.h"
#include "skills/grading/grade.h"
#include "skills/runs/run_record.h"

#define MAX_WHY 300 /* bytes of a sentence that a cell keeps */

/* --- what is written down --- */

static void set_output(json_t *record, const char *text) {
    if (*text) {
        run_cell_set_output(record, text, strlen(text));
    }
}

static json_t *tokens_json(uint64_t input, uint64_t output, bool reported) {
    return json_pack("{s:I,s:I,s:I,s:b}", "input", (json_int_t)input, "output",
                     (json_int_t)output, "total", (json_int_t)(input + output),
                     "reported", reported);
}

static json_t *answer_record(const struct model_answer *answer) {
    const struct model_usage *u = &answer->usage;
    json_t *tokens = tokens_json(u->input, u->output, u->reported);
    autojson *parts =
        json_pack("{s:I,s:I,s:I}", "cache_read", (json_int_t)u->cache_read, "cache_write",
                  (json_int_t)u->cache_write, "thinking", (json_int_t)u->thinking);
    json_object_update(tokens, parts);
    json_t *record = json_pack("{s:o,s:o,s:o,s:f}", "tokens", tokens, "served_model",
                               json_clean_z(answer->served_model), "stop_reason",
                               json_clean_z(answer->stop_reason), "ms", answer->ms);
    set_output(record, answer->text);
    return record;
}

static json_t *agent_record(const struct agent_answer *answer) {
    json_t *record =
        json_pack("{s:o,s:o,s:f,s:b}", "tokens",
                  tokens_json(answer->input, answer->output, answer->reported),
                  "served_model", json_clean_z(answer->served_model), "ms", answer->ms,
                  "activated", answer->activated);
    json_object_set_new(record, "files", agent_files_sizes(answer->files));
    set_output(record, answer->text);
    return record;
}

static const char *outcome(const struct cell *c) {
    return c->state == CELL_PASSED    ? "passed"
           : c->state == CELL_FAILED  ? "failed"
           : c->state == CELL_REFUSED ? "refused"
                                      : "errored";
}

/* The record of a finished cell (run_record.h). `answer`, which may be NULL, is stored
 * beside it. */
static json_t *cell_record(const struct evaluation_options *o, const struct cell *c,
                           const json_t *answer) {
    const struct student *s = &o->students[c->student];
    const struct test_case *test = o->tests[c->test];
    const struct arm *arm = &o->arms[c->arm];
    json_t *record = json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:s,s:i,s:i,s:o,s:i,s:b,s:i,s:s,s:o*,s:o*,s:o*}", "model",
        s->name, "arm", arm_name(arm->kind), "test", test->id, "split",
        test_split_name(test->split), "run", (json_int_t)c->run + 1, "outcome",
        outcome(c), "assertions_passed", (int)c->assertions_passed, "assertions_total",
        (int)c->assertions_total, "cost", c->cost < 0 ? json_null() : json_real(c->cost),
        "requests", (int)c->requests, "cached", c->cached, "attempts", (int)c->attempts,
        "prompt_digest", arm->digest, "why",
        c->why && !cell_counts(c) ? json_clean_z(c->why) : NULL, "reused",
        c->reused ? json_true() : NULL, "base_url",
        s->model ? json_clean_z(s->model->base_url) : NULL);
    autojson *tokens =
        json_pack("{s:o}", "tokens", tokens_json(c->input, c->output, c->reported));
    json_object_update_missing(record, (json_t *)(uintptr_t)answer);
    json_object_update_missing(record, tokens);
    return record;
}

/* --- the end of a cell --- */

static void write_record(struct evaluation *e, const struct cell *c, json_t *answer) {
    struct err err = {0};
    autojson *record = cell_record(&e->o, c, answer);
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

void evaluation_pump(struct evaluation *e) {
    if (!e->finished) {
        /* Not 0: before libuv 1.45 that would run at once, before anything else. */
        uv_timer_start(&e->pump, e->on_pump, 1, 0);
    }
}

void evaluation_cell_end(struct evaluation *e, struct cell *c, enum cell_state state,
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
    LIST_REMOVE(a, link);
    a->e->in_flight--;
    json_decref(a->record);
    free(a);
}

static void asking_end(struct asking *a, enum cell_state state) {
    struct evaluation *e = a->e;
    evaluation_cell_end(e, a->cell, state, a->record);
    asking_free(a);
    evaluation_pump(e);
}

/* --- grading --- */

static void on_graded(struct grading *, const struct grade *grade, void *data) {
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
        asking_end(a, CELL_SKIPPED); /* cancelled: not an error */
    } else {
        c->again_useful = true;
        set_why(c, grade->why);
        asking_end(a, CELL_ERRORED);
    }
}

static void grade_answer(struct asking *a, const char *text, const json_t *written) {
    struct evaluation *e = a->e;
    struct grade_room room = {.loop = e->o.loop,
                              .origin = e->o.origin,
                              .models = e->o.models,
                              .judge = e->o.judge,
                              .model_aliases = e->o.model_aliases,
                              .budget = e->o.budget,
                              .written = written};
    if (e->stopping && e->stop != EVALUATION_BUDGET) {
        asking_end(a, CELL_SKIPPED);
        return;
    }
    e->standings[a->cell->student].answered++;
    a->grading =
        grading_start(&room, e->o.tests[a->cell->test], text, strlen(text), on_graded, a);
}

/* --- answers of models --- */

/* Judges by the caller's rule which tool the answer called, if any. An answer that was
 * cut off before its first word may still contain a call. */
static void rule_answer(struct asking *a, const struct model_answer *answer) {
    struct cell *c = a->cell;
    if (answer->outcome == MODEL_TRUNCATED && !*answer->text) {
        set_why(c, "it was cut off before it said anything: give it a larger max_tokens");
        asking_end(a, CELL_ERRORED);
        return;
    }
    a->e->standings[c->student].answered++;
    c->activated = answer->json;
    bool passed = a->e->o.rule(a->e->o.tests[c->test], answer->json, a->record);
    c->assertions_total = 1;
    c->assertions_passed = passed;
    asking_end(a, passed ? CELL_PASSED : CELL_FAILED);
}

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

static void on_answer(struct model_call *, const struct model_answer *answer,
                      void *data) {
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
    a->record = answer_record(answer);
    switch (answer->outcome) {
    case MODEL_ANSWERED:
    case MODEL_TRUNCATED: /* a cut answer is graded as it is */
        if (e->o.rule) {
            rule_answer(a, answer);
        } else {
            grade_answer(a, answer->text, NULL);
        }
        break;
    case MODEL_REFUSED:
        set_why(c, answer->message);
        e->standings[c->student].answered++;
        asking_end(a, CELL_REFUSED);
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

static void on_agent(struct agent_run *, const struct agent_answer *answer, void *data) {
    struct asking *a = data;
    struct evaluation *e = a->e;
    a->agent = NULL;
    if (answer->failure == -ECANCELED && e->stopping) {
        asking_end(a, CELL_SKIPPED);
        return;
    }
    count_agent(e, a->cell, answer);
    a->record = agent_record(answer);
    if (answer->failure == 0) {
        grade_answer(a, answer->text, answer->files);
        return;
    }
    note_failure(e, a->cell, answer->failure == -ENOENT ? "not_found" : "agent_failed",
                 answer->why, NULL);
    asking_end(a, CELL_ERRORED);
}

/* --- asking --- */

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
        .schema = arm->tool_takes,
        .schema_name = arm->tool_name,
        .tool = arm->tool,
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
        return err_set(err, -EMSGSIZE, "the test's input and files have more than %u MiB",
                       ARM_MAX_TEXT >> 20);
    }
    if (!s->agent) {
        return ask_model(a, arm, question.data, err);
    }
    if (model_budget_is_spent(e->o.budget)) {
        budget_spent(e);
        return -EDQUOT;
    }
    a->agent = agent_run_start(e->o.loop, s->agent, arm->installed, test, question.data,
                               on_agent, a);
    return 0;
}

void evaluation_cell_start(struct evaluation *e, struct cell *c) {
    struct err err = {0};
    struct asking *a = xcalloc(1, sizeof *a);
    *a = (struct asking){.e = e, .cell = c};
    LIST_INSERT_HEAD(&e->asking, a, link);
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
        evaluation_cell_end(e, c, rc == -EDQUOT ? CELL_SKIPPED : CELL_ERRORED, NULL);
        asking_free(a);
    }
}
