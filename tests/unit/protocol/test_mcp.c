/* The MCP face: eras, versions, handshakes, roots. Expected messages are written by hand
 * from the specifications. */
#include "tests/unit/protocol/mcp_bench.h"

#define LEGACY_CAPABILITIES "{'tools':{'listChanged':false}}"

Test(mcp, initialize_agrees_on_the_clients_version_or_the_newest_legacy_one) {
    static const struct {
        const char *asked, *agreed, *info;
    } cases[] = {
        {"2024-11-05", "2024-11-05", "{'name':'bench','version':'9.8'}"},
        {"2025-03-26", "2025-03-26", "{'name':'bench','version':'9.8'}"},
        {"2025-06-18", "2025-06-18",
         "{'name':'bench','title':'The Bench','version':'9.8'}"},
        {"2025-11-25", "2025-11-25",
         "{'name':'bench','title':'The Bench','version':'9.8'}"},
        {"2026-07-28", "2025-11-25",
         "{'name':'bench','title':'The Bench','version':'9.8'}"},
        {"1.0", "2025-11-25", "{'name':'bench','title':'The Bench','version':'9.8'}"},
    };
    struct bench *b = bench_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) { /* a second one is answered too */
        char request[512], reply[512];
        snprintf(request, sizeof request,
                 "{'method':'initialize','params':{'protocolVersion':'%s','capabilities':"
                 "{},'clientInfo':{'name':'c','version':'3'}},'jsonrpc':'2.0','id':0}",
                 cases[i].asked);
        bool tasks = strcmp(cases[i].agreed, "2025-11-25") == 0;
        snprintf(
            reply, sizeof reply,
            "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'%s','capabilities':"
            "{'tools':{'listChanged':false}%s},"
            "'serverInfo':%s,'instructions':'Be quick.'}}",
            cases[i].agreed,
            tasks ? ",'tasks':{'cancel':{},'requests':{'tools':{'call':{}}}}" : "",
            cases[i].info);
        expect(b, request, reply);
        cr_assert(eq(str, b->client, (char *)"c 3"));
        cr_assert(eq(uint, b->clients, 1), "told once");
    }
    bench_free(b);
}

Test(mcp, discover_answers_at_once_before_any_handshake) {
    struct bench *b = bench_new();
    expect(b,
           "{'jsonrpc':'2.0','id':'server-discover-probe-1','method':'server/discover',"
           "'params':{'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
           "'io.modelcontextprotocol/clientInfo':{'name':'C','version':'1'},"
           "'io.modelcontextprotocol/clientCapabilities':{}}}}",
           "{'jsonrpc':'2.0','id':'server-discover-probe-1','result':{"
           "'resultType':'complete','supportedVersions':['2026-07-28'],'capabilities':{"
           "'tools':{'listChanged':false},"
           "'extensions':{'io.modelcontextprotocol/tasks':{}}},"
           "'instructions':'Be quick.','ttlMs':3600000,'cacheScope':'public'," SERVER_META
           "}}");
    cr_assert(eq(str, b->client, (char *)"C 1"));
    bench_free(b);
}

Test(mcp, long_instructions_are_cut_on_a_code_point) {
    struct bench *b = bench_new();
    char text[3002] = "";
    for (int i = 0; i < 1000; i++) {
        strcat(text, "\xe2\x82\xac"); /* U+20AC, three bytes */
    }
    b->host.instructions = text;
    json_t *result = result_of(
        b,
        "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" MODERN_META "}}");
    const char *got = json_string_value(json_object_get(result, "instructions"));
    cr_assert(eq(sz, strlen(got), 1998));
    bench_free(b);
}

/* One connection, both eras, in any order. */
Test(mcp, the_era_belongs_to_the_message) {
    static const char modern_list[] =
        "{'jsonrpc':'2.0','id':1,'method':'resources/list','params':{" MODERN_META "}}";
    static const char legacy_list[] =
        "{'jsonrpc':'2.0','id':2,'method':'tools/list','params':{}}";
    struct bench *b = bench_new();
    for (int round = 0; round < 2; round++) {
        json_t *tools = result_of(
            b,
            "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{" MODERN_META "}}");
        assert_json(json_object_get(tools, "resultType"), "'complete'", "modern");
        if (round == 0) {
            expect_error(b, legacy_list, "2", -32602); /* nobody initialized yet */
            initialize(b, "2025-11-25");
        }
        tools = result_of(b, legacy_list);
        cr_assert(json_object_get(tools, "resultType") == NULL);
        cr_assert(json_object_get(tools, "ttlMs") == NULL);
        cr_assert(json_object_get(tools, "_meta") == NULL);
        expect_error(b, modern_list, "1", -32601); /* nothing of that kind is offered */
    }
    bench_free(b);
}

