#include "lsp_harness.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct harness h;

static void start(void) {
    harness_start(&h);
}

static void end(void) {
    harness_end(&h);
}

TestSuite(lsp, .init = start, .fini = end, .timeout = 60);

static size_t publications(void) {
    return harness_count(&h, "textDocument/publishDiagnostics");
}

/* --- lifecycle --- */

Test(lsp, before_initialize_requests_fail_and_notifications_are_dropped) {
    harness_open(&h, URI, 1, "BAD");
    json_t *r = harness_request(&h, "textDocument/hover", harness_document(URI));
    cr_expect(eq(int, harness_error_code(r), -32002));
    r = harness_request(&h, "shutdown", NULL);
    cr_expect(eq(int, harness_error_code(r), -32002));
    harness_run(&h, 20);
    cr_expect(zero(int, fake.full));
    cr_expect(zero(int, h.quits));
}

Test(lsp, initialize_is_taken_once_and_tolerates_missing_params) {
    json_t *result = harness_result(&h, "initialize", NULL);
    cr_expect(eq(
        str, string_of(json_object_get(result, "capabilities"), "positionEncoding", ""),
        "utf-16"));
    cr_expect(
        eq(int, harness_error_code(harness_request(&h, "initialize", NULL)), -32600));
    cr_expect(eq(int, harness_error_code(harness_request(&h, "no/such", NULL)), -32601));
    cr_expect(eq(int, harness_error_code(harness_request(&h, "$/no", NULL)), -32601));
    harness_notify(&h, "$/unknown", NULL);
    harness_notify(&h, "unknown", json_null());
    result = harness_result(&h, "shutdown", json_null());
    cr_expect(eq(int, json_is_null(result), 1));
    cr_expect(eq(int, harness_error_code(harness_request(&h, "shutdown", NULL)), -32600));
    cr_expect(
        eq(int, harness_error_code(harness_request(&h, "initialize", NULL)), -32600));
    cr_expect(eq(int, lsp_exit_code(h.lsp), 0));
    harness_notify(&h, "exit", NULL);
    cr_expect(eq(int, h.quits, 1));
    cr_expect(eq(int, h.quit_code, 0));
}

Test(lsp, the_host_hears_who_the_editor_is) {
    harness_result(
        &h, "initialize",
        J("{'capabilities':{},'clientInfo':{'name':'Pencil','version':'2.5'}}"));
    cr_expect(eq(str, h.client, (char[]){"Pencil 2.5"}));
}

Test(lsp, exit_without_shutdown_is_a_failure) {
    harness_initialize(&h, NULL);
    cr_expect(eq(int, lsp_exit_code(h.lsp), 1));
    harness_notify(&h, "exit", NULL);
    cr_expect(eq(int, h.quits, 1));
    cr_expect(eq(int, h.quit_code, 1));
}

Test(lsp, exit_is_heard_before_initialize) {
    harness_notify(&h, "exit", NULL);
    cr_expect(eq(int, h.quit_code, 1));
}

Test(lsp, the_end_of_the_editors_process_ends_the_server) {
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    harness_result(&h, "initialize", J("{'processId':%d,'capabilities':{}}", (int)pid));
    harness_run(&h, 50);
    cr_expect(zero(int, h.quits), "it lives");
    kill(pid, SIGKILL);
    harness_run(&h, 200);
    cr_expect(eq(int, h.quits, 1));
    cr_expect(eq(int, h.quit_code, 1));
    waitpid(pid, NULL, 0);
}

Test(lsp, an_editors_process_that_is_gone_already_ends_the_server_too) {
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    harness_result(&h, "initialize", J("{'processId':%d}", (int)pid));
    harness_run(&h, 2500);
    cr_expect(eq(int, h.quits, 1));
}

Test(lsp, shutdown_answers_what_is_pending_and_publishes_nothing_more) {
    fake.delay_ms = MANUAL;
    harness_initialize(&h, J("{'textDocument':{'diagnostic':{}}}"));
    harness_open(&h, URI, 1, "BAD");
    int pull = harness_send(&h, "textDocument/diagnostic", harness_document(URI));
    int run =
        harness_send(&h, "workspace/executeCommand",
                     J("{'command':'upskilld.fake.run','arguments':[{'ticks':1000}]}"));
    harness_result(&h, "shutdown", NULL);
    cr_expect(eq(int, harness_error_code(harness_response(&h, pull)), -32802));
    cr_expect(eq(int, harness_error_code(harness_response(&h, run)), -32800));
    harness_run(&h, 20);
    cr_expect(zero(sz, publications()));
    cr_expect(zero(int, fake.operations));
}

