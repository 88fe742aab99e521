#include "base/buf.h"
#include "base/err.h"
#include "protocol/plain.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* A client in memory: bytes go in through rpc_feed, messages come out in `got`. */
struct bench {
    uv_loop_t loop;
    struct operation_table *table;
    struct call_origin origin;
    struct face_tables tables;
    struct face_host host;
    struct rpc_peer *peer;
    struct plain *plain;
    json_t *got; /* messages, not yet looked at */
    unsigned droppable;
};

static struct call *running; /* the latest, borrowed from the operation */
static unsigned cancels;
static bool refuse_to_stop;

/* --- operations --- */

static void start_echo(struct call *call, const json_t *params) {
    call_reply(call, json_deep_copy(params));
}

static void start_wrong(struct call *call, const json_t *params) {
    static const enum call_fault faults[] = {
        CALL_BAD_PARAMS, CALL_NOT_FOUND, CALL_UNAVAILABLE, CALL_REFUSED, CALL_INTERNAL};
    call_fail(call, faults[json_get_integer(params, "fault", 0)], "why", "do this",
              "words");
}

static void on_cancel(struct call *call, void *data) {
    (void)data;
    cancels++;
    if (!refuse_to_stop) {
        call_stopped(call);
    }
}

static void start_work(struct call *call, const json_t *params) {
    (void)params;
    running = call;
    call_on_cancel(call, on_cancel, NULL);
}

static void on_input(struct call *call, const json_t *input, void *data) {
    (void)data;
    call_reply(call, json_deep_copy(input));
}

static void start_ask(struct call *call, const json_t *params) {
    (void)params;
    running = call;
    call_require_input(call, json_pack("{s:s}", "instructions", "write"), on_input, NULL);
}

#define OBJECT "{\"type\":\"object\"}"
#define CLOSED                                                                           \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"n\":{}}}"
static const struct operation operations[] = {
    {.name = "echo",
     .title = "t",
     .summary = "s",
     .params_schema = CLOSED,
     .start = start_echo},
    {.name = "wrong",
     .title = "t",
     .summary = "s",
     .params_schema = OBJECT,
     .start = start_wrong},
    {.name = "work",
     .title = "t",
     .summary = "s",
     .params_schema = OBJECT,
     .start = start_work},
    {.name = "long/echo",
     .title = "t",
     .summary = "s",
     .params_schema = CLOSED,
     .flags = OPERATION_LONG,
     .start = start_echo},
    {.name = "long/work",
     .title = "t",
     .summary = "s",
     .params_schema = OBJECT,
     .flags = OPERATION_LONG,
     .start = start_work},
    {.name = "long/ask",
     .title = "t",
     .summary = "s",
     .params_schema = OBJECT,
     .flags = OPERATION_LONG,
     .start = start_ask},
};

/* --- the bench --- */

static void on_request(struct rpc_call *call, void *data) {
    struct bench *b = data;
    if (!plain_request(b->plain, call)) {
        rpc_error(call, RPC_METHOD_NOT_FOUND, NULL, "no method");
    }
}

static void on_notification(struct rpc_peer *peer, enum frame_mode mode,
                            const char *method, json_t *params, void *data) {
    (void)peer, (void)mode;
    plain_notification(((struct bench *)data)->plain, method, params);
}

static void on_send(struct rpc_peer *peer, char *bytes, size_t len, bool droppable,
                    void *data) {
    struct bench *b = data;
    (void)peer;
    json_t *message = json_loadb(bytes, len, 0, NULL);
    if (!message) { /* an id that jansson cannot hold */
        message = json_stringn(bytes, len);
    }
    json_object_del(message, "jsonrpc");
    json_array_append_new(b->got, message);
    b->droppable += droppable;
    free(bytes);
}

static void open_bench(struct bench *b) {
    static const struct rpc_events events = {
        .request = on_request, .notification = on_notification, .send = on_send};
    *b = (struct bench){.got = json_array()};
    uv_loop_init(&b->loop);
    b->table = operation_table_new();
    struct err err;
    cr_assert(
        zero(int, operation_table_add(b->table, operations, ARRAY_LEN(operations), &err)),
        "%s", err.msg);
    b->origin = (struct call_origin){.loop = &b->loop, .client = ""};
    b->tables = (struct face_tables){.operations = b->table};
    b->host = (struct face_host){
        .tables = &b->tables, .settings = &face_settings_default, .origin = &b->origin};
    b->peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &events, b);
    b->plain = plain_new(&b->host, b->peer);
    cancels = 0;
    refuse_to_stop = false;
    running = NULL;
}

