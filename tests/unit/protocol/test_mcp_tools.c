/* Tools over MCP: the list, calls, progress, waiting, cancelling. */
#include "base/mem.h"
#include "protocol/mcp/mcp_internal.h"
#include "tests/unit/protocol/mcp_bench.h"

#define CALL(id, name, rest)                                                             \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'" name         \
    "'" rest "}}"

Test(mcp_tools, the_list_is_the_table_in_its_order) {
    struct bench *b = bench_new();
    expect(
        b, "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{" MODERN_META "}}",
        "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','ttlMs':3600000,"
        "'cacheScope':'public'," SERVER_META ",'tools':["
        "{'name':'echo','title':'Echo','description':'Says it again.','inputSchema':"
        "{'type':'object','additionalProperties':false,'required':['text'],'properties':"
        "{'text':{'type':'string'}}},'annotations':{'readOnlyHint':true,"
        "'openWorldHint':false}},"
        "{'name':'slow','title':'Slow','description':'Takes its time, for models.',"
        "'inputSchema':{'type':'object','properties':{}},'annotations':{}},"
        "{'name':'quick','title':'Quick','description':"
        "'Not long, yet it can take a while.','inputSchema':{'type':'object'},"
        "'annotations':{'destructiveHint':false,'idempotentHint':true,"
        "'openWorldHint':false}},"
        "{'name':'ask','title':'Ask','description':'Needs something.','inputSchema':"
        "{'type':'object'},'annotations':{'destructiveHint':false,'openWorldHint':false}}"
        ","
        "{'name':'fail','title':'Fail','description':'Fails.','inputSchema':"
        "{'type':'object'},'annotations':{'destructiveHint':false,'openWorldHint':false}}"
        ","
        "{'name':'job_status','title':'Job','description':'Waits.','inputSchema':"
        "{'type':'object'},'annotations':{'readOnlyHint':true,'openWorldHint':false}}"
        "]}}");
    bench_free(b);
}

Test(mcp_tools, older_revisions_get_only_the_fields_they_know) {
    static const struct {
        const char *version;
        bool title, annotations, execution;
    } cases[] = {{"2024-11-05", false, false, false},
                 {"2025-03-26", false, true, false},
                 {"2025-06-18", true, true, false},
                 {"2025-11-25", true, true, true}};
    struct bench *b = bench_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        initialize(b, cases[i].version);
        const json_t *result =
            result_of(b, "{'jsonrpc':'2.0','id':1,'method':'tools/list'}");
        const json_t *slow = json_array_get(json_object_get(result, "tools"), 1);
        cr_assert(eq(sz, json_object_size(result), 1));
        cr_assert(eq(int, json_object_get(slow, "title") != NULL, cases[i].title));
        cr_assert(
            eq(int, json_object_get(slow, "annotations") != NULL, cases[i].annotations));
        cr_assert(
            eq(int, json_object_get(slow, "execution") != NULL, cases[i].execution));
    }
    bench_free(b);
}

/* The list is written once for each version. */
Test(mcp_tools, the_list_stays_each_versions_own) {
    static const char *const requests[] = {
        "{'jsonrpc':'2.0','id':1,'method':'tools/list'}",
        "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{" MODERN_META "}}"};
    struct bench *b = bench_new();
    json_t *first[3] = {NULL};
    for (size_t i = 0; i < 9; i++) {
        size_t which = i % 3; /* 0 and 1 after initialize, 2 without */
        if (which < 2) {
            initialize(b, which ? "2025-11-25" : "2025-03-26");
        }
        json_t *result = result_of(b, requests[which == 2]);
        if (!first[which]) {
            first[which] = json_incref(result);
        }
        cr_assert(json_equal(result, first[which]), "request %zu", i);
    }
    cr_assert(not(json_equal(first[0], first[1])));
    cr_assert(not(json_equal(first[1], first[2])));
    for (size_t i = 0; i < 3; i++) {
        json_decref(first[i]);
    }
    bench_free(b);
}

