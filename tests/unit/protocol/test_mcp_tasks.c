/* Jobs as MCP tasks (the modern extension and revision 2025-11-25), and subscriptions. */
#include "protocol/mcp/mcp_internal.h"
#include "tests/unit/protocol/mcp_bench.h"

#define CALL(id, name, meta)                                                             \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'" name         \
    "','arguments':{}," meta "}}"
#define REQUIRED                                                                         \
    "{'requiredCapabilities':{'extensions':{'io.modelcontextprotocol/tasks':{}}}}"

/* Start a tool as a task; returns its id (borrowed). */
static const char *start(struct bench *b, const char *request) {
    size_t before = json_array_size(b->kept);
    say(b, request);
    cr_assert(eq(sz, json_array_size(b->kept), before + 1));
    next(b);
    return json_string_value(json_array_get(b->kept, before));
}

static char *request_for(const char *method, const char *id, const char *rest) {
    static char request[1024];
    snprintf(request, sizeof request,
             "{'jsonrpc':'2.0','id':8,'method':'%s','params':{'taskId':'%s'%s}}", method,
             id, rest);
    return request;
}

static void expect_task(struct bench *b, const char *id, const char *fields) {
    char expected[2048];
    snprintf(expected, sizeof expected,
             "{'jsonrpc':'2.0','id':8,'result':{'resultType':'complete'," SERVER_META ","
             "'taskId':'%s','createdAt':'" CREATED "','lastUpdatedAt':'" CREATED "',"
             "'ttlMs':null,'pollIntervalMs':1000,%s}}",
             id, fields);
    expect(b, request_for("tasks/get", id, "," TASKS_META), expected);
}

Test(mcp_tasks, a_long_tool_is_a_task_for_a_client_that_knows_tasks) {
    struct bench *b = bench_new();
    say(b, CALL("1", "slow", TASKS_META));
    cr_assert(eq(sz, json_array_size(b->kept), 1), "kept before the reply");
    const char *id = json_string_value(json_array_get(b->kept, 0));
    char expected[1024];
    snprintf(expected, sizeof expected,
             "{'jsonrpc':'2.0','id':1,'result':{'resultType':'task','taskId':'%s',"
             "'status':'working','createdAt':'" CREATED "','lastUpdatedAt':'" CREATED "',"
             "'ttlMs':null,'pollIntervalMs':1000," SERVER_META "}}",
             id);
    hear(b, expected);
    expect_task(b, id, "'status':'working'");
    call_report(b->running, 1, 2, "halfway");
    expect_task(b, id, "'status':'working','statusMessage':'halfway'");
    call_reply(b->running, from_text("{'x':1}"));
    bench_run(b, 0);
    hear_nothing(b);
    expect_task(b, id,
                "'status':'completed','statusMessage':'halfway','result':{'content':[{"
                "'type':'text','text':'{\\'x\\':1}'}],'isError':false,"
                "'structuredContent':{'x':1}}");
    bench_free(b);
}

Test(mcp_tasks, a_client_that_does_not_know_tasks_never_gets_one) {
    struct bench *b = bench_new();
    b->settings.tool_wait_ms = 10;
    say(b, CALL("1", "slow", MODERN_META));
    bench_run(b, 30);
    const json_t *result = json_object_get(next(b), "result");
    assert_json(json_object_get(result, "resultType"), "'complete'", "");
    cr_assert(json_object_get(result, "taskId") == NULL);
    assert_json(json_object_get(json_object_get(result, "structuredContent"), "state"),
                "'running'", "");
    bench_free(b);
}

Test(mcp_tasks, a_quick_tool_becomes_a_task_when_it_takes_too_long) {
    struct bench *b = bench_new();
    b->settings.tool_wait_ms = 10;
    say(b, CALL("1", "quick", TASKS_META));
    hear_nothing(b);
    bench_run(b, 30);
    assert_json(json_object_get(json_object_get(next(b), "result"), "resultType"),
                "'task'", "");
    say(b, CALL("2", "echo", TASKS_META)); /* bad arguments: a result, no task */
    assert_json(json_object_get(json_object_get(next(b), "result"), "isError"), "true",
                "");
    bench_free(b);
}