static void hang_up(struct bench *b) {
    plain_free(b->plain);
    rpc_peer_free(b->peer);
    b->plain = NULL;
    b->peer = NULL;
}

static void close_bench(struct bench *b) {
    hang_up(b);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    cr_assert(zero(int, uv_loop_close(&b->loop)), "every handle is closed");
    operation_table_free(b->table);
    json_decref(b->got);
}

static void say(struct bench *b, const char *text) {
    rpc_feed(b->peer, text, strlen(text));
    rpc_feed(b->peer, "\n", 1);
}

static void close_timer(uv_timer_t *timer) {
    uv_close((uv_handle_t *)timer, NULL);
}

/* The next message must be this one ("job" ids are replaced by "J"). */
static void hear(struct bench *b, const char *want) {
    json_t *message = json_array_get(b->got, 0);
    cr_assert_not_null(message, "nothing came, wanted %s", want);
    json_t *inner[] = {json_object_get(message, "result"),
                       json_object_get(message, "params")};
    for (size_t i = 0; i < 2; i++) {
        if (json_object_get(inner[i], "job")) {
            json_object_set_new(inner[i], "job", json_string("J"));
        }
    }
    autojson *wanted = json_loads(want, 0, NULL);
    autofree char *text = json_dumps(message, 0);
    cr_assert(eq(int, json_equal(message, wanted), 1), "got %s\nwanted %s", text, want);
    json_array_remove(b->got, 0);
}

static void hear_nothing(struct bench *b) {
    autofree char *text = json_dumps(b->got, 0);
    cr_assert(zero(sz, json_array_size(b->got)), "got %s", text);
}

/* --- properties --- */

Test(plain, a_short_operation_answers_with_its_result) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"echo\",\"params\":{\"n\":5}}");
    hear(&b, "{\"id\":1,\"result\":{\"n\":5}}");
    say(&b, "{\"id\":2,\"method\":\"echo\"}");
    hear(&b, "{\"id\":2,\"result\":{}}");
    say(&b, "{\"id\":3,\"method\":\"echo\",\"params\":{\"n\":5,\"wait\":false}}");
    hear(&b, "{\"id\":3,\"result\":{\"n\":5}}");
    say(&b, "{\"id\":4,\"method\":\"nothing\"}");
    hear(&b, "{\"id\":4,\"error\":{\"code\":-32601,\"message\":\"no method\"}}");
    say(&b, "{\"method\":\"echo\"}"); /* a notification starts nothing */
    hear_nothing(&b);
    close_bench(&b);
}

Test(plain, bad_params_are_refused_with_their_place) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"echo\",\"params\":{\"m\":5}}");
    hear(&b, "{\"id\":1,\"error\":{\"code\":-32602,\"message\":"
             "\"unknown parameter \\\"m\\\"; known: n\","
             "\"data\":{\"reason\":\"bad_params\",\"path\":\"/m\"}}}");
    say(&b, "{\"id\":2,\"method\":\"echo\",\"params\":[]}");
    hear(&b, "{\"id\":2,\"error\":{\"code\":-32602,\"message\":"
             "\"expected an object, got an array\","
             "\"data\":{\"reason\":\"bad_params\",\"path\":\"\"}}}");
    say(&b, "{\"id\":3,\"method\":\"long/echo\",\"params\":{\"wait\":1}}");
    hear(&b, "{\"id\":3,\"error\":{\"code\":-32602,\"message\":"
             "\"wait: expected true or false\","
             "\"data\":{\"reason\":\"bad_params\",\"path\":\"/wait\"}}}");
    /* A long operation that fails at once is no job. */
    say(&b, "{\"id\":4,\"method\":\"long/echo\",\"params\":{\"m\":1}}");
    cr_assert_not_null(json_object_get(json_array_get(b.got, 0), "error"));
    close_bench(&b);
}

