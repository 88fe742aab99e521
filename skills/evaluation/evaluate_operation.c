/* skill/evaluate: reading, asking, writing; and its entry in the table. */
#include "skills/evaluation/evaluate_operation.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/find.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/evaluation/baseline.h"
#include "skills/evaluation/evaluation_result.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/evaluation/named_models.h"
#include "skills/grading/grade.h"
#include "skills/runs/run_record.h"
#include "skills/skill_evaluate.operation.h"

#define TICK_MS 1000u
#define QUESTION_KEPT 4000u       /* bytes of a question in the record */
#define QUESTIONS_KEPT (1u << 20) /* of all */
#define REPORT_MS 4000u           /* the longest time between two progress reports */

#define AGENTS_AT_ONCE 4u /* each is a program that needs hundreds of MiB */

enum stage { READING, ASKING, WRITING };

struct evaluating {
    uv_timer_t tick;
    struct call *call; /* a reference */
    struct evaluation_room *room;
    struct evaluation_guest guest;
    enum stage stage;
    bool cancelled;
    struct evaluate_request request;
    struct subject subject;
    struct evaluate_estimate estimate;
    struct suite counted; /* the tests that count, for their quality; borrows */
    json_t *reuse, *marks, *result;
    struct run_writer *record;
    char *batch, *record_problem;
    struct evaluation *evaluation;
    struct quality *quality;
    enum evaluation_stop stop;
    bool asked; /* the evaluation is done; the tests' quality may not be */
    char started[25];
    uint64_t reported_ms;
    size_t reported;
    struct err err;
    const char *bad_param;
};

/* --- the end --- */

static void on_tick_closed(uv_handle_t *handle) {
    struct evaluating *v = container_of((uv_timer_t *)handle, struct evaluating, tick);
    evaluate_request_finish(&v->request);
    json_decref(v->reuse);
    json_decref(v->marks);
    free(v->counted.tests);
    free(v->batch);
    free(v->record_problem);
    struct evaluation_room *room = v->room;
    evaluation_room_leave(room, &v->guest);
    free(v);
}

static void answer(struct evaluating *v) {
    struct call *call = v->call;
    if (v->cancelled && !v->result) {
        call_stopped(call);
    } else if (v->result) {
        call_reply(call, take(v->result));
    } else if (v->bad_param) {
        call_fail_param(call, v->bad_param, "%s", v->err.msg);
    } else if (v->err.code == -EDQUOT) {
        call_fail(call, CALL_REFUSED, "budget_too_small",
                  "raise the budget, or take fewer students", "%s", v->err.msg);
    } else if (v->err.code == -ENODATA) {
        call_fail(call, CALL_REFUSED, "no_tests",
                  "give a file of them as `tests`; or skill/generate with the skill and a "
                  "model as teacher writes some and keeps the text",
                  "%s", v->err.msg);
    } else {
        skills_fail(call, &v->err);
    }
    call_unref(call);
}

/* Call it when no thread and no request to a model is still at work. */
static void end(struct evaluating *v) {
    if (v->evaluation) {
        evaluation_free(take(v->evaluation));
    }
    answer(v);
    uv_close((uv_handle_t *)&v->tick, on_tick_closed);
}

/* --- writing (another thread) --- */

static void note_record(struct evaluating *v, const char *why) {
    if (why && !v->record_problem) {
        v->record_problem = xstrdup(why);
    }
}

static void make_result(struct evaluating *v) {
    const struct subject_request *r = &v->request.subject;
    char ended[25];
    clock_iso8601(ended);
    autojson *provenance = json_pack(
        "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "skill", v->subject.name, "skill_digest",
        v->subject.digest, "tests_digest", v->subject.suite.digest, "started", v->started,
        "ended", ended, "split", v->subject.split, "mode",
        r->installed ? "installed" : "inject", "path", json_clean_z(r->folder));
    json_object_update(provenance, v->request.source);
    struct evaluation_facts facts = {
        .provenance = provenance,
        .again = r->again,
        .measured_size = !r->installed && !r->again,
        .marks = v->marks,
        .record_problem = v->record_problem,
    };
    v->result = evaluation_result(v->evaluation, &facts);
    json_object_set_new(v->result, "run", v->batch ? json_string(v->batch) : json_null());
}

static void write_work(void *data) {
    struct evaluating *v = data;
    struct err err = {0};
    if (!v->asked || v->stop == EVALUATION_CANCELLED) {
        run_writer_close(take(v->record));
        subject_finish(&v->subject);
        return;
    }
    note_record(v, evaluation_record_problem(v->evaluation));
    make_result(v);
    if (v->record && run_writer_finish(take(v->record), v->result, &err) < 0) {
        note_record(v, err.msg);
    }
    err = (struct err){0};
    if (v->request.record_in_skill && v->batch) {
        const char *folder = v->request.subject.folder;
        bool noted = skills_check_own(call_origin(v->call), folder, &err) == 0 &&
                     run_record_in_skill(folder, v->result, v->batch, &err) == 0;
        note_record(v, noted ? NULL : err.msg);
    }
    if (v->record_problem) {
        json_object_set_new(v->result, "record_problem", json_clean_z(v->record_problem));
    }
    subject_finish(&v->subject);
}