Test(lsp, freeing_with_everything_in_flight_leaves_nothing_behind) {
    fake.delay_ms = MANUAL;
    fake.uncancellable = true;
    harness_initialize(&h, J("{'window':{'workDoneProgress':true}}"));
    for (int i = 0; i < 5; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "file:///desk/%d.fake", i);
        harness_open(&h, uri, 1, "BAD");
        harness_send(&h, "textDocument/codeLens", harness_document(uri));
        harness_edit(&h, uri, 2, 0, 0, 0, 0, "x");
    }
    for (int i = 0; i < 3; i++) {
        harness_send(&h, "workspace/executeCommand",
                     J("{'command':'upskilld.fake.long','arguments':[{'ticks':1000,"
                       "'stubborn':false}]}"));
    }
    harness_run(&h, 30);
    cr_expect(gt(int, fake.running, 0));
}

/* --- capabilities --- */

Test(lsp, the_encoding_is_the_first_known_one_that_is_offered) {
    static const struct {
        const char *offered, *want;
    } cases[] = {
        {"['utf-16','utf-8']", "utf-16"},
        {"['utf-8','utf-16','utf-32']", "utf-8"},
        {"['utf-32','utf-8','utf-16']", "utf-32"},
        {"['utf-8']", "utf-8"},
        {"['utf-16','utf-32']", "utf-16"},
        {"['utf-32']", "utf-32"},
        {"[]", "utf-16"},
        {"['koi8']", "utf-16"},
        {"null", "utf-16"},
        {"[7,'utf-8']", "utf-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i) {
            harness_end(&h);
            harness_start(&h);
        }
        json_t *result = harness_initialize(
            &h, J("{'general':{'positionEncodings':%s}}", cases[i].offered));
        cr_expect(
            eq(str,
               string_of(json_object_get(result, "capabilities"), "positionEncoding", ""),
               (char *)(uintptr_t)cases[i].want),
            "%s", cases[i].offered);
    }
}

Test(lsp, capabilities_say_what_the_kinds_and_operations_can_do) {
    json_t *result = harness_initialize(
        &h, J("{'textDocument':{'codeAction':{'codeActionLiteralSupport':{}},"
              "'diagnostic':{}}}"));
    expect_json(
        result,
        "{'capabilities':{'positionEncoding':'utf-16','textDocumentSync':{'openClose':"
        "true,"
        "'change':2,'save':{'includeText':false}},'hoverProvider':true,"
        "'codeLensProvider':{},'documentSymbolProvider':true,'completionProvider':{},"
        "'inlayHintProvider':true,'codeActionProvider':{'codeActionKinds':['quickfix',"
        "'source.fixAll.upskilld']},'diagnosticProvider':{'identifier':'upskilld',"
        "'interFileDependencies':true,'workspaceDiagnostics':false},"
        "'executeCommandProvider':{'commands':['upskilld.run',"
        "'upskilld.fake.run',"
        "'upskilld.fake.long'],'workDoneProgress':true},'workspace':{'workspaceFolders':"
        "{'supported':true,'changeNotifications':true}}},"
        "'serverInfo':{'name':'upskilld','version':'1.2.3'}}");
}

Test(lsp, folders_reach_the_host_as_paths) {
    harness_result(&h, "initialize",
                   J("{'rootUri':'file:///old','workspaceFolders':[{'uri':"
                     "'file:///a%%20b/./%%C3%%A4','name':'x'},{'uri':'untitled:x'},"
                     "{'uri':'file://localhost/c/../d'},{'uri':'file:///nul%%00'}]}"));
    expect_json(h.roots, "['/a b/\u00e4','/d']");
    harness_notify(&h, "workspace/didChangeWorkspaceFolders",
                   J("{'event':{'added':[{'uri':'file:///e'},{'uri':'file:///e'}],"
                     "'removed':[{'uri':'file:///d'}]}}"));
    expect_json(h.roots, "['/a b/\u00e4','/e']");
}