Test(plain, each_fault_has_its_code) {
    static const int codes[] = {-32602, -32602, PLAIN_UNAVAILABLE, PLAIN_REFUSED, -32603};
    struct bench b;
    open_bench(&b);
    for (int i = 0; i < 5; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "{\"id\":1,\"method\":\"wrong\",\"params\":{\"fault\":%d}}", i);
        say(&b, text);
        snprintf(text, sizeof text,
                 "{\"id\":1,\"error\":{\"code\":%d,\"message\":\"words\","
                 "\"data\":{\"reason\":\"why\",\"hint\":\"do this\"}}}",
                 codes[i]);
        hear(&b, text);
    }
    close_bench(&b);
}

Test(plain, discover_gives_the_table) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"rpc.discover\"}");
    const json_t *result = json_object_get(json_array_get(b.got, 0), "result");
    cr_assert(eq(sz, json_array_size(json_object_get(result, "methods")),
                 ARRAY_LEN(operations)));
    close_bench(&b);
}

Test(plain, a_long_operation_answers_with_a_job_and_tells_how_it_goes) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":\"a\",\"method\":\"long/work\",\"params\":{}}");
    hear(&b, "{\"id\":\"a\",\"result\":{\"job\":\"J\",\"state\":\"running\"}}");
    cr_assert(call_kept(running));
    call_report(running, 1, 4, "one");
    hear(&b, "{\"method\":\"job/changed\",\"params\":{\"job\":\"J\",\"request\":\"a\","
             "\"state\":\"running\",\"progress\":{\"done\":1.0,\"total\":4.0,\"message\":"
             "\"one\"}}}");
    cr_assert(eq(uint, b.droppable, 1));
    call_reply(running, json_true());
    hear(&b, "{\"method\":\"job/changed\",\"params\":{\"job\":\"J\",\"request\":\"a\","
             "\"state\":\"succeeded\",\"progress\":{\"done\":1.0,\"total\":4.0,"
             "\"message\":\"one\"}}}");
    cr_assert(eq(uint, b.droppable, 1), "the final state is not droppable");
    say(&b, "{\"id\":2,\"method\":\"long/echo\"}");
    hear(&b, "{\"id\":2,\"result\":{\"job\":\"J\",\"state\":\"succeeded\"}}");
    close_bench(&b);
}

Test(plain, what_is_known_so_far_is_told_with_the_progress_and_not_with_the_end) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"long/work\",\"params\":{\"wait\":true}}");
    call_set_partial(running, json_pack("{s:i}", "seen", 3));
    call_report(running, 1, 4, NULL);
    hear(&b,
         "{\"method\":\"job/changed\",\"params\":{\"request\":1,\"state\":\"running\","
         "\"progress\":{\"done\":1.0,\"total\":4.0},\"partial\":{\"seen\":3}}}");
    call_reply(running, json_true());
    hear(&b, "{\"id\":1,\"result\":true}");
    say(&b, "{\"id\":\"a\",\"method\":\"long/work\",\"params\":{}}");
    hear(&b, "{\"id\":\"a\",\"result\":{\"job\":\"J\",\"state\":\"running\"}}");
    call_set_partial(running, json_pack("{s:i}", "seen", 3));
    call_reply(running, json_true());
    hear(&b, "{\"method\":\"job/changed\",\"params\":{\"job\":\"J\",\"request\":\"a\","
             "\"state\":\"succeeded\",\"progress\":{\"done\":0.0}}}");
    close_bench(&b);
}

Test(plain, with_wait_it_answers_with_the_result_itself) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"long/echo\",\"params\":{\"n\":1,\"wait\":true}}");
    hear(&b, "{\"id\":1,\"result\":{\"n\":1}}");
    say(&b, "{\"id\":123456789012345678901,\"method\":\"long/"
            "work\",\"params\":{\"wait\":true}}");
    hear_nothing(&b);
    call_report(running, 1, 0, NULL);
    hear(&b,
         "{\"method\":\"job/changed\",\"params\":{\"request\":\"123456789012345678901\","
         "\"state\":\"running\",\"progress\":{\"done\":1.0}}}");
    cr_assert(not(call_kept(running)));
    call_reply(running, json_true());
    cr_assert(eq(sz, json_array_size(b.got), (size_t)1),
              "the reply and nothing after it");
    close_bench(&b);
}