Test(mcp_tasks, a_tool_that_failed_is_a_completed_task) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "slow", TASKS_META));
    call_fail(b->running, CALL_INTERNAL, "bad_luck", NULL, "It broke.");
    expect_task(b, id,
                "'status':'completed','statusMessage':'It broke.','result':{'content':[{"
                "'type':'text','text':'It broke.'}],'isError':true,'structuredContent':"
                "{'error':{'message':'It broke.','reason':'bad_luck'}}}");
    bench_free(b);
}

Test(mcp_tasks, jobs_of_other_processes_are_tasks_too) {
    struct bench *b = bench_new();
    expect_task(b, "old",
                "'status':'completed','result':{'content':[{'type':'text','text':"
                "'It said hi.'}],'isError':false,'structuredContent':{'said':'hi'}}");
    expect_task(b, "lost",
                "'status':'failed','statusMessage':"
                "'The daemon has ended.','error':{'code':-32603,'message':'The daemon has ended.'}");
    bench_free(b);
}

Test(mcp_tasks, an_unknown_task_and_a_client_without_the_extension_are_refused) {
    static const char *const methods[] = {"tasks/get", "tasks/update", "tasks/cancel"};
    struct bench *b = bench_new();
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        expect_error(
            b, request_for(methods[i], "nonesuch", ",'inputResponses':{}," TASKS_META),
            "8", -32602);
        json_t *error = expect_error(
            b, request_for(methods[i], "old", ",'inputResponses':{}," MODERN_META), "8",
            -32021);
        assert_json(json_object_get(error, "data"), REQUIRED, "data");
    }
    expect_error(
        b, "{'jsonrpc':'2.0','id':8,'method':'tasks/get','params':{" TASKS_META "}}", "8",
        -32602);
    bench_free(b);
}

Test(mcp_tasks, cancelling_is_acknowledged_and_seen) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "slow", TASKS_META));
    const char *ack =
        "{'jsonrpc':'2.0','id':8,'result':{'resultType':'complete'," SERVER_META "}}";
    expect(b, request_for("tasks/cancel", id, "," TASKS_META), ack);
    cr_assert(eq(uint, b->cancels, 1));
    expect_task(b, id, "'status':'cancelled'");
    expect(b, request_for("tasks/cancel", id, "," TASKS_META), ack); /* too late */
    expect(b, request_for("tasks/cancel", "old", "," TASKS_META), ack);
    /* The request is answered: its cancellation means nothing to the task. */
    id = start(b, CALL("2", "slow", TASKS_META));
    say(b,
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}");
    expect_task(b, id, "'status':'working'");
    bench_free(b);
}

/* --- input --- */

/* The key of the only input request, and its request. */
static const char *input_key(struct bench *b, const char *id, json_t **request) {
    const json_t *task = result_of(b, request_for("tasks/get", id, "," TASKS_META));
    assert_json(json_object_get(task, "status"), "'input_required'", "status");
    assert_json(json_object_get(task, "statusMessage"), "'Write it.'", "message");
    json_t *requests = json_object_get(task, "inputRequests");
    cr_assert(eq(sz, json_object_size(requests), 1));
    void *first = json_object_iter(requests);
    *request = json_object_iter_value(first);
    return json_object_iter_key(first);
}

Test(mcp_tasks, a_task_asks_for_input_and_goes_on_with_it) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "ask", TASKS_META));
    json_t *request;
    char *key = strdup(input_key(b, id, &request));
    assert_json(request,
                "{'method':'elicitation/create','params':{'mode':'form','message':"
                "'Write it.','requestedSchema':{'type':'object','properties':{'draft':"
                "{'type':'string'}},'required':['draft']}}}",
                "form");
    const char *again = input_key(b, id, &request);
    cr_assert(eq(str, key, (char *)(uintptr_t)again), "the same at every poll");

    static const char *const bad[] = {"7", "{'action':'shrug'}", "{'action':'accept'}"};
    char rest[512];
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        snprintf(rest, sizeof rest, ",'inputResponses':{'%s':%s}," TASKS_META, key,
                 bad[i]);
        expect_error(b, request_for("tasks/update", id, rest), "8", -32602);
    }
    expect_error(b, request_for("tasks/update", id, "," TASKS_META), "8", -32602);
    result_of(
        b, request_for("tasks/update", id, ",'inputResponses':{'other':7}," TASKS_META));
    input_key(b, id, &request); /* still waiting: that was nothing it had asked for */

    snprintf(rest, sizeof rest,
             ",'inputResponses':{'%s':{'action':'accept','content':{'draft':'d'}}}"
             "," TASKS_META,
             key);
    expect(b, request_for("tasks/update", id, rest),
           "{'jsonrpc':'2.0','id':8,'result':{'resultType':'complete'," SERVER_META "}}");
    expect_task(b, id,
                "'status':'completed','result':{'content':[{'type':'text','text':"
                "'{\\'got\\':{\\'draft\\':\\'d\\'}}'}],'isError':false,"
                "'structuredContent':{'got':{'draft':'d'}}}");
    result_of(b, request_for("tasks/update", id, rest)); /* again: ignored */
    free(key);
    bench_free(b);
}

