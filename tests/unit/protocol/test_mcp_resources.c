/* Resources, prompts and completion over MCP. */
#include "tests/unit/protocol/mcp_bench.h"

/* --- providers --- */

/* Two pages: "a:1" then "a:2"; the provider's own cursor is "p2". */
static int list_a(void *data, const char *cursor, json_t **ret, char **next_cursor,
                  struct err *err) {
    (void)data;
    if (cursor && strcmp(cursor, "p2") != 0) {
        return err_set(err, -EINVAL, "bad cursor");
    }
    *ret = from_text(cursor ? "[{'uri':'a:2','name':'two'}]"
                            : "[{'uri':'a:1','name':'one','mimeType':'text/plain'}]");
    *next_cursor = cursor ? NULL : strdup("p2");
    return 0;
}

static int list_b(void *data, const char *cursor, json_t **ret, char **next_cursor,
                  struct err *err) {
    (void)data;
    (void)err;
    (void)cursor;
    *ret = from_text("[{'uri':'a:long/1','name':'three'}]");
    *next_cursor = NULL;
    return 0;
}

static json_t *templates_a(void *data) {
    (void)data;
    return from_text("[{'uriTemplate':'a:{id}','name':'t'}]");
}

static int read_any(void *data, const char *uri, json_t **ret, struct err *err) {
    if (strcmp(uri, "a:broken") == 0) {
        return err_set(err, -EIO, "the disk is gone");
    }
    if (!strchr(uri, '1')) {
        return err_set(err, -ENOENT, "no");
    }
    *ret = json_pack("{s:[{s:s,s:s}]}", "contents", "uri", uri, "text", (char *)data);
    return 0;
}

static json_t *complete_many(void *data, const char *uri, const char *argument,
                             const char *value) {
    (void)data;
    (void)uri;
    json_t *all = json_array();
    for (int i = 0; i < 150; i++) {
        json_array_append_new(all, json_sprintf("%s%s%d", argument, value, i));
    }
    return all;
}

static int changes; /* of a:1 */

static char *stamp_a(void *data, const char *uri) {
    (void)data;
    char text[16];
    snprintf(text, sizeof text, "%d", strcmp(uri, "a:1") == 0 ? changes : 0);
    return strdup(text);
}

static const struct resource_provider provider_a = {.prefix = "a:",
                                                    .list = list_a,
                                                    .templates = templates_a,
                                                    .read = read_any,
                                                    .complete = complete_many,
                                                    .stamp = stamp_a,
                                                    .data = "from a"};
static const struct resource_provider provider_b = {
    .prefix = "a:long/", .list = list_b, .read = read_any, .data = "from b"};
static const struct resource_provider *const providers[] = {&provider_a, &provider_b,
                                                            NULL};

/* --- prompts --- */

static int prompt_get(void *data, const json_t *arguments, json_t **ret,
                      struct err *err) {
    (void)data;
    const char *who = json_get_string(arguments, "who", "");
    if (strcmp(who, "nobody") == 0) {
        return err_set(err, -EINVAL, "nobody is no one");
    }
    *ret = json_pack("{s:s,s:[{s:s,s:{s:s,s:s}}]}", "description", "D", "messages",
                     "role", "user", "content", "type", "text", "text", who);
    return 0;
}

static json_t *prompt_complete(void *data, const char *argument, const char *value) {
    (void)data;
    return json_pack("[s,s]", argument, value);
}

static const struct prompt greet = {
    .name = "greet",
    .title = "Greet",
    .description = "Greets.",
    .arguments = "[{\"name\":\"who\",\"description\":\"whom\",\"required\":true},"
                 "{\"name\":\"how\"}]",
    .get = prompt_get,
    .complete = prompt_complete,
};
static const struct prompt bare = {.name = "bare", .get = prompt_get};
static const struct prompt *const prompts[] = {&greet, &bare, NULL};

static struct bench *full_bench(void) {
    struct bench *b = bench_new();
    b->tables.resources = providers;
    b->tables.prompts = prompts;
    initialize(b, "2025-11-25");
    return b;
}

/* --- tests --- */

