/* skill/trigger: reading, asking, improving, writing; and its entry in the table. */
#include "skills/triggers/trigger_operation.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/find.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/catalog/catalog.h"
#include "skills/evaluation/evaluate_operation.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/evaluation/named_models.h"
#include "skills/install/install_diff.h"
#include "skills/runs/run_record.h"
#include "skills/skill_trigger.operation.h"
#include "skills/triggers/trigger_improve.h"
#include "skills/triggers/trigger_list.h"
#include "skills/triggers/trigger_queries.h"
#include "skills/triggers/trigger_result.h"

#define TESTS_MAX (4u << 20)
#define TICK_MS 2000u
#define NEIGHBOURS 8

struct triggering {
    uv_timer_t tick;
    struct call *call; /* a reference */
    struct skills *skills;
    struct evaluation_room *room;
    struct evaluation_guest guest;
    struct evaluate_request request;
    struct model teacher; /* without a name: none */
    struct skill skill;   /* without a folder: not read */
    struct suite suite;
    const struct test_case **tests; /* of the suite */
    json_t *neighbours, *loads, *result;
    struct arm arm;
    struct evaluation *evaluation;
    struct trigger_improve *improve;
    struct run_writer *record;
    char *batch, *better; /* better: a SKILL.md, or NULL */
    uint64_t deadline_ms;
    bool cancelled;
    struct err err;
    const char *bad_param;
};

/* --- the end --- */

static void on_tick_closed(uv_handle_t *handle) {
    struct triggering *v = container_of((uv_timer_t *)handle, struct triggering, tick);
    struct evaluation_room *room = v->room;
    evaluate_request_finish(&v->request);
    model_finish(&v->teacher);
    arm_finish(&v->arm);
    if (v->skill.folder) {
        skill_finish(&v->skill);
    }
    if (v->suite.json) {
        suite_finish(&v->suite);
    }
    free(v->tests);
    json_decref(v->neighbours);
    json_decref(v->loads);
    free(v->batch);
    free(v->better);
    evaluation_room_leave(room, &v->guest);
    free(v);
}

static void answer(struct triggering *v) {
    if (v->cancelled) {
        json_decref(take(v->result));
        call_stopped(v->call);
    } else if (v->result) {
        call_reply(v->call, take(v->result));
    } else if (v->bad_param) {
        call_fail_param(v->call, v->bad_param, "%s", v->err.msg);
    } else {
        skills_fail(v->call, &v->err);
    }
    call_unref(v->call);
}

static void end(struct triggering *v) {
    uv_timer_stop(&v->tick);
    if (v->improve) {
        trigger_improve_free(take(v->improve));
    }
    if (v->evaluation) {
        evaluation_free(take(v->evaluation));
    }
    run_writer_close(take(v->record));
    answer(v);
    uv_close((uv_handle_t *)&v->tick, on_tick_closed);
}

/* --- writing (another thread) --- */

/* Only if the file is unchanged since it was read: others' changes are kept. */
static int save(const struct triggering *v, struct err *err) {
    struct root root;
    const char *file = skill_find_file(&v->skill, "SKILL.md") ? "SKILL.md" : "skill.md";
    autobuf now = BUF_INIT(SKILL_MAX_TEXT);
    int rc = skills_check_own(call_origin(v->call), v->skill.folder, err);
    rc = rc < 0 ? rc : root_open(&root, v->skill.folder, err);
    if (rc < 0) {
        return rc;
    }
    rc = root_read(&root, file, &now, err);
    if (rc == 0 && (now.len != v->skill.text.len ||
                    memcmp(now.data, v->skill.text.text, now.len) != 0)) {
        rc = err_set(err, -ESTALE, "%s was changed meanwhile", file);
    }
    rc = rc < 0 ? rc : root_write(&root, file, v->better, strlen(v->better), 0644, err);
    root_close(&root);
    return rc;
}

static void write_work(void *data) {
    struct triggering *v = data;
    struct err err = {0};
    if (v->better && json_get_bool(call_params(v->call), "save", 0)) {
        bool saved = save(v, &err) == 0;
        json_object_set_new(v->result, "saved", json_boolean(saved));
        if (!saved) {
            json_object_set_new(v->result, "save_problem", json_clean_z(err.msg));
        }
    }
    err = (struct err){0};
    if (v->record && run_writer_finish(take(v->record), v->result, &err) < 0) {
        json_object_set_new(v->result, "record_problem", json_clean_z(err.msg));
    }
}