static void write_done(void *data) {
    end(data);
}

static void start_writing(struct evaluating *v) {
    v->stage = WRITING;
    uv_timer_stop(&v->tick);
    work_start(call_origin(v->call)->loop, write_work, write_done, v);
}

/* --- asking --- */

static void report(struct evaluating *v) {
    const struct cell_grid *g = evaluation_grid(v->evaluation);
    size_t done = evaluation_cells_done(v->evaluation);
    uint64_t now = clock_ms();
    if (done == v->reported && now - v->reported_ms < REPORT_MS) {
        return;
    }
    v->reported = done;
    v->reported_ms = now;
    call_set_partial(v->call,
                     json_pack("{s:o,s:o}", "students", evaluation_table(v->evaluation),
                               "run", v->batch ? json_string(v->batch) : json_null()));
    call_report(v->call, (double)done, (double)g->count, "%zu of %zu answers", done,
                g->count);
}

static void on_tick(uv_timer_t *timer) {
    report(container_of(timer, struct evaluating, tick));
}

static void when_both_done(struct evaluating *v) {
    if (v->asked && !v->quality) {
        start_writing(v);
    }
}

static void on_evaluated(struct evaluation *, enum evaluation_stop stop, void *data) {
    struct evaluating *v = data;
    v->stop = stop;
    v->asked = true;
    if (!v->cancelled) {
        report(v);
    }
    when_both_done(v);
}

static void on_quality(struct quality *, json_t *marks, void *data) {
    struct evaluating *v = data;
    v->quality = NULL;
    v->marks = marks;
    when_both_done(v);
}

static void start_quality(struct evaluating *v) {
    struct subject *s = &v->subject;
    struct grade_room room = {.loop = call_origin(v->call)->loop,
                              .origin = call_origin(v->call)};
    v->counted = (struct suite){
        .count = s->test_count,
        .tests = xcalloc(s->test_count, sizeof *v->counted.tests),
    };
    for (size_t i = 0; i < s->test_count; i++) {
        v->counted.tests[i] = *s->tests[i];
    }
    v->quality = quality_start(&room, &v->counted, s->text, s->text ? strlen(s->text) : 0,
                               on_quality, v);
}

static int start_evaluation(struct evaluating *v) {
    struct evaluate_request *r = &v->request;
    bool installed = r->subject.installed;
    struct evaluation_options options = {
        .loop = call_origin(v->call)->loop,
        .origin = call_origin(v->call),
        .models = evaluation_room_client(v->room),
        .model_aliases = evaluation_room_models(v->room),
        .tests = v->subject.tests,
        .test_count = v->subject.test_count,
        .arms = v->subject.arms,
        .arm_count = v->subject.arm_count,
        .students = r->students,
        .student_count = r->student_count,
        .judge = r->judge,
        .runs = r->runs,
        .seed = r->seed,
        .concurrency = r->concurrency || !installed ? r->concurrency : AGENTS_AT_ONCE,
        .budget = &r->budget,
        .deadline_ms = r->deadline_ms,
        .fresh = r->fresh,
        .reuse = v->reuse,
        .record = v->record,
        .done = on_evaluated,
        .data = v,
    };
    return evaluation_start(&options, &v->evaluation, &v->err);
}

static void say_estimate(struct evaluating *v) {
    const struct evaluate_estimate *e = &v->estimate;
    autofree char *money =
        e->cost >= 0 ? xasprintf(" and %.2f in money", e->cost) : xstrdup("");
    call_report(v->call, 0, (double)e->answers,
                "%zu answers, about %llu tokens%s (estimated)", e->answers,
                (unsigned long long)e->tokens, money);
}

static int check_budget(struct evaluating *v) {
    const struct evaluate_estimate *e = &v->estimate;
    const struct model_budget *b = &v->request.budget;
    if (b->max_cost > 0 && e->least_cost < 0) {
        v->bad_param = "/budget/cost";
        return err_set(&v->err, -EINVAL,
                       "a student's price is unknown: add it to the configuration's "
                       "models, or give a budget in tokens");
    }
    if ((b->max_tokens && e->least_tokens > b->max_tokens) ||
        (b->max_cost > 0 && e->least_cost > b->max_cost)) {
        autofree char *cost = e->least_cost >= 0
                                  ? xasprintf(" and %.4g in money", e->least_cost)
                                  : xstrdup("");
        return err_set(&v->err, -EDQUOT,
                       "the budget does not cover the 6 tests that a verdict needs: they "
                       "take about %llu tokens%s",
                       (unsigned long long)e->least_tokens, cost);
    }
    return 0;
}

static void start_asking(struct evaluating *v) {
    if (check_budget(v) < 0) {
        start_writing(v);
        return;
    }
    if (start_evaluation(v) < 0) {
        v->bad_param = "/tests";
        start_writing(v);
        return;
    }
    v->stage = ASKING;
    v->reported_ms = clock_ms();
    say_estimate(v);
    start_quality(v);
    uv_timer_start(&v->tick, on_tick, TICK_MS, TICK_MS);
}