Test(mcp_resources, what_is_there_is_announced) {
    struct bench *b = full_bench();
    const json_t *result =
        result_of(b, "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{"
                     "'protocolVersion':'2025-06-18','capabilities':{}}}");
    assert_json(json_object_get(result, "capabilities"),
                "{'tools':{'listChanged':false},'resources':{'subscribe':true,"
                "'listChanged':false},'prompts':{'listChanged':false},'completions':{}}",
                "capabilities");
    result = result_of(b, "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{"
                          "'protocolVersion':'2024-11-05','capabilities':{}}}");
    cr_assert(json_object_get(json_object_get(result, "capabilities"), "completions") ==
              NULL); /* that capability came later */
    bench_free(b);
}

Test(mcp_resources, nothing_there_is_an_empty_list_or_no_method) {
    static const struct {
        const char *method, *list;
    } cases[] = {{"resources/list", "{'resources':[]}"},
                 {"resources/templates/list", "{'resourceTemplates':[]}"},
                 {"prompts/list", "{'prompts':[]}"}};
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char request[512];
        snprintf(request, sizeof request,
                 "{'jsonrpc':'2.0','id':1,'method':'%s','params':{}}", cases[i].method);
        assert_json(result_of(b, request), cases[i].list, cases[i].method);
        snprintf(request, sizeof request,
                 "{'jsonrpc':'2.0','id':1,'method':'%s','params':{" MODERN_META "}}",
                 cases[i].method);
        expect_error(b, request, "1", -32601);
    }
    bench_free(b);
}

Test(mcp_resources, the_providers_pages_follow_one_another) {
    static const struct {
        const char *cursor, *uri, *next;
    } pages[] = {{"", "a:1", "0:p2"},
                 {",'cursor':'0:p2'", "a:2", "1:"},
                 {",'cursor':'1:'", "a:long/1", NULL}};
    struct bench *b = full_bench();
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        char request[512];
        snprintf(
            request, sizeof request,
            "{'jsonrpc':'2.0','id':1,'method':'resources/list','params':{" MODERN_META
            "%s}}",
            pages[i].cursor);
        const json_t *result = result_of(b, request);
        const json_t *list = json_object_get(result, "resources");
        const char *cursor = json_string_value(json_object_get(result, "nextCursor"));
        cr_assert(eq(sz, json_array_size(list), 1));
        cr_assert(zero(int, strcmp(json_get_string(json_array_get(list, 0), "uri", ""),
                                   pages[i].uri)));
        cr_assert(pages[i].next ? cursor && strcmp(cursor, pages[i].next) == 0 : !cursor);
        assert_json(json_object_get(result, "cacheScope"), "'private'", "scope");
        assert_json(json_object_get(result, "ttlMs"), "0", "ttl");
    }
    static const char *const bad[] = {"'0:x'", "'2:'", "'-1:'",
                                      "' 1:'", "'x'",  "''",
                                      "7",     "'0'",  "'99999999999999999999:'"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char request[512];
        snprintf(
            request, sizeof request,
            "{'jsonrpc':'2.0','id':1,'method':'resources/list','params':{'cursor':%s}}",
            bad[i]);
        expect_error(b, request, "1", -32602);
    }
    assert_json(
        result_of(b, "{'jsonrpc':'2.0','id':1,'method':'resources/templates/list'}"),
        "{'resourceTemplates':[{'uriTemplate':'a:{id}','name':'t'}]}", "");
    bench_free(b);
}

#define READ(uri, meta)                                                                  \
    "{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':" uri meta "}}"

Test(mcp_resources, are_read_from_the_provider_with_the_longest_prefix) {
    struct bench *b = full_bench();
    assert_json(result_of(b, READ("'a:1'", "")),
                "{'contents':[{'uri':'a:1','text':'from a'}]}", "");
    assert_json(result_of(b, READ("'a:long/1'", "")),
                "{'contents':[{'uri':'a:long/1','text':'from b'}]}", "");
    expect(b, READ("'a:1'", "," MODERN_META),
           "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','ttlMs':0,"
           "'cacheScope':'private'," SERVER_META ",'contents':[{'uri':'a:1','text':"
           "'from a'}]}}");
    bench_free(b);
}

Test(mcp_resources, an_unknown_one_has_its_eras_code) {
    struct bench *b = full_bench();
    static const char *const unknown[] = {"a:2", "b:1"};
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        char request[512], data[64];
        snprintf(data, sizeof data, "{'uri':'%s'}", unknown[i]);
        snprintf(request, sizeof request, READ("'%s'", ""), unknown[i]);
        json_t *error = expect_error(b, request, "1", -32002);
        assert_json(json_object_get(error, "data"), data, "data");
        snprintf(request, sizeof request, READ("'%s'", "," MODERN_META), unknown[i]);
        error = expect_error(b, request, "1", -32602);
        assert_json(json_object_get(error, "data"), data, "data");
    }
    expect_error(b, READ("7", ""), "1", -32602);
    expect_error(b, READ("'a:broken'", ""), "1", -32603);
    bench_free(b);
}