Test(plain, progress_is_told_ten_times_a_second_and_the_latest_is_not_lost) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"work\"}");
    for (int i = 1; i <= 1000; i++) {
        call_report(running, i, 1000, NULL);
    }
    cr_assert(eq(sz, json_array_size(b.got), (size_t)1));
    uv_timer_t keep; /* the face's own timer does not hold the loop */
    uv_timer_init(&b.loop, &keep);
    uv_timer_start(&keep, close_timer, 300, 0);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    cr_assert(eq(sz, json_array_size(b.got), (size_t)2));
    hear(&b, "{\"method\":\"job/changed\",\"params\":{\"request\":1,"
             "\"state\":\"running\",\"progress\":{\"done\":1.0,\"total\":1000.0}}}");
    hear(&b, "{\"method\":\"job/changed\",\"params\":{\"request\":1,"
             "\"state\":\"running\",\"progress\":{\"done\":1000.0,\"total\":1000.0}}}");
    call_reply(running, NULL);
    hear(&b, "{\"id\":1,\"result\":null}");
    close_bench(&b);
}

Test(plain, a_cancelled_request_has_one_answer) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":7,\"method\":\"work\"}");
    say(&b, "{\"method\":\"$/cancelRequest\",\"params\":{\"id\":7}}");
    hear(&b,
         "{\"id\":7,\"error\":{\"code\":-32800,\"message\":\"the request was cancelled\","
         "\"data\":{\"reason\":\"cancelled\"}}}");
    say(&b, "{\"method\":\"$/cancelRequest\",\"params\":{\"id\":7}}");
    say(&b, "{\"method\":\"$/cancelRequest\"}");
    hear_nothing(&b);
    /* It finished while it was being cancelled. */
    refuse_to_stop = true;
    say(&b, "{\"id\":8,\"method\":\"work\"}");
    say(&b, "{\"method\":\"$/cancelRequest\",\"params\":{\"id\":8}}");
    hear_nothing(&b);
    call_reply(running, json_true());
    hear(&b, "{\"id\":8,\"result\":true}");
    hear_nothing(&b);
    cr_assert(eq(uint, cancels, 2));
    close_bench(&b);
}

Test(plain, what_asks_for_input_answers_with_its_work_order) {
    static const char order[] =
        "{\"id\":1,\"result\":{\"job\":\"J\",\"state\":\"input_required\","
        "\"work_order\":{\"instructions\":\"write\"}}}";
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"long/ask\"}");
    hear(&b, order);
    autojson *draft = json_pack("{s:s}", "draft", "d");
    cr_assert(zero(int, call_input(running, draft)));
    cr_assert(eq(sz, json_array_size(b.got), (size_t)2));
    for (size_t i = 0; i < 2; i++) {
        const json_t *params = json_object_get(json_array_get(b.got, i), "params");
        cr_assert_str_eq(json_get_string(params, "state", ""),
                         i ? "succeeded" : "running");
    }
    json_array_clear(b.got);
    say(&b, "{\"id\":1,\"method\":\"long/ask\",\"params\":{\"wait\":true}}");
    hear(&b, order);
    call_input(running, draft);
    json_array_clear(b.got);
    /* Asked later, while the caller waits. */
    say(&b, "{\"id\":1,\"method\":\"long/work\",\"params\":{\"wait\":true}}");
    call_require_input(running, json_pack("{s:s}", "instructions", "write"), on_input,
                       NULL);
    hear(&b, order);
    call_input(running, draft);
    close_bench(&b);
}

Test(plain, a_closing_connection_cancels_what_nobody_kept) {
    struct bench b;
    open_bench(&b);
    say(&b, "{\"id\":1,\"method\":\"work\"}");
    say(&b, "{\"id\":2,\"method\":\"long/work\"}");
    hear(&b, "{\"id\":2,\"result\":{\"job\":\"J\",\"state\":\"running\"}}");
    struct call *job = running;
    call_report(job, 1, 0, NULL);
    call_report(job, 2, 0, NULL); /* leaves a timer */
    json_array_clear(b.got);
    hang_up(&b);
    cr_assert(eq(uint, cancels, 1), "the job goes on");
    hear(&b, "{\"id\":1,\"error\":{\"code\":-32800,\"message\":\"the connection is "
             "closing; keep the input open until the answer "
             "has come\","
             "\"data\":{\"reason\":\"cancelled\"}}}");
    hear_nothing(&b);
    call_reply(job, NULL);
    close_bench(&b);
}