Test(mcp_tools, a_cursor_that_was_never_given_is_refused) {
    struct bench *b = bench_new();
    expect_error(b,
                 "{'jsonrpc':'2.0','id':1,'method':'tools/"
                 "list','params':{'cursor':'x'," MODERN_META "}}",
                 "1", -32602);
    expect_error(
        b,
        "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{'cursor':3," MODERN_META
        "}}",
        "1", -32602);
    bench_free(b);
}

/* --- results --- */

Test(mcp_tools, a_result_is_text_and_where_known_structure) {
    static const struct {
        const char *version, *result;
    } cases[] = {
        {"2024-11-05",
         "{'content':[{'type':'text','text':'It said hi.'}],'isError':false}"},
        {"2025-03-26",
         "{'content':[{'type':'text','text':'It said hi.'}],'isError':false}"},
        {"2025-06-18",
         "{'content':[{'type':'text','text':'It said hi.'}],'isError':false,"
         "'structuredContent':{'said':'hi'}}"},
        {"2025-11-25",
         "{'content':[{'type':'text','text':'It said hi.'}],'isError':false,"
         "'structuredContent':{'said':'hi'}}"},
    };
    struct bench *b = bench_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        initialize(b, cases[i].version);
        assert_json(result_of(b, CALL("1", "echo", ",'arguments':{'text':'hi'}")),
                    cases[i].result, cases[i].version);
    }
    expect(b, CALL("1", "echo", ",'arguments':{'text':'hi'}," MODERN_META),
           "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete'," SERVER_META ","
           "'content':[{'type':'text','text':'It said hi.'}],'isError':false,"
           "'structuredContent':{'said':'hi'}}}");
    bench_free(b);
}

static bool structure_comes(struct bench *b, const char *request) {
    const json_t *result = result_of(b, request);
    assert_json(json_object_get(result, "content"),
                "[{'type':'text','text':'It said hi.'}]", request);
    return json_object_get(result, "structuredContent");
}

/* Most clients show their model the structure, instead of the text or beside it: it comes
 * only where the configuration asks for it, whatever the client's name is. */
Test(mcp_tools, structure_comes_only_where_it_is_asked_for) {
    cr_assert(not(face_settings_default.structured));
    for (int structured = 0; structured < 2; structured++) {
        struct bench *b = bench_new();
        b->settings.structured = structured;
        cr_assert(eq(int,
                     structure_comes(
                         b, CALL("1", "echo",
                                 ",'arguments':{'text':'hi'},'_meta':{"
                                 "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                                 "'io.modelcontextprotocol/clientCapabilities':{}}")),
                     structured));
        bench_free(b);
        b = bench_new();
        b->settings.structured = structured;
        initialize(b, "2025-11-25");
        cr_assert(eq(int,
                     structure_comes(b, CALL("1", "echo", ",'arguments':{'text':'hi'}")),
                     structured));
        bench_free(b);
    }
}

Test(mcp_tools, a_call_that_cannot_be_made_is_an_error_of_the_protocol) {
    static const char *const calls[] = {
        CALL("1", "nonesuch", ""),
        CALL("1", "test/echo", ""), /* a method's name is no tool's */
        CALL("1", "hidden", ""),
        CALL("1", "echo", ",'arguments':[]"),
        "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{}}",
        "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':7}}",
    };
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        expect_error(b, calls[i], "1", -32602);
    }
    cr_assert(b->running == NULL, "nothing was started");
    bench_free(b);
}

Test(mcp_tools, bad_arguments_are_a_result_that_a_model_can_act_on) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    const json_t *result = result_of(b, CALL("1", "echo", ",'arguments':{'text':7}"));
    assert_json(json_object_get(result, "isError"), "true", "isError");
    cr_assert(strstr(text_of(result), "/text") != NULL, "%s", text_of(result));
    cr_assert(strstr(text_of(result), "{\"text\":\"hello\"}") != NULL, "%s",
              text_of(result));
    const json_t *error =
        json_object_get(json_object_get(result, "structuredContent"), "error");
    assert_json(json_object_get(error, "path"), "'/text'", "path");
    result = result_of(b, CALL("2", "echo", ""));
    assert_json(json_object_get(result, "isError"), "true", "missing arguments");
    bench_free(b);
}