static struct question *late;

static void read_later(void *data, const char *uri, struct question *q) {
    (void)data;
    cr_assert(strcmp(uri, json_get_string(question_params(q), "uri", "")) == 0);
    late = q;
}

static struct bench *late_bench(void) {
    static const struct resource_provider provider = {
        .prefix = "a:", .list = list_b, .read_later = read_later};
    static const struct resource_provider *const only[] = {&provider, NULL};
    struct bench *b = bench_new();
    b->tables.resources = only;
    initialize(b, "2025-11-25");
    return b;
}

static json_t *late_contents(void) {
    return json_pack("{s:[{s:s,s:s}]}", "contents", "uri", "a:1", "text", "late");
}

Test(mcp_resources, a_provider_may_answer_later) {
    struct bench *b = late_bench();
    say(b, READ("'a:1'", ""));
    hear_nothing(b);
    question_answer(late, late_contents());
    hear(b,
         "{'jsonrpc':'2.0','id':1,'result':{'contents':[{'uri':'a:1','text':'late'}]}}");
    say(b, READ("'a:1'", "," MODERN_META));
    question_answer(late, late_contents());
    hear(b, "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','ttlMs':0,"
            "'cacheScope':'private'," SERVER_META
            ",'contents':[{'uri':'a:1','text':'late'}]}}");
    say(b, READ("'a:2'", ""));
    question_refuse(late, -ENOENT, "no");
    hear(b, "{'jsonrpc':'2.0','id':1,'error':{'code':-32002,'message':'Resource not "
            "found','data':{'uri':'a:2'}}}");
    say(b, READ("'a:2'", "," MODERN_META));
    question_refuse(late, -ENOENT, "no");
    hear(b, "{'jsonrpc':'2.0','id':1,'error':{'code':-32602,'message':'Resource not "
            "found','data':{'uri':'a:2'}}}");
    say(b, READ("'a:1'", ""));
    say(b,
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}");
    question_answer(late, late_contents());
    hear_nothing(b);
    bench_free(b);
}

#define SUBSCRIBE(method, uri)                                                           \
    "{'jsonrpc':'2.0','id':1,'method':'resources/" method "','params':{'uri':'" uri "'}" \
    "}"
#define EMPTY "{'jsonrpc':'2.0','id':1,'result':{}}"

Test(mcp_resources, subscribers_of_either_era_hear_of_changes) {
    struct bench *b = full_bench();
    expect(b, SUBSCRIBE("subscribe", "a:1"), EMPTY);
    expect_error(b, SUBSCRIBE("subscribe", "b:1"), "1", -32002);
    say(b,
        "{'jsonrpc':'2.0','id':'s','method':'subscriptions/listen','params':{" MODERN_META
        ",'notifications':{'resourceSubscriptions':['a:1','b:1',3]}}}");
    hear(b,
         "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':"
         "{'_meta':{'io.modelcontextprotocol/subscriptionId':'s'},'notifications':{"
         "'resourceSubscriptions':['a:1']}}}");
    mcp_resources_look(b->mcp);
    hear_nothing(b);
    changes++;
    mcp_resources_look(b->mcp);
    hear(b, "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':"
            "'a:1'}}");
    hear(b,
         "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'_meta':{"
         "'io.modelcontextprotocol/subscriptionId':'s'},'uri':'a:1'}}");
    expect(b, SUBSCRIBE("unsubscribe", "a:1"), EMPTY);
    expect(b, SUBSCRIBE("unsubscribe", "a:1"), EMPTY);
    say(b, "{'jsonrpc':'2.0','method':'notifications/"
           "cancelled','params':{'requestId':'s'}}");
    changes++;
    mcp_resources_look(b->mcp);
    hear_nothing(b);
    bench_free(b);
}