/* Who is to fill in the form sees what is wanted, in words or as it was ordered. */
Test(mcp_tasks, an_order_without_instructions_is_shown_itself) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "slow", TASKS_META));
    call_require_input(b->running, from_text("{'wanted':['a','b']}"), on_input, NULL);
    const json_t *task = result_of(b, request_for("tasks/get", id, "," TASKS_META));
    void *first = json_object_iter(json_object_get(task, "inputRequests"));
    const json_t *params = json_object_get(json_object_iter_value(first), "params");
    assert_json(json_object_get(params, "message"), "'{\\'wanted\\':[\\'a\\',\\'b\\']}'",
                "message");
    bench_free(b);
}

Test(mcp_tasks, a_client_without_forms_is_asked_for_none) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "ask", TASKS_META));
    const json_t *task = result_of(
        b, request_for("tasks/get", id,
                       ",'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                       "'io.modelcontextprotocol/clientCapabilities':{'extensions':{"
                       "'io.modelcontextprotocol/tasks':{}}}}"));
    assert_json(json_object_get(task, "status"), "'input_required'", "status");
    assert_json(json_object_get(task, "inputRequests"), "{}", "no requests");
    assert_json(json_object_get(task, "statusMessage"), "'Write it.'", "message");
    bench_free(b);
}

Test(mcp_tasks, declined_input_cancels_the_task) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "ask", TASKS_META));
    json_t *request;
    char rest[512];
    snprintf(rest, sizeof rest,
             ",'inputResponses':{'%s':{'action':'decline'}}," TASKS_META,
             input_key(b, id, &request));
    result_of(b, request_for("tasks/update", id, rest));
    expect_task(b, id, "'status':'cancelled'");
    bench_free(b);
}

/* --- subscriptions --- */

#define LISTEN(id, filter, meta)                                                         \
    "{'jsonrpc':'2.0','id':" id ",'method':'subscriptions/listen','params':{" meta       \
    ",'notifications':" filter "}}"
#define ACK(id, filter)                                                                  \
    "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':{"    \
    "'_meta':{'io.modelcontextprotocol/subscriptionId':" id "},'notifications':" filter  \
    "}}"

Test(mcp_subscriptions, are_acknowledged_first_and_end_at_closing) {
    struct bench *b = bench_new();
    say(b, LISTEN("1", "{'toolsListChanged':true}", MODERN_META));
    hear(b, ACK("1", "{}")); /* the list never changes: not promised */
    hear_nothing(b);
    say(b, LISTEN("'two'", "{}", MODERN_META));
    hear(b, ACK("'two'", "{}"));
    say(b,
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}");
    hear_nothing(b);
    mcp_closing(b->mcp);
    hear(b, "{'jsonrpc':'2.0','id':'two','result':{'resultType':'complete','_meta':{"
            "'io.modelcontextprotocol/subscriptionId':'two',"
            "'io.modelcontextprotocol/serverInfo':{'name':'bench','title':'The Bench',"
            "'version':'9.8'}}}}");
    hear_nothing(b);
    say(b, LISTEN("3", "{}", MODERN_META)); /* left open at the end */
    bench_free(b);
}

Test(mcp_subscriptions, malformed_filters_are_refused) {
    struct bench *b = bench_new();
    expect_error(b, LISTEN("1", "7", MODERN_META), "1", -32602);
    expect_error(b, LISTEN("1", "{'resourceSubscriptions':'x'}", MODERN_META), "1",
                 -32602);
    expect_error(b, LISTEN("1", "{'taskIds':{}}", TASKS_META), "1", -32602);
    json_t *error =
        expect_error(b, LISTEN("1", "{'taskIds':['a']}", MODERN_META), "1", -32021);
    assert_json(json_object_get(error, "data"), REQUIRED, "data");
    expect_error(b, LISTEN("123456789012345678901234567890", "{}", MODERN_META),
                 "1.2345678901234568e29", -32602);
    bench_free(b);
}