Test(mcp_tools, a_failed_call_says_why_and_what_next) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    expect(b, CALL("1", "fail", ""),
           "{'jsonrpc':'2.0','id':1,'result':{'isError':true,'content':[{'type':'text',"
           "'text':'There is no teapot.\\nHint: Buy a teapot.'}],'structuredContent':"
           "{'error':{'message':'There is no teapot.','reason':'no_teapot',"
           "'hint':'Buy a teapot.'}}}}");
    bench_free(b);
}

/* 'hint': what an operation says; 'told': what the model reads. */
Test(mcp_tools, hints_name_tools_and_not_methods) {
    static const struct {
        const char *hint, *told;
    } cases[] = {
        {"test/slow takes its time", "slow takes its time"},
        {"wait (test/echo); or test/slow, then test/quick",
         "wait (echo); or slow, then quick"},
        {"test/hidden shows all", "`upskillctl test hidden` shows all"},
        {"test/slowly, a/test/slow, /test/slow and test/slow/x are files",
         "test/slowly, a/test/slow, /test/slow and test/slow/x are files"},
        {"", ""},
        {"no name, and \xc3\xa4", "no name, and \xc3\xa4"},
    };
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *told = mcp_hint(b->mcp, cases[i].hint);
        cr_assert(zero(int, strcmp(told, cases[i].told)), "%s", told);
        say(b, CALL("1", "slow", ""));
        call_fail(b->running, CALL_NOT_FOUND, "none", cases[i].hint, "There is none.");
        bench_run(b, 0);
        const json_t *result = json_object_get(next(b), "result");
        autofree char *text = xasprintf("There is none.\nHint: %s", cases[i].told);
        cr_assert(zero(int, strcmp(text_of(result), text)), "%s", text_of(result));
        const json_t *error =
            json_object_get(json_object_get(result, "structuredContent"), "error");
        cr_assert(zero(int, strcmp(json_get_string(error, "hint", "-"), cases[i].told)));
    }
    bench_free(b);
}

Test(mcp_tools, hints_within_results_name_tools_too) {
    static const struct {
        const char *result, *told;
    } cases[] = {
        {"{'evaluation':{'error':'x','hint':'test/slow measures'},'hint':'test/slow'}",
         "{'evaluation':{'error':'x','hint':'slow measures'},'hint':'test/slow'}"},
        {"{'result':{'evaluation':{'hint':'test/slow'}},'state':'succeeded'}",
         "{'result':{'evaluation':{'hint':'slow'}},'state':'succeeded'}"},
        {"{'error':{'message':'m','data':{'hint':'test/slow'}}}",
         "{'error':{'message':'m','data':{'hint':'slow'}}}"},
        {"{'evaluation':{'hint':7},'error':'x','result':[1]}",
         "{'evaluation':{'hint':7},'error':'x','result':[1]}"},
    };
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *result = from_text(cases[i].result);
        say(b, CALL("1", "slow", ""));
        call_reply(b->running, json_incref(result));
        bench_run(b, 0);
        const json_t *answer = json_object_get(next(b), "result");
        assert_json(json_object_get(answer, "structuredContent"), cases[i].told, "");
        autojson *as_it_was = from_text(cases[i].result);
        cr_assert(eq(int, json_equal(result, as_it_was), 1), "others hold it too");
    }
    bench_free(b);
}

Test(mcp_tools, long_text_is_cut_on_a_code_point_and_says_so) {
    struct bench *b = bench_new();
    b->settings.max_tool_text = 200;
    initialize(b, "2025-11-25");
    char request[2048] = "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':"
                         "'echo','arguments':{'text':'";
    for (int i = 0; i < 300; i++) {
        strcat(request, "\xe2\x82\xac");
    }
    strcat(request, "'}}}");
    const json_t *result = result_of(b, request);
    const char *text = text_of(result), *cut = strstr(text, "\n[cut: ");
    cr_assert(le(sz, strlen(text), 200));
    cr_assert(ge(sz, strlen(text), 190));
    cr_assert(cut != NULL, "%s", text);
    cr_assert(zero(sz, ((size_t)(cut - text) - strlen("It said ")) % 3),
              "whole code points");
    cr_assert(strstr(cut, "909 bytes") != NULL, "%s", cut); /* 8 + 3 * 300 + 1 */
    cr_assert(strstr(cut, "structuredContent") != NULL);
    const char *whole = json_string_value(
        json_object_get(json_object_get(result, "structuredContent"), "said"));
    cr_assert(eq(sz, strlen(whole), 900));
    bench_free(b);
}