Test(mcp_resources, legacy_subscriptions_are_bounded) {
    struct bench *b = full_bench();
    for (int i = 0; i < 300; i++) {
        char request[256];
        snprintf(request, sizeof request, SUBSCRIBE("subscribe", "a:%d"), i);
        if (i < 256) {
            expect(b, request, EMPTY);
        } else {
            expect_error(b, request, "1", -32602);
        }
    }
    bench_free(b);
}

Test(mcp_prompts, are_listed_with_their_arguments) {
    struct bench *b = full_bench();
    assert_json(result_of(b, "{'jsonrpc':'2.0','id':1,'method':'prompts/list'}"),
                "{'prompts':[{'name':'greet','title':'Greet','description':'Greets.',"
                "'arguments':[{'name':'who','description':'whom','required':true},"
                "{'name':'how'}]},{'name':'bare','arguments':[]}]}",
                "legacy");
    const json_t *result = result_of(
        b, "{'jsonrpc':'2.0','id':1,'method':'prompts/list','params':{" MODERN_META "}}");
    assert_json(json_object_get(result, "cacheScope"), "'public'", "scope");
    expect_error(b,
                 "{'jsonrpc':'2.0','id':1,'method':'prompts/list','params':{'cursor':"
                 "'x'}}",
                 "1", -32602);
    bench_free(b);
}

#define GET(rest) "{'jsonrpc':'2.0','id':1,'method':'prompts/get','params':{" rest "}}"

Test(mcp_prompts, are_filled_in) {
    static const char *const bad[] = {GET(""),
                                      GET("'name':'none'"),
                                      GET("'name':'greet'"),
                                      GET("'name':'greet','arguments':{'who':7}"),
                                      GET("'name':'greet','arguments':[]"),
                                      GET("'name':'greet','arguments':{'who':'nobody'}")};
    struct bench *b = full_bench();
    assert_json(result_of(b, GET("'name':'greet','arguments':{'who':'me'}")),
                "{'description':'D','messages':[{'role':'user','content':{'type':'text',"
                "'text':'me'}}]}",
                "legacy");
    expect(b, GET("'name':'bare'," MODERN_META),
           "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete'," SERVER_META ","
           "'description':'D','messages':[{'role':'user','content':{'type':'text',"
           "'text':''}}]}}");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        expect_error(b, bad[i], "1", -32602);
    }
    bench_free(b);
}

#define COMPLETE(rest)                                                                   \
    "{'jsonrpc':'2.0','id':1,'method':'completion/complete','params':{" rest "}}"

Test(mcp_completion, suggests_at_most_a_hundred_values) {
    static const char *const bad[] = {
        COMPLETE(""),
        COMPLETE("'ref':{'type':'ref/prompt','name':'greet'}"),
        COMPLETE("'ref':{'type':'ref/prompt','name':'x'},'argument':{'name':'a','value':"
                 "'b'}"),
        COMPLETE("'ref':{'type':'ref/prompt'},'argument':{'name':'a','value':'b'}"),
        COMPLETE("'ref':{'type':'ref/resource','uri':'z:'},'argument':{'name':'a',"
                 "'value':'b'}"),
        COMPLETE("'ref':{'type':'other'},'argument':{'name':'a','value':'b'}"),
        COMPLETE("'ref':{'type':'ref/prompt','name':'greet'},'argument':{'name':'a',"
                 "'value':7}"),
    };
    struct bench *b = full_bench();
    assert_json(result_of(b, COMPLETE("'ref':{'type':'ref/prompt','name':'greet'},"
                                      "'argument':{'name':'who','value':'m'}")),
                "{'completion':{'values':['who','m'],'total':2,'hasMore':false}}", "");
    assert_json(result_of(b, COMPLETE("'ref':{'type':'ref/prompt','name':'bare'},"
                                      "'argument':{'name':'who','value':'m'}")),
                "{'completion':{'values':[],'total':0,'hasMore':false}}", "");
    const json_t *completion = json_object_get(
        result_of(b, COMPLETE("'ref':{'type':'ref/resource','uri':'a:{id}'},"
                              "'argument':{'name':'id','value':'x'}," MODERN_META)),
        "completion");
    const json_t *values = json_object_get(completion, "values");
    cr_assert(eq(sz, json_array_size(values), 100));
    assert_json(json_array_get(values, 0), "'idx0'", "first");
    assert_json(json_object_get(completion, "total"), "150", "total");
    assert_json(json_object_get(completion, "hasMore"), "true", "more");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        expect_error(b, bad[i], "1", -32602);
    }
    bench_free(b);
}