static void write_done(void *data) {
    end(data);
}

static void start_writing(struct triggering *v) {
    if (v->cancelled || !v->result) {
        end(v);
        return;
    }
    work_start(call_origin(v->call)->loop, write_work, write_done, v);
}

/* --- improving --- */

static void on_improve_changed(struct trigger_improve *x, void *data) {
    struct triggering *v = data;
    call_report(v->call, 0, 0, "improving: %s", trigger_improve_doing(x));
}

static json_t *proposal_of(const struct triggering *v) {
    struct skill_text t;
    skill_text_read(&t, v->better, strlen(v->better));
    autofree char *diff = install_text_diff("SKILL.md", v->skill.text.text, v->better);
    json_t *proposal = json_pack("{s:o,s:o}", "description",
                                 json_clean_z(t.description ? t.description : ""), "diff",
                                 json_clean_z(diff ? diff : ""));
    skill_text_finish(&t);
    return proposal;
}

static void on_improved(struct trigger_improve *x, void *data) {
    struct triggering *v = data;
    const char *text = trigger_improve_text(x);
    json_object_set_new(v->result, "refinement", trigger_improve_result(x));
    if (strcmp(text, v->skill.text.text) != 0) {
        v->better = xstrdup(text);
        json_object_set_new(v->result, "proposal", proposal_of(v));
        json_object_set_new(v->result, "saved", json_false());
    }
    start_writing(v);
}

static struct evaluation_options asking_options(struct triggering *v) {
    const struct evaluate_request *r = &v->request;
    return (struct evaluation_options){
        .loop = call_origin(v->call)->loop,
        .origin = call_origin(v->call),
        .models = evaluation_room_client(v->room),
        .model_aliases = evaluation_room_models(v->room),
        .tests = v->tests,
        .test_count = v->suite.count,
        .arms = &v->arm,
        .arm_count = 1,
        .students = r->students,
        .student_count = r->student_count,
        .rule = trigger_rule,
        .runs = r->runs,
        .seed = r->seed,
        .concurrency = r->concurrency,
        .budget = &v->request.budget,
        .deadline_ms = r->deadline_ms,
        .fresh = r->fresh,
        .data = v,
    };
}

/* A student that says nothing about a description says nothing about a better one. */
static bool any_measured(const json_t *result) {
    return json_any(json_object_get(result, "students"), student,
                    !json_says(student, "verdict", "not_measurable"));
}

static bool start_improving(struct triggering *v) {
    int rounds = (int)json_get_integer(call_params(v->call), "rounds", 0);
    if (!rounds || !v->teacher.name || v->cancelled || !any_measured(v->result)) {
        return false;
    }
    const struct trigger_improve_options options = {
        .students = asking_options(v),
        .queries = &v->suite,
        .neighbours = v->neighbours,
        .folder = v->skill.folder,
        .name = v->skill.text.name,
        .text = v->skill.text.text,
        .teacher = &v->teacher,
        .rounds = (unsigned)rounds,
        .runs = v->request.runs,
        .deadline_ms = v->deadline_ms,
        .changed = on_improve_changed,
        .done = on_improved,
        .data = v,
    };
    v->improve = trigger_improve_start(&options);
    return true;
}

/* --- asking --- */

static void on_seen(const struct cell *c, const json_t *record, void *data) {
    struct triggering *v = data;
    if (cell_counts(c)) {
        trigger_loads_add(v->loads, c->student, c->test, record);
    }
}

static json_t *names_of(const json_t *rows) {
    return json_map(rows, row, json_incref(json_object_get(row, "name")));
}