/* --- waiting --- */

Test(mcp_tools, a_call_that_takes_long_becomes_a_job) {
    struct bench *b = bench_new();
    b->settings.tool_wait_ms = 30;
    initialize(b, "2025-11-25");
    say(b, CALL("1", "slow", ""));
    call_report(b->running, 1, 4, "warming up");
    call_set_partial(b->running, from_text("{'half':true}"));
    hear_nothing(b);
    cr_assert(not(call_kept(b->running)));
    bench_run(b, 60);
    const json_t *result = json_object_get(next(b), "result");
    char expected[512];
    const char *id = json_string_value(json_array_get(b->kept, 0));
    snprintf(expected, sizeof expected,
             "{'job':'%s','state':'running','progress':{'done':1.0,'total':4.0,"
             "'message':'warming up'},'partial':{'half':true}}",
             id);
    assert_json(json_object_get(result, "structuredContent"), expected, "job");
    assert_json(json_object_get(result, "isError"), "false", "isError");
    cr_assert(strstr(text_of(result), id) != NULL);
    cr_assert(strstr(text_of(result), "job_status") != NULL);
    cr_assert(strstr(text_of(result), "job_cancel") == NULL, "there is no such tool");
    cr_assert(strstr(text_of(result), "{\"half\":true}") != NULL);
    call_reply(b->running, json_object());
    bench_run(b, 0);
    hear_nothing(b);
    bench_free(b);
}

Test(mcp_tools, a_call_that_is_done_at_once_is_never_a_job) {
    struct bench *b = bench_new();
    b->settings.tool_wait_ms = 0;
    initialize(b, "2025-11-25");
    assert_json(
        json_object_get(result_of(b, CALL("1", "echo", ",'arguments':{'text':'hi'}")),
                        "structuredContent"),
        "{'said':'hi'}", "result");
    bench_free(b);
}

Test(mcp_tools, a_call_that_waits_for_a_job_comes_back_in_time) {
    struct bench *b = bench_new();
    b->settings.tool_wait_ms = 20000;
    initialize(b, "2025-11-25");
    say(b, CALL("1", "job_status", ",'arguments':{'job':'a','wait_s':45}"));
    assert_json(b->seen_params, "{'job':'a','wait_s':19}", "cut");
    say(b, CALL("2", "job_status", ",'arguments':{'wait_s':7}"));
    assert_json(b->seen_params, "{'wait_s':7}", "kept");
    say(b, CALL("3", "job_status", ",'arguments':{'wait_s':'x'}"));
    assert_json(b->seen_params, "{'wait_s':'x'}", "the schema's to judge");
    bench_free(b);
}

Test(mcp_tools, a_jobs_status_is_told_in_its_operations_words) {
    static const struct {
        const char *status, *text;
    } cases[] = {
        {"{'job':'a','state':'succeeded','operation':'test/echo','progress':{'done':4,"
         "'total':4,'message':'m'},'result':{'said':'hi'}}",
         "Job a: succeeded\nIt said hi."},
        {"{'job':'a','state':'succeeded','progress':{'done':4},'result':{'said':'hi'}}",
         "Job a: succeeded\n{\"said\":\"hi\"}"},
        {"{'job':'a','state':'running','progress':{'done':1,'total':4,'message':'m'},"
         "'partial':[1]}",
         "Job a: running, 1 of 4: m\npartial: [1]\n"},
        {"{'job':'a','state':'input_required','progress':{'done':0},'work_order':"
         "{'instructions':'Write.','schema':{'x':[1]}}}",
         "Job a: input_required\nwork_order: \ninstructions: Write.\n\n"
         "schema: {\"x\":[1]}\n\n"},
        {"{'job':'a','state':'failed','progress':{'done':0,'total':0},'error':{'code':-1,"
         "'message':'No.','data':{'reason':'no','hint':'ask job/list','path':'/x'}}}",
         "Job a: failed\nNo.\nParameter: /x\nHint: ask job/list\n"},
    };
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        say(b, CALL("1", "job_status", ""));
        call_reply(b->running, from_text(cases[i].status));
        bench_run(b, 0);
        const json_t *result = json_object_get(next(b), "result");
        cr_assert(zero(int, strcmp(text_of(result), cases[i].text)), "%s",
                  text_of(result));
        assert_json(json_object_get(result, "structuredContent"), cases[i].status, "");
    }
    bench_free(b);
}