Test(lsp, a_root_path_serves_when_nothing_newer_is_given) {
    harness_result(&h, "initialize", J("{'rootPath':'/r','workspaceFolders':null}"));
    expect_json(h.roots, "['/r']");
    harness_end(&h);
    harness_start(&h);
    harness_result(&h, "initialize", J("{'rootPath':'/r','rootUri':'file:///s'}"));
    expect_json(h.roots, "['/s']");
}

/* --- commands --- */

Test(lsp, a_command_answers_with_the_operations_result) {
    harness_initialize(&h, NULL);
    json_t *result = harness_result(
        &h, "workspace/executeCommand",
        J("{'command':'upskilld.fake.run','arguments':[{'text':'hello'}]}"));
    expect_json(result, "{'text':'hello'}");
    result = harness_result(
        &h, "workspace/executeCommand",
        J("{'command':'upskilld.run','arguments':['fake/run',{'text':'again'}]}"));
    expect_json(result, "{'text':'again'}");
    result = harness_result(&h, "workspace/executeCommand",
                            J("{'command':'upskilld.fake.run'}"));
    expect_json(result, "{'text':''}");
}

Test(lsp, a_failed_command_is_an_error_with_reason_and_hint) {
    harness_initialize(&h, NULL);
    json_t *error = json_object_get(
        harness_request(&h, "workspace/executeCommand",
                        J("{'command':'upskilld.fake.run','arguments':[{'fail':true}]}")),
        "error");
    cr_expect(eq(str, string_of(error, "message", ""), "there is no thing"));
    expect_json(json_object_get(error, "data"),
                "{'reason':'no_thing','hint':'get the thing'}");
    static const struct {
        const char *params;
        int code;
    } cases[] = {
        {"{'command':'upskilld.fake.run','arguments':[{'tixt':'x'}]}", -32602},
        {"{'command':'upskilld.fake.run','arguments':[7]}", -32602},
        {"{'command':'upskilld.fake/run'}", -32602},
        {"{'command':'upskilld.run','arguments':['no/such']}", -32602},
        {"{'command':'upskilld.run'}", -32602},
        {"{'command':'run'}", -32602},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *r =
            harness_request(&h, "workspace/executeCommand", J("%s", cases[i].params));
        cr_expect(eq(int, harness_error_code(r), cases[i].code), "%s", cases[i].params);
    }
}

Test(lsp, an_operation_that_asks_for_input_goes_on_as_a_job) {
    harness_initialize(&h, NULL);
    json_t *result =
        harness_result(&h, "workspace/executeCommand",
                       J("{'command':'upskilld.fake.run','arguments':[{'ask':true}]}"));
    cr_expect(eq(sz, strlen(string_of(result, "job", "")), 32));
    cr_expect(eq(str, string_of(result, "state", ""), "input_required"));
    expect_json(json_object_get(result, "work_order"), "{'instructions':'write'}");
    json_t *input = J("{'draft':'x'}");
    cr_expect(zero(int, call_input(fake.asking, input)));
    cr_expect(eq(int, (int)call_state(fake.asking), (int)CALL_SUCCEEDED));
    json_decref(input);
    call_unref(fake.asking);
}

static char *progress_kind(size_t n) {
    return string_of(json_object_get(harness_message(&h, "$/progress", n), "value"),
                     "kind", "");
}

Test(lsp, progress_under_the_clients_token_begins_reports_and_ends_before_the_answer) {
    harness_initialize(&h, NULL);
    int id = harness_send(&h, "workspace/executeCommand",
                          J("{'command':'upskilld.fake.long','arguments':[{'ticks':20}],"
                            "'workDoneToken':0}"));
    harness_response(&h, id);
    size_t count = harness_count(&h, "$/progress");
    cr_expect(ge(sz, count, 3));
    expect_json(harness_message(&h, "$/progress", 0),
                "{'token':0,'value':{'kind':'begin','title':'Run a long fake',"
                "'cancellable':true,'percentage':0}}");
    for (size_t i = 1; i + 1 < count; i++) {
        cr_expect(eq(str, progress_kind(i), "report"));
    }
    cr_expect(eq(str, progress_kind(count - 1), "end"));
    const json_t *last = json_array_get(h.sent, json_array_size(h.sent) - 1);
    cr_expect(eq(int, (int)json_get_integer(last, "id", 0), id));
}

