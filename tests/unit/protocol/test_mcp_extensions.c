/* Extensions over MCP, providers that are not ready at once, and news of resources. */
#include "tests/unit/protocol/mcp_bench.h"

static struct question *asked;   /* the latest, unanswered */
static void (*ready)(void *arg); /* of the provider, as it was last waited for */
static void *ready_arg;
static const char *stamp_now;

static void start_echo(void *data, struct question *q) {
    (void)data;
    question_answer(q,
                    json_pack("{s:O}", "echo", (json_t *)(uintptr_t)question_params(q)));
}

static void start_later(void *data, struct question *q) {
    (void)data;
    asked = q;
}

static void start_refuse(void *data, struct question *q) {
    (void)data;
    bool ours = json_get_bool(question_params(q), "ours", 0);
    question_refuse(q, ours ? -EIO : -ENOENT, "no such %s", "thing");
}

static const struct extension_method methods[] = {{"things/echo", start_echo},
                                                  {"things/later", start_later},
                                                  {"things/no", start_refuse}};
static const struct extension things = {.name = "com.example/things",
                                        .settings = "{\"deep\":true}",
                                        .methods = methods,
                                        .method_count = ARRAY_LEN(methods)};
static const struct extension *const extensions[] = {&things, NULL};

static void when_ready(void *data, void (*cb)(void *arg), void *arg) {
    (void)data;
    ready = cb;
    ready_arg = arg;
}

static int list(void *data, const char *cursor, json_t **ret, char **next_cursor,
                struct err *err) {
    (void)data;
    (void)cursor;
    (void)err;
    *ret = from_text("[{'uri':'t:1','name':'one'}]");
    *next_cursor = NULL;
    return 0;
}

static int read_one(void *data, const char *uri, json_t **ret, struct err *err) {
    (void)data;
    (void)err;
    *ret = json_pack("{s:[{s:s,s:s}]}", "contents", "uri", uri, "text", "1");
    return 0;
}

static char *stamp(void *data, const char *uri) {
    (void)data;
    return strcmp(uri, "t:1") == 0 ? strdup(stamp_now) : NULL;
}

static const struct resource_provider provider = {.prefix = "t:",
                                                  .when_ready = when_ready,
                                                  .changes = true,
                                                  .list = list,
                                                  .read = read_one,
                                                  .stamp = stamp};
static const struct resource_provider *const providers[] = {&provider, NULL};

static struct bench *things_bench(void) {
    struct bench *b = bench_new();
    b->tables.resources = providers;
    b->tables.extensions = extensions;
    stamp_now = "a";
    initialize(b, "2025-11-25");
    return b;
}

Test(mcp_extensions, are_announced_in_both_eras_with_their_settings) {
    struct bench *b = things_bench();
    const json_t *result =
        result_of(b, "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{"
                     "'protocolVersion':'2025-11-25','capabilities':{}}}");
    const json_t *all = json_object_get(result, "capabilities");
    assert_json(json_object_get(all, "extensions"),
                "{'com.example/things':{'deep':true}}", "legacy");
    result = result_of(
        b,
        "{'jsonrpc':'2.0','id':0,'method':'server/discover','params':{" MODERN_META "}}");
    all = json_object_get(result, "capabilities");
    assert_json(json_object_get(all, "extensions"),
                "{'com.example/things':{'deep':true},'io.modelcontextprotocol/tasks':{}}",
                "modern");
    assert_json(json_object_get(all, "resources"),
                "{'subscribe':true,'listChanged':true}", "resources");
    bench_free(b);
}

Test(mcp_extensions, methods_answer_now_later_or_refuse_in_the_words_of_the_era) {
    struct bench *b = things_bench();
    expect(b, "{'jsonrpc':'2.0','id':1,'method':'things/echo','params':{'x':1}}",
           "{'jsonrpc':'2.0','id':1,'result':{'echo':{'x':1}}}");
    expect(b, "{'jsonrpc':'2.0','id':1,'method':'things/echo'}",
           "{'jsonrpc':'2.0','id':1,'result':{'echo':{}}}");
    const json_t *result = result_of(
        b, "{'jsonrpc':'2.0','id':2,'method':'things/echo','params':{" MODERN_META "}}");
    assert_json(json_object_get(result, "resultType"), "'complete'", "resultType");
    assert_json(json_object_get(result, "cacheScope"), "'private'", "cacheScope");
    assert_json(json_object_get(result, "ttlMs"), "0", "ttlMs");
    expect_error(b, "{'jsonrpc':'2.0','id':3,'method':'things/no'}", "3", -32602);
    expect_error(b,
                 "{'jsonrpc':'2.0','id':3,'method':'things/no','params':{'ours':true}}",
                 "3", -32603);
    expect_error(b, "{'jsonrpc':'2.0','id':3,'method':'things/none'}", "3", -32601);
    say(b, "{'jsonrpc':'2.0','id':4,'method':'things/later'}");
    hear_nothing(b);
    question_answer(asked, json_object());
    hear(b, "{'jsonrpc':'2.0','id':4,'result':{}}");
    bench_free(b);
}