Test(mcp_tools, a_call_that_needs_input_answers_with_what_it_needs) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    const json_t *result = result_of(b, CALL("1", "ask", ""));
    const json_t *all = json_object_get(result, "structuredContent");
    assert_json(json_object_get(all, "state"), "'input_required'", "state");
    assert_json(json_object_get(all, "work_order"), "{'instructions':'Write it.'}", "");
    cr_assert(strstr(text_of(result), "\ninstructions: Write it.\n") != NULL);
    cr_assert(call_kept(b->running));
    bench_free(b);
}

/* Later than its start, too, and long before it would have become a job. */
Test(mcp_tools, a_call_that_comes_to_need_input_answers_then) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    say(b, CALL("1", "slow", ""));
    hear_nothing(b);
    cr_assert(call_origin(b->running)->agent && call_origin(b->running)->writes);
    call_require_input(b->running, from_text("{'instructions':'Write it.'}"), on_input,
                       NULL);
    const json_t *all =
        json_object_get(json_object_get(next(b), "result"), "structuredContent");
    assert_json(json_object_get(all, "state"), "'input_required'", "state");
    bench_free(b);
}

/* A model that reads the text alone needs all of what it is to work on. */
Test(mcp_tools, a_work_order_is_cut_only_where_it_comes_as_structure_too) {
    for (size_t i = 0; i < 2; i++) {
        struct bench *b = bench_new();
        b->settings.max_tool_text = 60;
        b->settings.structured = !i;
        initialize(b, "2025-11-25");
        const char *text = text_of(result_of(b, CALL("1", "ask", "")));
        cr_assert(eq(int, strstr(text, "[cut") == NULL, i), "%s", text);
        cr_assert(eq(int, strstr(text, "Write it.") != NULL, i), "%s", text);
        bench_free(b);
    }
}

/* --- progress --- */

static double progress_of(json_t *message, const char *token) {
    assert_json(json_object_get(message, "method"), "'notifications/progress'", "method");
    const json_t *params = json_object_get(message, "params");
    assert_json(json_object_get(params, "progressToken"), token, "token");
    return json_number_value(json_object_get(params, "progress"));
}

Test(mcp_tools, progress_carries_the_token_and_always_grows) {
    static const char *const tokens[] = {"0", "7", "'seven'"};
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        char request[256];
        snprintf(request, sizeof request,
                 CALL("4", "slow", ",'arguments':{},'_meta':{'progressToken':%s}"),
                 tokens[i]);
        say(b, request);
        call_report(b->running, 1, 3, "compiling");
        json_t *first = next(b);
        char expected[256];
        snprintf(expected, sizeof expected,
                 "{'jsonrpc':'2.0','method':'notifications/progress','params':{"
                 "'progressToken':%s,'progress':1,'total':3,'message':'compiling'}}",
                 tokens[i]);
        assert_json(first, expected, "first");
        call_report(b->running, 1, 3, "linking"); /* no further, but news */
        double second = progress_of(next(b), tokens[i]);
        cr_assert(gt(dbl, second, 1));
        call_report(b->running, 2, 3, NULL);
        cr_assert(eq(dbl, progress_of(next(b), tokens[i]), 2));
        call_report(b->running, 3, 3, NULL);
        cr_assert(eq(dbl, progress_of(next(b), tokens[i]), 3));
        call_report(b->running, 3, 3, NULL); /* past the total: it is left out */
        json_t *last = next(b);
        cr_assert(gt(dbl, progress_of(last, tokens[i]), 3));
        cr_assert(json_object_get(json_object_get(last, "params"), "total") == NULL);
        call_reply(b->running, json_object());
        bench_run(b, 0);
        assert_json(json_object_get(next(b), "id"), "4", "the reply ends it");
        hear_nothing(b);
    }
    bench_free(b);
}