static void make_result(struct triggering *v, enum evaluation_stop stop) {
    const struct evaluate_request *r = &v->request;
    json_t *models =
        json_list(i, 0, r->student_count, model_to_json(r->students[i].model));
    v->result = trigger_result(v->evaluation, v->loads, v->skill.text.name);
    json_object_set_new(v->result, "neighbours", names_of(v->neighbours));
    json_object_set_new(v->result, "run", v->batch ? json_string(v->batch) : json_null());
    json_object_set_new(v->result, "ended_by",
                        json_string(stop == EVALUATION_BUDGET ? "budget"
                                    : stop == EVALUATION_TIME ? "time"
                                                              : "complete"));
    json_object_set_new(
        v->result, "provenance",
        json_pack("{s:s,s:o,s:s,s:s,s:i,s:I,s:o}", "skill", v->skill.text.name, "path",
                  json_clean_z(v->skill.folder), "prompt_digest", v->arm.digest,
                  "tests_digest", v->suite.digest, "runs", (int)r->runs, "seed",
                  (json_int_t)(r->seed & INT64_MAX), "models", models));
}

static void on_evaluated(struct evaluation *, enum evaluation_stop stop, void *data) {
    struct triggering *v = data;
    if (stop != EVALUATION_CANCELLED) {
        make_result(v, stop);
    }
    if (stop != EVALUATION_COMPLETE || !start_improving(v)) {
        start_writing(v);
    }
}

static void on_tick(uv_timer_t *timer) {
    struct triggering *v = container_of(timer, struct triggering, tick);
    if (v->evaluation && !v->improve && !v->result) {
        size_t done = evaluation_cells_done(v->evaluation);
        size_t all = evaluation_grid(v->evaluation)->count;
        call_report(v->call, (double)done, (double)all, "%zu of %zu answers", done, all);
    }
}

/* The other skills on this machine; the catalog must be current. */
static json_t *find_neighbours(const struct triggering *v) {
    struct catalog *c = skills_catalog(v->skills);
    size_t count =
        (size_t)json_get_integer(call_params(v->call), "neighbours", NEIGHBOURS);
    autojson *found = count ? catalog_find(c, v->skill.text.description,
                                           (unsigned)count + 1, NULL, NULL, NULL)
                            : NULL;
    autojson *listed = count ? catalog_list(c, NULL, NULL) : NULL;
    return trigger_neighbours(v->skill.text.name, found, listed, count);
}

static void start_asking(struct triggering *v) {
    v->neighbours = find_neighbours(v);
    v->loads = trigger_loads_new(v->request.student_count, v->suite.count);
    trigger_arm(&v->arm, v->skill.text.name, v->skill.text.description, v->neighbours);
    struct evaluation_options options = asking_options(v);
    options.record = v->record;
    options.seen = on_seen;
    options.done = on_evaluated;
    if (evaluation_start(&options, &v->evaluation, &v->err) < 0) {
        v->bad_param = "/tests";
        end(v);
        return;
    }
    uv_timer_start(&v->tick, on_tick, 0, TICK_MS);
}

/* --- reading (another thread) --- */

static int read_queries(struct triggering *v) {
    const struct subject_request *r = &v->request.subject;
    if (r->tests) {
        return trigger_queries_read(&v->suite, r->tests, v->skill.text.name, &v->err);
    }
    autobuf text = BUF_INIT(TESTS_MAX);
    int rc = file_read(r->tests_path, &text, &v->err);
    autojson *value = rc < 0 ? NULL : json_parse(text.data, text.len, &v->err);
    rc = rc < 0 ? rc : value ? 0 : v->err.code;
    rc =
        rc < 0 ? rc : trigger_queries_read(&v->suite, value, v->skill.text.name, &v->err);
    return rc < 0 ? err_wrap(&v->err, "%.200s", path_basename(r->tests_path)) : 0;
}

static void open_record(struct triggering *v) {
    json_t *models = json_list(i, 0, v->request.student_count,
                               json_string(v->request.students[i].name));
    json_t *questions = json_object();
    for (size_t i = 0; i < v->suite.count; i++) {
        const char *text = v->suite.tests[i].input;
        json_object_set_new(questions, v->suite.tests[i].id,
                            json_clean(text, text_cut(text, strlen(text), 2000)));
    }
    char digest[72];
    skill_digest(&v->skill, digest);
    autojson *meta = json_pack(
        "{s:{s:s,s:o,s:s},s:s,s:s,s:o,s:[s],s:i,s:o}", "skill", "name",
        v->skill.text.name, "path", json_clean_z(v->skill.folder), "digest", digest,
        "tests_digest", v->suite.digest, "kind", "trigger", "models", models, "arms",
        "skill", "runs", (int)v->request.runs, "questions", questions);
    v->record = run_writer_open(v->request.runs_dir, meta, NULL);
    v->batch = v->record ? xstrdup(run_writer_batch(v->record)) : NULL;
}

