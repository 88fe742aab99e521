#pragma once
/* mcp_bench: a peer over memory with the MCP face behind it and a table of made-up
 * operations, for the tests of mcp*.c. JSON in the tests is written with ' for ". */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "protocol/mcp/mcp.h"
#include "protocol/operation.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>
#include <uv.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

#define CREATED "2026-01-02T03:04:05.678Z"
#define MODERN_META                                                                      \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                   \
    "'io.modelcontextprotocol/clientCapabilities':{}}"
#define TASKS_META                                                                       \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                   \
    "'io.modelcontextprotocol/clientCapabilities':{'elicitation':{},"                    \
    "'extensions':{'io.modelcontextprotocol/tasks':{}}}}"
/* What every modern result carries. */
#define SERVER_META                                                                      \
    "'_meta':{'io.modelcontextprotocol/serverInfo':"                                     \
    "{'name':'bench','title':'The Bench','version':'9.8'}}"

struct bench {
    uv_loop_t loop;
    struct call_origin origin;
    struct face_settings settings;
    struct face_tables tables;
    struct face_host host;
    struct rpc_peer *peer;
    struct mcp *mcp;
    json_t *out;   /* every message sent, in order */
    size_t read;   /* how many of them were looked at */
    json_t *roots; /* what set_roots got last */
    char client[64];
    unsigned clients; /* how often set_client was called */
    json_t *kept;     /* ids, in order */
    struct call *jobs[16];
    json_t *seen_params;  /* of the latest operation */
    struct call *running; /* the latest slow or asking call; a reference */
    unsigned cancels;
};
static struct bench *bench; /* the operations have no other way to it */

static json_t *from_text(const char *text) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_error_t error;
    json_t *value = json_loads(copy, JSON_DECODE_ANY, &error);
    cr_assert(value != NULL, "bad JSON in the test: %s in %s", error.text, copy);
    free(copy);
    return value;
}

/* --- operations --- */

static void remember(struct call *call, const json_t *params) {
    json_decref(bench->seen_params);
    bench->seen_params = json_deep_copy(params);
    if (bench->running) {
        call_unref(bench->running);
    }
    bench->running = call_ref(call);
}

static void echo_start(struct call *call, const json_t *params) {
    remember(call, params);
    call_reply(call, json_pack("{s:O}", "said", json_object_get(params, "text")));
}

static void echo_describe(const json_t *result, struct buf *out) {
    buf_addf(out, "It said %s.", json_string_value(json_object_get(result, "said")));
}

static void on_slow_cancel(struct call *call, void *data) {
    (void)data;
    bench->cancels++;
    call_stopped(call);
}

static void slow_start(struct call *call, const json_t *params) {
    remember(call, params);
    call_on_cancel(call, on_slow_cancel, NULL);
}

static void on_input(struct call *call, const json_t *input, void *data) {
    (void)data;
    call_reply(call, json_pack("{s:O}", "got", (json_t *)(uintptr_t)input));
}

static void ask_start(struct call *call, const json_t *params) {
    remember(call, params);
    call_on_cancel(call, on_slow_cancel, NULL);
    call_require_input(call, from_text("{'instructions':'Write it.'}"), on_input, NULL);
}

static void fail_start(struct call *call, const json_t *params) {
    remember(call, params);
    call_fail(call, CALL_UNAVAILABLE, "no_teapot", "Buy a teapot.",
              "There is no teapot.");
}

