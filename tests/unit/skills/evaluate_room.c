#include "tests/unit/skills/evaluate_room.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/evaluation/arms.h"
#include "skills/skills.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 60000 };
#define MODEL "generic.m"
#define URL "http://127.0.0.1:9/v1"

static struct evaluate_room *here; /* whose models are played */

/* --- models/model_client.h, played --- */

struct model_client {
    uv_loop_t *loop;
    uv_timer_t timer;
    void (*closed)(void *data);
    void *data;
};

struct model_call {
    uv_timer_t timer;
    struct played played;
    model_done *done;
    void *data;
    bool cancelled;
    struct model_budget *budget;
};

struct model_client *model_client_new(uv_loop_t *loop, struct http *http,
                                      const struct model_client_options *options) {
    (void)http, (void)options;
    struct model_client *c = xcalloc(1, sizeof *c);
    c->loop = loop;
    uv_timer_init(loop, &c->timer);
    return c;
}

static void client_closed(uv_handle_t *handle) {
    struct model_client *c =
        container_of((uv_timer_t *)handle, struct model_client, timer);
    c->closed(c->data);
    free(c);
}

void model_client_close(struct model_client *c, void (*closed)(void *data), void *data) {
    c->closed = closed;
    c->data = data;
    uv_close((uv_handle_t *)&c->timer, client_closed);
}

const char *model_outcome_name(enum model_outcome outcome) {
    return outcome == MODEL_ANSWERED ? "answered" : "other";
}

json_t *model_client_status(const struct model_client *c) {
    (void)c;
    return json_array();
}

static void call_closed(uv_handle_t *handle) {
    free(container_of((uv_timer_t *)handle, struct model_call, timer));
}

static void call_answers(uv_timer_t *timer) {
    struct model_call *c = container_of(timer, struct model_call, timer);
    const struct played *p = &c->played;
    bool asked = !c->cancelled && p->outcome != MODEL_BUDGET;
    const struct model_answer answer = {
        .outcome = c->cancelled ? MODEL_CANCELLED : p->outcome,
        .text = asked && p->text ? p->text : "",
        .usage = {.input = asked ? p->input : 0,
                  .output = asked ? p->output : 0,
                  .reported = asked && !p->unreported},
        .served_model = "m-2026",
        .stop_reason = "",
        .requests = asked,
        .reason = c->cancelled ? "cancelled"
                  : p->reason  ? p->reason
                               : "",
        .message = p->message ? p->message : "",
        .hint = p->hint ? p->hint : "",
    };
    if (c->budget && asked) {
        c->budget->tokens += p->input + p->output;
    }
    here->in_flight--;
    c->done(c, &answer, c->data);
    uv_close((uv_handle_t *)&c->timer, call_closed);
}

static void keep_question(const struct model_request *request) {
    struct evaluate_room *r = here;
    r->questions = xreallocarray(r->questions, r->count + 1, sizeof *r->questions);
    r->questions[r->count++] = (struct question){
        .model = xstrdup(request->model->name),
        .system = xstrdup(request->system ? request->system : ""),
        .text = xstrdup(request->messages[0].text),
        .run = request->run,
        .at_once = request->at_once,
        .max_tokens = request->max_tokens,
        .no_cache = request->no_cache,
    };
    r->in_flight++;
    r->most_in_flight =
        r->in_flight > r->most_in_flight ? r->in_flight : r->most_in_flight;
}

int model_call_start(struct model_client *c, const struct model_request *request,
                     model_text *text, model_done *done, void *data,
                     struct model_call **ret, struct err *err) {
    (void)text, (void)err;
    struct model_call *call = xcalloc(1, sizeof *call);
    *call = (struct model_call){.done = done, .data = data, .budget = request->budget};
    keep_question(request);
    here->play(here, &here->questions[here->count - 1], &call->played);
    uv_timer_init(c->loop, &call->timer);
    uv_timer_start(&call->timer, call_answers, call->played.delay_ms, 0);
    if (here->count == here->cancel_at) {
        call_cancel(here->call);
    }
    *ret = call;
    return 0;
}

void model_call_cancel(struct model_call *call) {
    call->cancelled = true;
    uv_timer_start(&call->timer, call_answers, 0, 0);
}

/* --- the room --- */

/* As an honest endpoint counts: tokens grow with the prompt. */
void play_helped(const struct evaluate_room *r, const struct question *q,
                 struct played *ret) {
    (void)r;
    bool knows = strstr(q->system, "marigold") || strstr(q->text, "marigold");
    *ret = (struct played){.outcome = MODEL_ANSWERED,
                           .text = knows ? "It is marigold." : "I do not know.",
                           .input = (strlen(q->system) + strlen(q->text)) / 4,
                           .output = 10};
}

static void *lend(void *host, const char *name) {
    const struct evaluate_room *r = host;
    return strcmp(name, SKILLS_LENT) == 0            ? (void *)r->skills
           : strcmp(name, EVALUATION_ROOM_LENT) == 0 ? (void *)r->room
                                                     : NULL;
}

void evaluate_room_write(const struct evaluate_room *r, const char *name,
                         const char *text) {
    struct root root;
    struct err err = {0};
    cr_assert_eq(root_open(&root, r->work, &err), 0, "%s", err.msg);
    cr_assert_eq(root_write(&root, name, text, strlen(text), 0644, &err), 0, "%s",
                 err.msg);
    root_close(&root);
}