static int read_all(struct triggering *v) {
    int rc = skill_open(&v->skill, v->request.subject.folder, true, &v->err);
    if (rc < 0) {
        return rc;
    }
    const struct skill_text *t = &v->skill.text;
    if (!t->name || !*t->name || !t->description || !*t->description) {
        return err_set(&v->err, -EINVAL,
                       "the skill has no name or no description; skill/check shows more");
    }
    rc = read_queries(v);
    if (rc < 0) {
        v->bad_param = "/tests";
        return rc;
    }
    v->tests = xcalloc(v->suite.count, sizeof *v->tests);
    for (size_t i = 0; i < v->suite.count; i++) {
        v->tests[i] = &v->suite.tests[i];
    }
    if (!json_is_false(json_object_get(call_params(v->call), "record"))) {
        open_record(v);
    }
    return 0;
}

static void read_work(void *data) {
    (void)read_all(data);
}

static void read_done(void *data) {
    struct triggering *v = data;
    if (v->cancelled || v->err.code < 0) {
        end(v);
    } else {
        start_asking(v);
    }
}

/* --- the beginning --- */

static void stop(struct triggering *v) {
    v->cancelled = true;
    if (v->improve) {
        trigger_improve_cancel(v->improve);
    } else if (v->evaluation && !v->result) {
        evaluation_cancel(v->evaluation);
    }
}

static void on_cancel(struct call *, void *data) {
    stop(data);
}

static void on_room_closing(struct evaluation_guest *guest) {
    stop(container_of(guest, struct triggering, guest));
}

/* -1 once the call has failed. */
static int find_teacher(struct triggering *v, struct call *call, const json_t *params) {
    struct evaluation_room *room = evaluation_room_of(call_origin(call));
    const json_t *named = json_object_get(params, "teacher");
    const char *word = json_string_value(evaluation_room_setting(room, "teacher"));
    bool model = word && strcmp(word, "builtin") != 0 && strcmp(word, "host") != 0;
    named = named ? named : model ? evaluation_room_setting(room, "teacher") : NULL;
    struct err err = {0};
    if (!json_get_integer(params, "rounds", 0)) {
        return 0;
    }
    if (!named) {
        call_fail_param(call, "/teacher",
                        "name the model that writes descriptions, or set `rounds` to 0");
        return -1;
    }
    const char *url = model_shared_url(named, json_get_string(params, "base_url", NULL));
    return model_resolve(&v->teacher, named, evaluation_room_models(room), url, &err) < 0
               ? evaluation_model_fail(call, "/teacher", NULL, &err)
               : 0;
}

static void trigger_go(struct skills *s, struct call *call, const json_t *params) {
    struct triggering *v = xcalloc(1, sizeof *v);
    if (evaluate_request_read(&v->request, s, call, params, true) < 0 ||
        find_teacher(v, call, params) < 0) {
        evaluate_request_finish(&v->request);
        free(v);
        return;
    }
    v->call = call_ref(call);
    v->skills = s;
    v->room = evaluation_room_of(call_origin(call));
    v->guest.stop = on_room_closing;
    v->deadline_ms = v->request.deadline_ms ? clock_ms() + v->request.deadline_ms : 0;
    evaluation_room_enter(v->room, &v->guest);
    uv_timer_init(call_origin(call)->loop, &v->tick);
    call_on_cancel(call, on_cancel, v);
    work_start(call_origin(call)->loop, read_work, read_done, v);
}

static void trigger_named(struct skills *s, struct call *call, const json_t *params) {
    static const struct named_models of[] = {
        {"students", "default_students", "base_url"}, {"teacher", "teacher", NULL}, {0}};
    named_models_learn(s, call, params, of, trigger_go);
}

static void trigger_start(struct call *call, const json_t *) {
    skills_when_current(call, trigger_named);
}

/* --- the table --- */

const struct operation trigger_operations[] = {
    {SKILL_TRIGGER_OPERATION, .start = trigger_start, .describe = trigger_describe},
};
const size_t trigger_operation_count = ARRAY_LEN(trigger_operations);