/* Half way it turns out that there is four times as much to do. */
Test(lsp, a_percentage_never_falls) {
    harness_initialize(&h, NULL);
    harness_result(&h, "workspace/executeCommand",
                   J("{'command':'upskilld.fake.long','arguments':[{'ticks':40,'grows':"
                     "true}],'workDoneToken':0}"));
    json_int_t most = 0, last = 0;
    for (size_t i = 1; i + 1 < harness_count(&h, "$/progress"); i++) {
        const json_t *value =
            json_object_get(harness_message(&h, "$/progress", i), "value");
        last = json_get_integer(value, "percentage", -1);
        cr_expect(ge(i64, last, most));
        most = last;
    }
    cr_expect(gt(i64, last, 25), "else none was above what the new total makes of it");
}

Test(lsp, without_a_token_the_client_is_asked_for_one_if_it_can) {
    harness_initialize(&h, J("{'window':{'workDoneProgress':true}}"));
    harness_result(&h, "workspace/executeCommand",
                   J("{'command':'upskilld.fake.long','arguments':[{'ticks':5}]}"));
    json_t *create = harness_message(&h, "window/workDoneProgress/create", 0);
    json_t *begin = harness_message(&h, "$/progress", 0);
    cr_expect(
        json_equal(json_object_get(create, "token"), json_object_get(begin, "token")));
    cr_expect(eq(str, progress_kind(harness_count(&h, "$/progress") - 1), "end"));
    size_t before = harness_count(&h, "$/progress");
    h.refuse_progress = true;
    harness_result(&h, "workspace/executeCommand",
                   J("{'command':'upskilld.fake.long','arguments':[{'ticks':5}]}"));
    cr_expect(eq(sz, harness_count(&h, "$/progress"), before), "the client said no");
}

Test(lsp, no_progress_goes_to_a_client_that_shows_none) {
    harness_initialize(&h, NULL);
    harness_result(&h, "workspace/executeCommand",
                   J("{'command':'upskilld.fake.long','arguments':[{'ticks':5}]}"));
    cr_expect(zero(sz, harness_count(&h, "window/workDoneProgress/create")));
    cr_expect(zero(sz, harness_count(&h, "$/progress")));
}

Test(lsp, a_check_of_more_than_a_second_is_shown_and_can_be_stopped) {
    fake.delay_ms = MANUAL;
    harness_initialize(&h, J("{'window':{'workDoneProgress':true}}"));
    harness_open(&h, URI, 1, "BAD");
    harness_run(&h, 500);
    cr_expect(zero(sz, harness_count(&h, "window/workDoneProgress/create")));
    json_t *begin = harness_message(&h, "$/progress", 0);
    cr_expect(eq(str, string_of(json_object_get(begin, "value"), "title", ""),
                 "Checking a.fake"));
    harness_notify(&h, "window/workDoneProgress/cancel",
                   json_pack("{s:O}", "token", json_object_get(begin, "token")));
    cr_expect(eq(str, progress_kind(1), "end"));
    cr_expect(eq(int, fake.cancelled, 1));
    cr_expect(zero(sz, publications()));
}

/* The client turns its spinner from the question on, so a bar that nobody needs any more
 * is begun and ended when the answer comes. */
Test(lsp, a_check_that_ends_before_its_bar_is_allowed_ends_the_bar) {
    fake.delay_ms = MANUAL;
    harness_initialize(&h, J("{'window':{'workDoneProgress':true}}"));
    for (int refused = 0; refused < 2; refused++) {
        size_t before = harness_count(&h, "$/progress");
        h.mute = true;
        h.refuse_progress = refused;
        if (refused) {
            harness_edit(&h, URI, 2, 0, 0, 0, 0, "BAD");
        } else {
            harness_open(&h, URI, 1, "BAD");
        }
        harness_message(&h, "window/workDoneProgress/create", (size_t)refused);
        fake_answer();
        harness_run(&h, 10);
        cr_expect(eq(sz, harness_count(&h, "$/progress"), before));
        h.mute = false;
        harness_run(&h, 10);
        cr_expect(eq(sz, harness_count(&h, "$/progress"), before + (refused ? 0 : 2)));
    }
    cr_expect(eq(str, progress_kind(0), "begin"));
    cr_expect(eq(str, progress_kind(1), "end"));
    h.mute = true; /* for good: nothing is freed twice */
    harness_edit(&h, URI, 3, 0, 0, 0, 0, "BAD");
    harness_message(&h, "window/workDoneProgress/create", 2);
    fake_answer();
    harness_run(&h, 10);
}