/* --- reading (another thread) --- */

/* The question of each test, for later readers: no answer can be judged without it. */
static json_t *questions_json(const struct suite *suite) {
    json_t *questions = json_object();
    size_t left = QUESTIONS_KEPT;
    for (size_t i = 0; i < suite->count; i++) {
        const char *text = suite->tests[i].input;
        size_t len =
            text_cut(text, strlen(text), left < QUESTION_KEPT ? left : QUESTION_KEPT);
        json_object_set_new(questions, suite->tests[i].id, json_clean(text, len));
        left -= len;
    }
    return questions;
}

static json_t *meta_json(const struct evaluating *v) {
    json_t *models = json_list(i, 0, v->request.student_count,
                               json_string(v->request.students[i].name));
    json_t *arms = json_list(i, 0, v->subject.arm_count,
                             json_string(arm_name(v->subject.arms[i].kind)));
    return json_pack("{s:{s:s,s:o,s:s},s:s,s:s,s:o,s:o,s:i,s:s,s:I,s:s,s:s*,s:o}",
                     "skill", "name", v->subject.name, "path",
                     json_clean_z(v->request.subject.folder), "digest", v->subject.digest,
                     "tests_digest", v->subject.suite.digest, "kind",
                     v->request.subject.again ? "aa" : "evaluate", "models", models,
                     "arms", arms, "runs", (int)v->request.runs, "mode",
                     v->request.subject.installed ? "installed" : "inject", "seed",
                     (json_int_t)(v->request.seed & INT64_MAX), "split", v->subject.split,
                     "baseline_from", v->request.baseline_from, "questions",
                     questions_json(&v->subject.suite));
}

static void open_record(struct evaluating *v) {
    struct err err = {0};
    autojson *meta = meta_json(v);
    v->record = run_writer_open(v->request.runs_dir, meta, &err);
    if (v->record) {
        v->batch = xstrdup(run_writer_batch(v->record));
    } else {
        note_record(v, err.msg);
    }
}

static int read_all(struct evaluating *v) {
    const struct evaluate_request *r = &v->request;
    int rc = subject_read(&v->subject, &r->subject, &v->err);
    if (rc < 0) {
        v->bad_param = rc == -EINVAL ? "/tests" : NULL;
        return rc;
    }
    if (r->baseline_from) {
        v->bad_param = "/baseline_from";
        rc = baseline_load(&v->reuse, r->runs_dir, r->baseline_from,
                           v->subject.suite.digest, v->subject.arms[0].digest, r->runs,
                           &v->err);
        v->bad_param = rc < 0 ? v->bad_param : NULL;
    }
    return rc;
}

static void read_work(void *data) {
    struct evaluating *v = data;
    if (read_all(v) < 0) {
        return;
    }
    evaluate_estimate(&v->estimate, &v->request, &v->subject);
    if (v->request.record) {
        open_record(v);
    }
}

static void read_done(void *data) {
    struct evaluating *v = data;
    if (v->cancelled || v->err.code < 0) {
        start_writing(v); /* there is no result; this frees what was read */
    } else {
        start_asking(v);
    }
}

/* --- the beginning --- */

static void stop(struct evaluating *v) {
    v->cancelled = true;
    if (v->stage == ASKING) {
        if (v->quality) {
            quality_cancel(v->quality);
        }
        evaluation_cancel(v->evaluation);
    }
}

static void on_cancel(struct call *, void *data) {
    stop(data);
}

static void on_room_closing(struct evaluation_guest *guest) {
    stop(container_of(guest, struct evaluating, guest));
}

static void evaluate_go(struct skills *s, struct call *call, const json_t *params) {
    struct evaluating *v = xcalloc(1, sizeof *v);
    if (evaluate_request_read(&v->request, s, call, params, false) < 0) {
        evaluate_request_finish(&v->request);
        free(v);
        return;
    }
    v->call = call_ref(call);
    v->room = evaluation_room_of(call_origin(call));
    v->guest.stop = on_room_closing;
    evaluation_room_enter(v->room, &v->guest);
    uv_timer_init(call_origin(call)->loop, &v->tick);
    clock_iso8601(v->started);
    call_on_cancel(call, on_cancel, v);
    work_start(call_origin(call)->loop, read_work, read_done, v);
}

static void evaluate_named(struct skills *s, struct call *call, const json_t *params) {
    static const struct named_models of[] = {
        {"students", "default_students", "base_url"}, {"judge", "judge", NULL}, {0}};
    named_models_learn(s, call, params, of, evaluate_go);
}

static void evaluate_start(struct call *call, const json_t *) {
    skills_when_current(call, evaluate_named);
}

/* --- the table --- */

const struct operation evaluation_operations[] = {
    {SKILL_EVALUATE_OPERATION, .start = evaluate_start, .describe = evaluation_describe},
};
const size_t evaluation_operation_count = ARRAY_LEN(evaluation_operations);