Test(mcp, a_method_of_the_other_era_is_refused) {
    static const char *const removed[] = {"initialize", "ping", "logging/setLevel",
                                          "resources/subscribe", "resources/unsubscribe"};
    struct bench *b = bench_new();
    for (int initialized = 0; initialized < 2; initialized++) {
        for (size_t i = 0; i < ARRAY_LEN(removed); i++) {
            char request[512];
            snprintf(
                request, sizeof request,
                "{'jsonrpc':'2.0','id':'x','method':'%s','params':{'protocolVersion':"
                "'2025-11-25','level':'info','uri':'a:b'," MODERN_META "}}",
                removed[i]);
            expect_error(b, request, "'x'", -32601);
        }
        expect_error(b, "{'jsonrpc':'2.0','id':5,'method':'server/discover','params':{}}",
                     "5", -32602);
        expect_error(b, "{'jsonrpc':'2.0','id':5,'method':'subscriptions/listen'}", "5",
                     -32602);
        initialize(b, "2025-06-18");
    }
    expect_error(
        b,
        "{'jsonrpc':'2.0','id':5,'method':'unknown/method','params':{" MODERN_META "}}",
        "5", -32601);
    bench_free(b);
}

Test(mcp, before_initialize_a_legacy_client_may_only_ping) {
    static const char *const early[] = {
        "tools/list",          "tools/call",  "resources/list",      "resources/read",
        "prompts/list",        "prompts/get", "completion/complete", "logging/setLevel",
        "resources/subscribe", "tasks/get"};
    struct bench *b = bench_new();
    expect(b, "{'jsonrpc':'2.0','id':1,'method':'ping'}",
           "{'jsonrpc':'2.0','id':1,'result':{}}");
    for (size_t i = 0; i < ARRAY_LEN(early); i++) {
        char request[128];
        snprintf(request, sizeof request, "{'jsonrpc':'2.0','id':2,'method':'%s'}",
                 early[i]);
        expect_error(b, request, "2", -32602);
    }
    bench_free(b);
}

Test(mcp, a_modern_message_says_its_version_and_its_capabilities) {
    static const struct {
        const char *meta;
        int code;
    } cases[] = {
        {"{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}", -32602},
        {"{'io.modelcontextprotocol/clientCapabilities':{}}", -32602},
        {"{'io.modelcontextprotocol/clientInfo':{'name':'a','version':'b'}}", -32602},
        {"{'io.modelcontextprotocol/protocolVersion':7,"
         "'io.modelcontextprotocol/clientCapabilities':{}}",
         -32602},
        {"{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
         "'io.modelcontextprotocol/clientCapabilities':[]}",
         -32602},
        {"{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
         "'io.modelcontextprotocol/clientInfo':7,"
         "'io.modelcontextprotocol/clientCapabilities':{}}",
         -32602},
        {"7", -32602},
        {"{'io.modelcontextprotocol/protocolVersion':'2025-11-25',"
         "'io.modelcontextprotocol/clientCapabilities':{}}",
         -32022},
    };
    struct bench *b = bench_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char request[512];
        snprintf(request, sizeof request,
                 "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{'_meta':%s}}",
                 cases[i].meta);
        expect_error(b, request, "1", cases[i].code);
        initialize(b, "2025-11-25"); /* changes nothing */
    }
    json_t *error = expect_error(
        b,
        "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{'_meta':{"
        "'io.modelcontextprotocol/protocolVersion':'1900-01-01',"
        "'io.modelcontextprotocol/clientCapabilities':{}}}}",
        "1", -32022);
    assert_json(json_object_get(error, "message"), "'Unsupported protocol version'", "");
    assert_json(json_object_get(error, "data"),
                "{'supported':['2026-07-28'],'requested':'1900-01-01'}", "data");
    bench_free(b);
}

Test(mcp, malformed_requests_are_refused) {
    static const struct {
        const char *request, *id;
        int code;
    } cases[] = {
        {"{'jsonrpc':'2.0','id':1,'method':'tools/list','params':[]}", "1", -32602},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize','params':{}}", "1", -32602},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize'}", "1", -32602},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':1}}",
         "1", -32602},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':"
         "'2025-11-25','capabilities':[]}}",
         "1", -32602},
        {"{'jsonrpc':'2.0','id':1.5,'method':'ping'}", "null", -32600},
        {"{'jsonrpc':'2.0','id':'9','method':'logging/setLevel','params':{'level':'x'}}",
         "'9'", -32602},
        {"{'jsonrpc':'2.0','id':9,'method':'logging/setLevel','params':{}}", "9", -32602},
    };
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        expect_error(b, cases[i].request, cases[i].id, cases[i].code);
    }
    expect(b,
           "{'jsonrpc':'2.0','id':1,'method':'logging/setLevel','params':"
           "{'level':'warning'}}",
           "{'jsonrpc':'2.0','id':1,'result':{}}");
    bench_free(b);
}