static const struct operation operations[] = {
    {.name = "test/echo",
     .tool = "echo",
     .title = "Echo",
     .summary = "Says it again.",
     .params_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":"
                      "[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}}}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{\"text\":\"hello\"}",
     .flags = OPERATION_READ_ONLY,
     .start = echo_start,
     .describe = echo_describe},
    {.name = "test/slow",
     .tool = "slow",
     .title = "Slow",
     .summary = "Takes its time.",
     .tool_help = "Takes its time, for models.",
     .params_schema = "{\"type\":\"object\"}",
     .tool_schema = "{\"type\":\"object\",\"properties\":{}}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .flags = OPERATION_LONG | OPERATION_DESTRUCTIVE | OPERATION_OPEN_WORLD,
     .start = slow_start},
    {.name = "test/quick",
     .tool = "quick",
     .title = "Quick",
     .summary = "Not long, yet it can take a while.",
     .params_schema = "{\"type\":\"object\"}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .flags = OPERATION_IDEMPOTENT,
     .start = slow_start},
    {.name = "test/hidden",
     .title = "Hidden",
     .summary = "No tool.",
     .params_schema = "{\"type\":\"object\"}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .start = echo_start},
    {.name = "test/ask",
     .tool = "ask",
     .title = "Ask",
     .summary = "Needs something.",
     .params_schema = "{\"type\":\"object\"}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .flags = OPERATION_LONG,
     .start = ask_start},
    {.name = "test/fail",
     .tool = "fail",
     .title = "Fail",
     .summary = "Fails.",
     .params_schema = "{\"type\":\"object\"}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .start = fail_start},
    {.name = "job/status",
     .tool = "job_status",
     .title = "Job",
     .summary = "Waits.",
     .params_schema = "{\"type\":\"object\"}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .flags = OPERATION_READ_ONLY,
     .start = slow_start},
};

/* --- the host --- */

static void on_kept(struct call *call, void *data) {
    struct bench *b = data;
    size_t n = json_array_size(b->kept);
    cr_assert(n < ARRAY_LEN(b->jobs));
    b->jobs[n] = call_ref(call);
    json_array_append_new(b->kept, json_string(call_keep(call)));
}

/* As the daemon keeps jobs: "old", "away" and "lost" are another process's. */
static json_t *find_job(void *data, const char *id, struct call **live) {
    struct bench *b = data;
    *live = NULL;
    if (strcmp(id, "old") == 0) {
        return from_text("{'job':'old','state':'succeeded','progress':{'done':1},"
                         "'operation':'test/echo','created':'" CREATED "',"
                         "'updated':'" CREATED "','result':{'said':'hi'}}");
    }
    if (strcmp(id, "away") == 0) {
        return from_text("{'job':'away','state':'running','progress':{'done':0},"
                         "'created':'" CREATED "','updated':'" CREATED "'}");
    }
    if (strcmp(id, "lost") == 0) {
        return from_text("{'job':'lost','state':'interrupted','progress':{'done':0},"
                         "'created':'" CREATED "','updated':'" CREATED "','error':"
                         "{'message':'The daemon has ended.'}}");
    }
    for (size_t i = 0; i < json_array_size(b->kept); i++) {
        struct call *call = b->jobs[i];
        if (strcmp(call_keep(call), id) != 0) {
            continue;
        }
        *live = call;
        json_t *job =
            json_pack("{s:s,s:s,s:{s:f},s:s,s:s}", "job", id, "state",
                      call_state_name(call_state(call)), "progress", "done",
                      call_progress(call)->done, "created", CREATED, "updated", CREATED);
        if (call_progress(call)->message) {
            json_object_set_new(json_object_get(job, "progress"), "message",
                                json_string(call_progress(call)->message));
        }
        if (call_result(call)) {
            json_object_set(job, "result", (json_t *)(uintptr_t)call_result(call));
        }
        if (call_work_order(call)) {
            json_object_set(job, "work_order",
                            (json_t *)(uintptr_t)call_work_order(call));
        }
        if (call_failure(call)) {
            json_object_set_new(job, "error",
                                json_pack("{s:s,s:{s:s}}", "message",
                                          call_failure(call)->message, "data", "reason",
                                          call_failure(call)->reason));
        }
        return job;
    }
    return NULL;
}

static void on_roots(void *data, const json_t *paths) {
    struct bench *b = data;
    json_decref(b->roots);
    b->roots = json_deep_copy(paths);
}

static void on_client(void *data, const char *name, const char *version) {
    struct bench *b = data;
    snprintf(b->client, sizeof b->client, "%s %s", name, version);
    b->clients++;
}

static void on_request(struct rpc_call *call, void *data) {
    struct bench *b = data;
    if (!mcp_request(b->mcp, call)) {
        rpc_error(call, RPC_METHOD_NOT_FOUND, NULL, "no such method");
    }
}

static void on_notification(struct rpc_peer *peer, enum frame_mode mode,
                            const char *method, json_t *params, void *data) {
    (void)peer;
    (void)mode;
    struct bench *b = data;
    mcp_notification(b->mcp, method, params);
}

static void on_send(struct rpc_peer *peer, char *bytes, size_t len, bool droppable,
                    void *data) {
    (void)peer;
    (void)droppable;
    struct bench *b = data;
    cr_assert(bytes[len - 1] == '\n');
    json_t *message = json_loadb(bytes, len, 0, NULL);
    if (!message) { /* an id past what jansson's integers hold */
        message = json_loadb(bytes, len, JSON_DECODE_INT_AS_REAL, NULL);
    }
    cr_assert(message != NULL, "no JSON was sent: %.*s", (int)len, bytes);
    json_array_append_new(b->out, message);
    free(bytes);
}

/* --- a bench's life --- */

static struct bench *bench_new(void) {
    static const struct rpc_events events = {
        .request = on_request, .notification = on_notification, .send = on_send};
    struct bench *b = bench = xcalloc(1, sizeof *b);
    struct operation_table *ops = operation_table_new();
    struct err err = {0};
    cr_assert(zero(int, uv_loop_init(&b->loop)));
    cr_assert(operation_table_add(ops, operations, ARRAY_LEN(operations), &err) == 0,
              "%s", err.msg);
    b->origin = (struct call_origin){.loop = &b->loop, .client = ""};
    b->settings = face_settings_default;
    b->settings.structured = true;
    b->tables.operations = ops;
    b->host = (struct face_host){.tables = &b->tables,
                                 .settings = &b->settings,
                                 .origin = &b->origin,
                                 .name = "bench",
                                 .title = "The Bench",
                                 .version = "9.8",
                                 .instructions = "Be quick.",
                                 .job = find_job,
                                 .set_roots = on_roots,
                                 .set_client = on_client,
                                 .data = b};
    b->out = json_array();
    b->kept = json_array();
    b->peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &events, b);
    b->mcp = mcp_new(&b->host, b->peer);
    static struct call_observer observer;
    observer = (struct call_observer){.kept = on_kept, .data = b};
    call_set_observer(&observer);
    return b;
}

/* Let the loop work for that long; 0 = only what is due. */
static void bench_run(struct bench *b, unsigned ms) {
    uint64_t end = clock_ms() + ms;
    do {
        uv_run(&b->loop, UV_RUN_NOWAIT);
        if (ms) {
            uv_sleep(1);
        }
    } while (clock_ms() < end);
    for (int i = 0; i < 3; i++) {
        uv_run(&b->loop, UV_RUN_NOWAIT);
    }
}

/* The face goes first, as in the daemon; nothing may be left on the loop. */
static void bench_free(struct bench *b) {
    mcp_free(b->mcp);
    rpc_peer_free(b->peer);
    for (size_t i = 0; i < json_array_size(b->kept); i++) {
        call_cancel(b->jobs[i]);
        call_unref(b->jobs[i]);
    }
    if (b->running) {
        call_cancel(b->running);
        call_unref(b->running);
    }
    call_set_observer(NULL);
    bench_run(b, 0);
    cr_assert(eq(int, uv_loop_close(&b->loop), 0), "the loop closes");
    operation_table_free((struct operation_table *)(uintptr_t)b->tables.operations);
    json_decref(b->out);
    json_decref(b->kept);
    json_decref(b->roots);
    json_decref(b->seen_params);
    free(b);
}

/* --- talking --- */

static void say(struct bench *b, const char *text) {
    char *line = NULL;
    if (asprintf(&line, "%s\n", text) < 0) {
        abort();
    }
    for (char *c = line; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    rpc_feed(b->peer, line, strlen(line));
    free(line);
    bench_run(b, 0);
}

/* The next message that was sent, or NULL: borrowed. */
static json_t *next(struct bench *b) {
    return b->read < json_array_size(b->out) ? json_array_get(b->out, b->read++) : NULL;
}

static void assert_json(const json_t *got, const char *expected, const char *what) {
    json_t *want = from_text(expected);
    if (!json_equal(got, want)) {
        char *a = got ? json_dumps(got, JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
        char *e = json_dumps(want, JSON_SORT_KEYS | JSON_ENCODE_ANY);
        cr_assert(false, "%s\n     got %s\nexpected %s", what, a ? a : "nothing", e);
    }
    json_decref(want);
}

/* The next message is exactly this. */
static void hear(struct bench *b, const char *expected) {
    assert_json(next(b), expected, "next message");
}

static void hear_nothing(struct bench *b) {
    json_t *message = next(b);
    char *text = message ? json_dumps(message, 0) : NULL;
    cr_assert(text == NULL, "unexpected: %s", text);
}

/* Say it and hear exactly that. */
static void expect(struct bench *b, const char *request, const char *expected) {
    say(b, request);
    assert_json(next(b), expected, request);
    hear_nothing(b);
}

/* Say it and hear an error with this code for this id (JSON text). Returns the error. */
static json_t *expect_error(struct bench *b, const char *request, const char *id,
                            int code) {
    say(b, request);
    json_t *message = next(b);
    json_t *error = json_object_get(message, "error");
    int got = (int)json_number_value(json_object_get(error, "code"));
    cr_assert(error != NULL, "no error for %s", request);
    cr_assert(got == code, "%d, not %d for %s", got, code, request);
    assert_json(json_object_get(message, "id"), id, request);
    cr_assert(json_string_value(json_object_get(error, "message")) != NULL);
    hear_nothing(b);
    return error;
}

/* The result of a request that must succeed. */
static json_t *result_of(struct bench *b, const char *request) {
    say(b, request);
    json_t *result = json_object_get(next(b), "result");
    cr_assert(result != NULL, "no result for %s", request);
    hear_nothing(b);
    return result;
}

static const char *text_of(const json_t *result) {
    return json_string_value(
        json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
}

static void initialize(struct bench *b, const char *version) {
    char request[256];
    snprintf(request, sizeof request,
             "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"
             "'%s','capabilities':{},'clientInfo':{'name':'t','version':'1'}}}",
             version);
    say(b, request);
    cr_assert(next(b) != NULL);
}

#pragma GCC diagnostic pop