void evaluate_room_open(struct evaluate_room *r, const json_t *settings) {
    struct err err = {0};
    *r = (struct evaluate_room){.home = "/tmp/evaluate-room-XXXXXX", .play = play_helped};
    here = r;
    cr_assert_not_null(mkdtemp(r->home));
    static const char *const names[] = {"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
                                        "XDG_CONFIG_HOME", "XDG_DATA_HOME"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        setenv(names[i], r->home, 1);
    }
    r->work = path_join(r->home, "work");
    cr_assert_eq(dir_make(r->work, 0700, NULL), 0);
    r->roots[0] = r->work;
    autobuf text = BUF_INIT(1u << 16);
    buf_adds(&text, "---\nname: words\ndescription: Which word it is.\n---\n");
    for (int i = 0; i < 40; i++) {
        buf_adds(&text, "The word that is asked for is marigold, always.\n");
    }
    evaluate_room_write(r, "skills/words/SKILL.md", text.data);
    uv_loop_init(&r->loop);
    autofree char *db = path_join(r->home, "skills.db");
    r->skills = skills_new(&r->loop, &(struct skills_config){.db_path = db});
    skills_set_roots(r->skills, r->roots);
    r->room = evaluation_room_new(&r->loop, settings);
    r->table = operation_table_new();
    cr_assert_eq(operation_table_add(r->table, evaluation_operations,
                                     evaluation_operation_count, &err),
                 0, "%s", err.msg);
    r->origin = (struct call_origin){
        .loop = &r->loop, .client = "", .roots = r->roots, .host = r, .lend = lend};
}

static void on_closed(void *data) {
    *(int *)data += 1;
}

void evaluate_room_close(struct evaluate_room *r) {
    if (r->room) {
        evaluation_room_close(take(r->room));
    }
    skills_close(r->skills, on_closed, &r->closed);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    cr_assert_eq(r->closed, 1);
    cr_assert_eq(uv_loop_close(&r->loop), 0);
    operation_table_free(r->table);
    for (size_t i = 0; i < r->count; i++) {
        free(r->questions[i].model);
        free(r->questions[i].system);
        free(r->questions[i].text);
    }
    free(r->questions);
    dir_remove(r->home, NULL);
    free(r->work);
}

static json_t *tests_of(size_t n) {
    json_t *tests = json_array();
    for (size_t i = 0; i < n; i++) {
        char id[32], input[64];
        snprintf(id, sizeof id, "q%zu", i);
        snprintf(input, sizeof input, "Question %zu: which word?", i);
        json_array_append_new(tests,
                              json_pack("{s:s, s:s, s:{s:[s]}}", "id", id, "input", input,
                                        "expected", "contains", "marigold"));
    }
    return tests;
}

json_t *evaluate_room_params(size_t n, const char *more) {
    json_t *params =
        json_pack("{s:s, s:[s], s:s, s:i, s:o}", "skill", "skills/words", "students",
                  MODEL, "base_url", URL, "runs", 1, "tests", tests_of(n));
    autojson *changes = json_loads(*more ? more : "{}", 0, NULL);
    const char *name;
    json_t *value;
    cr_assert_not_null(changes, "%s", more);
    json_object_foreach(changes, name, value) {
        if (json_is_null(value)) {
            json_object_del(params, name);
        } else {
            json_object_set(params, name, value);
        }
    }
    return params;
}

static void on_progress(struct call *call, void *data) {
    struct evaluate_room *r = data;
    const struct call_progress *p = call_progress(call);
    r->done = p ? p->done : r->done;
    r->total = p ? p->total : r->total;
    if (p && r->keep_partial_at > 0 && p->done == r->keep_partial_at) {
        r->keep_partial_at = 0;
        r->partial = json_deep_copy(call_partial(call));
    }
    if (p && !*r->first) {
        snprintf(r->first, sizeof r->first, "%s", p->message ? p->message : "");
    }
}

static void on_end(struct call *call, void *data) {
    (void)call;
    ((struct evaluate_room *)data)->ends++;
}

struct call *evaluate_room_ask(struct evaluate_room *r, json_t *params) {
    r->ends = 0;
    *r->first = '\0';
    r->call = call_start(operation_find(r->table, "skill/evaluate"), params, &r->origin);
    r->view = (struct call_view){.progress = on_progress, .end = on_end, .data = r};
    call_attach(r->call, &r->view);
    uint64_t end = clock_ms() + PATIENCE_MS;
    while (!r->ends && clock_ms() < end) {
        uv_run(&r->loop, UV_RUN_ONCE);
    }
    cr_assert_eq(r->ends, 1, "no end within a minute");
    return r->call;
}

json_t *evaluate_room_result(struct evaluate_room *r, json_t *params) {
    struct call *call = evaluate_room_ask(r, params);
    const struct call_failure *f = call_failure(call);
    cr_assert_eq(call_state(call), CALL_SUCCEEDED, "%s", f ? f->message : "cancelled");
    json_t *result = json_deep_copy(call_result(call));
    call_unref(call);
    return result;
}

void evaluate_room_fails(struct evaluate_room *r, json_t *params, const char *reason,
                         const char *words) {
    struct call *call = evaluate_room_ask(r, params);
    const struct call_failure *f = call_failure(call);
    cr_assert_not_null(f, "%s, %s", reason, words);
    const char *said = *reason == '/' ? f->path : f->reason;
    cr_expect(said && !strcmp(said, reason), "%s: %s, %s, %s", reason, f->reason,
              f->path ? f->path : "", f->message);
    cr_expect(strstr(f->message, words), "%s: %s", reason, f->message);
    call_unref(call);
}

const json_t *evaluate_arm(const json_t *result, size_t student, size_t arm) {
    const json_t *one = json_array_get(json_object_get(result, "students"), student);
    return json_array_get(json_object_get(one, "arms"), arm);
}