Test(mcp_extensions, a_cancelled_question_is_answered_to_nobody) {
    struct bench *b = things_bench();
    say(b, "{'jsonrpc':'2.0','id':4,'method':'things/later'}");
    say(b,
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':4}}");
    question_answer(asked, json_object());
    hear_nothing(b);
    say(b, "{'jsonrpc':'2.0','id':5,'method':'things/later'}");
    bench_free(b);
    question_refuse(asked, -EINVAL, "too late"); /* the face has gone before */
}

#define READ "{'jsonrpc':'2.0','id':7,'method':'resources/read','params':{'uri':'t:1'}}"

Test(mcp_extensions, a_request_waits_until_its_provider_is_ready) {
    struct bench *b = things_bench();
    say(b, READ);
    hear_nothing(b);
    ready(ready_arg);
    hear(b, "{'jsonrpc':'2.0','id':7,'result':{'contents':[{'uri':'t:1','text':'1'}]}}");
    say(b, "{'jsonrpc':'2.0','id':8,'method':'resources/list'}");
    ready(ready_arg);
    hear(b,
         "{'jsonrpc':'2.0','id':8,'result':{'resources':[{'uri':'t:1','name':'one'}]}}");
    say(b, READ);
    say(b,
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':7}}");
    ready(ready_arg);
    hear_nothing(b);
    say(b, READ);
    bench_free(b);
    ready(ready_arg); /* the face has gone before */
}

Test(mcp_extensions, a_legacy_client_hears_of_new_lists_and_of_what_it_subscribed_to) {
    struct bench *b = things_bench();
    say(b, "{'jsonrpc':'2.0','id':1,'method':'resources/subscribe','params':{"
           "'uri':'t:1'}}");
    hear_nothing(b);
    ready(ready_arg); /* what nobody has looked at has no changes to tell of */
    hear(b, "{'jsonrpc':'2.0','id':1,'result':{}}");
    mcp_resources_changed(b->mcp);
    hear(b, "{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}");
    hear_nothing(b);
    stamp_now = "b";
    mcp_resources_changed(b->mcp);
    hear(b, "{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}");
    hear(b, "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{"
            "'uri':'t:1'}}");
    mcp_resources_look(b->mcp);
    hear_nothing(b);
    stamp_now = "c"; /* without an event, and the list is as it was */
    mcp_resources_look(b->mcp);
    hear(b, "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{"
            "'uri':'t:1'}}");
    hear_nothing(b);
    bench_free(b);
}

Test(mcp_extensions, a_modern_client_hears_only_of_what_it_listens_to) {
    struct bench *b = bench_new();
    b->tables.resources = providers;
    stamp_now = "a";
    say(b,
        "{'jsonrpc':'2.0','id':1,'method':'subscriptions/listen','params':{" MODERN_META
        ",'notifications':{'resourcesListChanged':true,'resourceSubscriptions':['t:1']"
        "}}}");
    hear_nothing(b);
    ready(ready_arg);
    const json_t *accepted =
        json_object_get(json_object_get(next(b), "params"), "notifications");
    assert_json(accepted, "{'resourcesListChanged':true,'resourceSubscriptions':['t:1']}",
                "accepted");
    stamp_now = "b";
    mcp_resources_changed(b->mcp);
    hear(b, "{'jsonrpc':'2.0','method':'notifications/resources/list_changed','params':{"
            "'_meta':{'io.modelcontextprotocol/subscriptionId':1}}}");
    hear(b, "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{"
            "'uri':'t:1','_meta':{'io.modelcontextprotocol/subscriptionId':1}}}");
    hear_nothing(b);
    bench_free(b);
}