Test(mcp_tools, a_silent_call_shows_signs_of_life) {
    struct bench *b = bench_new();
    b->settings.progress_ms = 10;
    b->settings.tool_wait_ms = 100;
    initialize(b, "2025-11-25");
    say(b, CALL("4", "slow", ",'_meta':{'progressToken':0}"));
    bench_run(b, 150);
    double latest = 0;
    int count = 0;
    json_t *message;
    while ((message = next(b)) && json_object_get(message, "method")) {
        double value = progress_of(message, "0");
        cr_assert(gt(dbl, value, latest));
        assert_json(json_object_get(json_object_get(message, "params"), "message"),
                    "'0 s'", "elapsed");
        latest = value;
        count++;
    }
    cr_assert(ge(int, count, 3));
    assert_json(json_object_get(message, "id"), "4", "the job, as the last message");
    bench_run(b, 30);
    hear_nothing(b);
    bench_free(b);
}

Test(mcp_tools, without_a_token_or_after_the_reply_there_is_no_progress) {
    struct bench *b = bench_new();
    b->settings.progress_ms = 5;
    initialize(b, "2024-11-05");
    say(b, CALL("1", "slow", ",'_meta':{'progressToken':1.5}")); /* no token at all */
    call_report(b->running, 1, 2, "x");
    bench_run(b, 20);
    hear_nothing(b);
    b->settings.progress_ms = 5000;
    say(b, CALL("2", "slow", ",'_meta':{'progressToken':'t'}"));
    call_report(b->running, 1, 2, "x");
    hear(b, "{'jsonrpc':'2.0','method':'notifications/progress','params':{"
            "'progressToken':'t','progress':1,'total':2}}"); /* no message in 2024 */
    bench_free(b);
}

/* --- cancelling --- */

Test(mcp_tools, a_cancelled_call_stops_and_is_never_answered) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    say(b, CALL("2", "slow", ",'_meta':{'progressToken':1}"));
    say(b, "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
           "'requestId':'2'}}"); /* another id: a string */
    cr_assert(eq(uint, b->cancels, 0));
    say(b, "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
           "'requestId':2,'reason':'because'}}");
    cr_assert(eq(uint, b->cancels, 1));
    cr_assert(eq(int, call_state(b->running), CALL_CANCELLED));
    bench_run(b, 10);
    hear_nothing(b);
    bench_free(b);
}

Test(mcp_tools, a_call_cancelled_by_another_hand_is_answered) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    say(b, CALL("2", "slow", ""));
    call_cancel(b->running);
    bench_run(b, 0);
    assert_json(json_object_get(json_object_get(next(b), "result"), "isError"), "true",
                "");
    bench_free(b);
}

Test(mcp_tools, the_end_of_the_connection_cancels_what_nobody_can_ask_for) {
    struct bench *b = bench_new();
    b->settings.tool_wait_ms = 10;
    initialize(b, "2025-11-25");
    say(b, CALL("1", "slow", ""));
    struct call *job = call_ref(b->running);
    bench_run(b, 30);
    say(b, CALL("2", "slow", ""));
    struct call *call = call_ref(b->running);
    mcp_free(take(b->mcp));
    cr_assert(eq(int, call_state(call), CALL_CANCELLED));
    cr_assert(eq(int, call_state(job), CALL_RUNNING));
    call_unref(call);
    call_cancel(job);
    call_unref(job);
    bench_free(b);
}

/* The peer may go first. */
Test(mcp_tools, a_lost_connection_cancels_open_calls) {
    struct bench *b = bench_new();
    initialize(b, "2025-11-25");
    say(b, CALL("1", "slow", ",'_meta':{'progressToken':1}"));
    rpc_peer_free(take(b->peer));
    cr_assert(eq(int, call_state(b->running), CALL_CANCELLED));
    bench_free(b);
}