Test(mcp, batches_are_served_in_the_one_revision_that_has_them) {
    static const char batch[] = "[{'jsonrpc':'2.0','id':1,'method':'ping'},"
                                "{'jsonrpc':'2.0','id':2,'method':'ping'}]";
    struct bench *b = bench_new();
    say(b, batch);
    assert_json(json_object_get(json_object_get(next(b), "error"), "code"), "-32600", "");
    initialize(b, "2025-03-26");
    expect(b, batch,
           "[{'jsonrpc':'2.0','id':1,'result':{}},"
           "{'jsonrpc':'2.0','id':2,'result':{}}]");
    initialize(b, "2025-06-18");
    say(b, batch);
    assert_json(json_object_get(json_object_get(next(b), "error"), "code"), "-32600", "");
    bench_free(b);
}

Test(mcp, an_error_without_an_id_looks_as_the_latest_message_did) {
    struct bench *b = bench_new();
    say(b, "{'broken");
    json_t *message = next(b);
    assert_json(json_object_get(message, "id"), "null", "legacy");
    say(b,
        "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" MODERN_META "}}");
    next(b);
    say(b, "{'broken");
    message = next(b);
    assert_json(json_object_get(json_object_get(message, "error"), "code"), "-32700", "");
    cr_assert(json_object_get(message, "id") == NULL);
    bench_free(b);
}

Test(mcp, notifications_are_taken_and_never_answered) {
    static const char *const all[] = {
        "{'jsonrpc':'2.0','method':'notifications/initialized'}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled'}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':99}}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':[]}}",
        "{'jsonrpc':'2.0','method':'notifications/roots/list_changed','params':{}}",
        "{'jsonrpc':'2.0','method':'notifications/what/ever','params':[]}",
    };
    struct bench *b = bench_new();
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        say(b, all[i]);
        hear_nothing(b);
    }
    cr_assert(mcp_notification(b->mcp, "notifications/x", NULL));
    cr_assert(not(mcp_notification(b->mcp, "textDocument/didOpen", NULL)));
    bench_free(b);
}

/* --- roots --- */

static void initialize_with_roots(struct bench *b) {
    say(b, "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"
           "'2025-11-25','capabilities':{'roots':{}},'clientInfo':{'name':'t','version':"
           "'1'}}}");
    next(b);
    hear_nothing(b); /* not before the client said initialized */
    say(b, "{'jsonrpc':'2.0','method':'notifications/initialized'}");
    hear(b, "{'jsonrpc':'2.0','id':1,'method':'roots/list'}");
}

Test(mcp, a_clients_roots_are_asked_for_and_told_as_paths) {
    struct bench *b = bench_new();
    initialize_with_roots(b);
    say(b, "{'jsonrpc':'2.0','id':1,'result':{'roots':["
           "{'uri':'file:///home/a%20b/%C3%A9/'},{'uri':'file://localhost/x/../y'},"
           "{'uri':'FILE:///z'},{'uri':'file:///bad%0'},{'uri':'file:///nul%00'},"
           "{'uri':'file:///not%FFutf8'},{'uri':'file://host/share'},"
           "{'uri':'https://a/b'},{'uri':7},8]}}");
    assert_json(b->roots, "['/home/a b/\xc3\xa9','/y','/z']", "roots");
    say(b, "{'jsonrpc':'2.0','method':'notifications/roots/list_changed'}");
    hear(b, "{'jsonrpc':'2.0','id':2,'method':'roots/list'}");
    say(b, "{'jsonrpc':'2.0','method':'notifications/roots/list_changed'}");
    hear(b, "{'jsonrpc':'2.0','id':3,'method':'roots/list'}");
    say(b, "{'jsonrpc':'2.0','id':2,'result':{'roots':[]}}"); /* out of date */
    assert_json(b->roots, "['/home/a b/\xc3\xa9','/y','/z']", "roots");
    say(b, "{'jsonrpc':'2.0','id':3,'result':{'roots':[]}}");
    assert_json(b->roots, "[]", "roots");
    bench_free(b);
}

Test(mcp, a_client_that_fails_to_tell_its_roots_changes_nothing) {
    struct bench *b = bench_new();
    initialize_with_roots(b);
    say(b, "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'no'}}");
    cr_assert(b->roots == NULL);
    say(b, "{'jsonrpc':'2.0','method':'notifications/roots/list_changed'}");
    next(b); /* still open when the connection ends */
    bench_free(b);
}