Test(mcp_subscriptions, a_watched_task_tells_its_states_and_not_its_progress) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "slow", TASKS_META));
    char text[1024], expected[1024];
    snprintf(text, sizeof text,
             LISTEN("5", "{'taskIds':['%s','old','none',7]}", TASKS_META), id);
    say(b, text);
    snprintf(expected, sizeof expected, ACK("5", "{'taskIds':['%s']}"), id);
    hear(b, expected);
    call_report(b->running, 1, 2, NULL);
    hear_nothing(b);
    call_require_input(b->running, from_text("{'instructions':'More.'}"), on_input, NULL);
    json_t *message = next(b);
    assert_json(json_object_get(message, "method"), "'notifications/tasks'", "method");
    const json_t *params = json_object_get(message, "params");
    assert_json(json_object_get(params, "status"), "'input_required'", "status");
    cr_assert(eq(sz, json_object_size(json_object_get(params, "inputRequests")), 1));
    hear_nothing(b);
    const json_t *input = json_null();
    call_input(b->running, input);
    bench_run(b, 0);
    params = json_object_get(next(b), "params");
    assert_json(json_object_get(params, "status"), "'working'", "it goes on");
    snprintf(expected, sizeof expected,
             "{'jsonrpc':'2.0','method':'notifications/tasks','params':{'_meta':{"
             "'io.modelcontextprotocol/subscriptionId':5},'taskId':'%s','status':"
             "'completed','createdAt':'" CREATED "','lastUpdatedAt':'" CREATED "',"
             "'ttlMs':null,'pollIntervalMs':1000,'result':{'content':[{'type':'text',"
             "'text':'{\\'got\\':null}'}],'isError':false,'structuredContent':{'got':"
             "null}}}}",
             id);
    hear(b, expected);
    hear_nothing(b);
    bench_free(b);
}

Test(mcp_subscriptions, a_task_named_twice_is_watched_once) {
    struct bench *b = bench_new();
    const char *id = start(b, CALL("1", "slow", TASKS_META));
    char text[1024], expected[1024];
    snprintf(text, sizeof text, LISTEN("5", "{'taskIds':['%s','%s']}", TASKS_META), id,
             id);
    say(b, text);
    snprintf(expected, sizeof expected, ACK("5", "{'taskIds':['%s']}"), id);
    hear(b, expected);
    call_require_input(b->running, from_text("{'instructions':'More.'}"), on_input, NULL);
    cr_assert(next(b) != NULL);
    hear_nothing(b);
    bench_free(b);
}

Test(mcp_subscriptions, several_tasks_are_watched_each_once) {
    struct bench *b = bench_new();
    char ids[2][64], text[1024], expected[1024];
    for (int i = 0; i < 2; i++) {
        snprintf(ids[i], sizeof ids[i], "%s", start(b, CALL("1", "slow", TASKS_META)));
    }
    snprintf(text, sizeof text, LISTEN("5", "{'taskIds':['%s','%s','%s']}", TASKS_META),
             ids[0], ids[1], ids[0]);
    say(b, text);
    snprintf(expected, sizeof expected, ACK("5", "{'taskIds':['%s','%s']}"), ids[0],
             ids[1]);
    hear(b, expected);
    for (int i = 0; i < 2; i++) {
        call_reply(b->jobs[i], json_object());
        bench_run(b, 0);
        const json_t *params = json_object_get(next(b), "params");
        cr_expect_str_eq(json_get_string(params, "taskId", ""), ids[i]);
        cr_expect_str_eq(json_get_string(params, "status", ""), "completed");
        hear_nothing(b);
    }
    bench_free(b);
}

Test(mcp_subscriptions, so_many_can_be_open_and_no_more) {
    struct bench *b = bench_new();
    char text[512];
    for (int i = 0; i <= MCP_MAX_LISTENS; i++) {
        snprintf(text, sizeof text, LISTEN("%d", "{}", MODERN_META), i);
        say(b, text);
        const json_t *message = next(b);
        cr_assert(
            eq(int, json_object_get(message, "error") != NULL, i == MCP_MAX_LISTENS));
    }
    bench_free(b);
}

Test(mcp_tasks, what_runs_in_another_process_is_not_said_to_be_cancelled) {
    struct bench *b = bench_new();
    expect_error(b, request_for("tasks/cancel", "away", "," TASKS_META), "8", -32602);
    bench_free(b);
}

/* --- revision 2025-11-25 --- */

#define LEGACY_CALL(id, name)                                                            \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'" name         \
    "','arguments':{},'task':{'ttl':60000}}}"

static void expect_legacy_task(struct bench *b, const char *method, const char *id,
                               const char *status) {
    char expected[512];
    snprintf(expected, sizeof expected,
             "{'jsonrpc':'2.0','id':8,'result':{'taskId':'%s','status':'%s',"
             "'createdAt':'" CREATED "','lastUpdatedAt':'" CREATED "','ttl':null,"
             "'pollInterval':1000}}",
             id, status);
    expect(b, request_for(method, id, ""), expected);
}

Test(mcp_tasks, revision_2025_11_25_asks_for_tasks_and_blocks_for_results) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    say(b, LEGACY_CALL("1", "slow"));
    const char *id = json_string_value(json_array_get(b->kept, 0));
    char expected[512];
    snprintf(expected, sizeof expected,
             "{'jsonrpc':'2.0','id':1,'result':{'task':{'taskId':'%s','status':'working',"
             "'createdAt':'" CREATED "','lastUpdatedAt':'" CREATED "','ttl':null,"
             "'pollInterval':1000}}}",
             id);
    hear(b, expected);
    expect_legacy_task(b, "tasks/get", id, "working");
    say(b, request_for("tasks/result", id, ""));
    hear_nothing(b);
    call_reply(b->running, from_text("{'x':1}"));
    bench_run(b, 0);
    snprintf(expected, sizeof expected,
             "{'jsonrpc':'2.0','id':8,'result':{'content':[{'type':'text','text':"
             "'{\\'x\\':1}'}],'isError':false,'structuredContent':{'x':1},'_meta':{"
             "'io.modelcontextprotocol/related-task':{'taskId':'%s'}}}}",
             id);
    hear(b, expected);
    expect(b, request_for("tasks/result", id, ""), expected); /* and once more */
    expect_legacy_task(b, "tasks/get", id, "completed");
    expect_error(b, request_for("tasks/cancel", id, ""), "8", -32602);
    bench_free(b);
}

/* Its client waits for tasks/result, and its model must see the order. */
Test(mcp_tasks, revision_2025_11_25_gets_the_order_of_a_task_that_waits) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    const char *id = start(b, LEGACY_CALL("1", "slow"));
    say(b, request_for("tasks/result", id, ""));
    hear_nothing(b);
    for (int early = 1; early >= 0; early--) {
        if (early) {
            call_require_input(b->running, from_text("{'instructions':'Write it.'}"),
                               on_input, NULL);
            bench_run(b, 0);
        } else {
            say(b, request_for("tasks/result", id, "")); /* it waits already */
        }
        const json_t *result = json_object_get(next(b), "result");
        const char *text = json_get_string(
            json_array_get(json_object_get(result, "content"), 0), "text", "");
        cr_expect(strstr(text, id) && strstr(text, "instructions: Write it."), "%s", text);
        assert_json(json_object_get(result, "isError"), "false", "isError");
    }
    bench_free(b);
}

Test(mcp_tasks, revision_2025_11_25_has_its_own_errors) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    expect_error(b, LEGACY_CALL("1", "echo"), "1", -32601); /* never a task */
    expect_error(b, request_for("tasks/get", "none", ""), "8", -32602);
    expect_error(b, request_for("tasks/result", "none", ""), "8", -32602);
    expect_error(b, request_for("tasks/update", "old", ""), "8", -32602);
    const char *id = start(b, LEGACY_CALL("1", "slow"));
    say(b, request_for("tasks/result", id, ""));
    say(b,
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':8}}");
    hear_nothing(b);
    expect_legacy_task(b, "tasks/cancel", id, "cancelled");
    expect_error(b, request_for("tasks/cancel", id, ""), "8", -32602);
    id = start(b, LEGACY_CALL("1", "slow"));
    say(b, request_for("tasks/result", id, "")); /* left open at the end */
    initialize(b, "2025-06-18");
    expect_error(b,
                 "{'jsonrpc':'2.0','id':9,'method':'tasks/get','params':{'taskId':"
                 "'old'}}",
                 "9", -32601);
    bench_free(b);
}
