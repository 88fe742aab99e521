/* Documents of an editor: what is checked when, pushed or pulled, and how much of it. */
#include "lsp_harness.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static struct harness h;

static void start(void) {
    harness_start(&h);
}

static void end(void) {
    harness_end(&h);
}

TestSuite(lsp_documents, .init = start, .fini = end, .timeout = 60);

static json_t *published(size_t n) {
    return harness_message(&h, "textDocument/publishDiagnostics", n);
}

static size_t publications(void) {
    return harness_count(&h, "textDocument/publishDiagnostics");
}

static int version_of(const json_t *params) {
    return (int)json_get_integer(params, "version", -1);
}

static size_t items_of(const json_t *params) {
    return json_array_size(json_object_get(params, "diagnostics"));
}

/* --- push --- */

Test(lsp_documents, open_and_save_check_fully_and_typing_quickly) {
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "one BAD");
    cr_expect(eq(int, version_of(published(0)), 1));
    cr_expect(eq(sz, items_of(published(0)), 1));
    cr_expect(eq(int, fake.full, 1));
    harness_edit(&h, URI, 2, 0, 0, 0, 0, "BAD ");
    harness_edit(&h, URI, 3, 0, 0, 0, 0, "BAD ");
    cr_expect(eq(int, version_of(published(1)), 3));
    cr_expect(eq(sz, items_of(published(1)), 3));
    cr_expect(eq(int, fake.quick, 1), "two edits within the debounce are one check");
    harness_notify(&h, "textDocument/didSave", harness_document(URI));
    cr_expect(eq(int, version_of(published(2)), 3));
    cr_expect(eq(int, fake.full, 2));
    harness_notify(&h, "textDocument/didClose", harness_document(URI));
    expect_json(published(3), "{'uri':'%s','diagnostics':[]}", URI);
    cr_expect(eq(sz, publications(), 4));
}

Test(lsp_documents, a_save_checks_what_names_the_saved_file_too) {
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "use \"parts/b.fake\"");
    harness_open(&h, "file:///desk/c.fake", 1, "a comment on b.fake");
    harness_open(&h, "file:///desk/parts/b.fake", 1, "");
    published(2);
    harness_notify(&h, "textDocument/didSave",
                   harness_document("file:///desk/parts/b.fake"));
    published(4);
    harness_run(&h, 20);
    cr_expect(eq(int, fake.full, 5));
    cr_expect(eq(sz, publications(), 5));
}

Test(lsp_documents, documents_of_no_kind_are_ignored_quietly) {
    harness_initialize(&h, NULL);
    harness_notify(&h, "textDocument/didOpen",
                   J("{'textDocument':{'uri':'file:///x.txt','languageId':'text',"
                     "'version':1,'text':'BAD'}}"));
    harness_edit(&h, "file:///x.txt", 2, 0, 0, 0, 0, "x");
    harness_notify(&h, "textDocument/didSave", harness_document("file:///x.txt"));
    json_t *hover = harness_result(&h, "textDocument/hover",
                                   J("{'textDocument':{'uri':'file:///x.txt'},"
                                     "'position':{'line':0,'character':0}}"));
    cr_expect(eq(int, json_is_null(hover), 1));
    harness_notify(&h, "textDocument/didClose", harness_document("file:///x.txt"));
    harness_run(&h, 20);
    cr_expect(zero(sz, publications()));
    harness_open(&h, "untitled:Untitled-1", 1, "BAD");
    cr_expect(eq(sz, items_of(published(0)), 1), "a language is enough");
}

Test(lsp_documents, an_edit_stops_the_check_and_its_answer_is_never_published) {
    fake.delay_ms = MANUAL;
    fake.stubborn = true;
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "BAD");
    harness_edit(&h, URI, 2, 0, 0, 0, 3, "good");
    cr_expect(eq(int, fake.cancelled, 1));
    fake_answer();
    harness_run(&h, 30);
    cr_expect(zero(sz, publications()), "the answer was for version 1");
    fake_answer();
    cr_expect(eq(int, version_of(published(0)), 2));
    cr_expect(eq(sz, items_of(published(0)), 0));
}

/* What the client has sent so far, for the property below. */
struct typed {
    int version, bads;
};

static void check_fresh(struct harness *harness, const json_t *params) {
    const struct typed *typed = harness->data;
    cr_expect(eq(int, version_of(params), typed->version));
    cr_expect(eq(sz, items_of(params), (size_t)typed->bads));
}

Test(lsp_documents, whatever_the_timing_nothing_stale_is_published) {
    struct typed typed = {.version = 1, .bads = 0};
    h.data = &typed;
    h.published = check_fresh;
    h.settings.debounce_ms = 1;
    fake.stubborn = true;
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "");
    srand(7);
    for (int i = 0; i < 300; i++) {
        fake.delay_ms = (unsigned)(rand() % 4);
        fake.uncancellable = rand() % 2;
        typed.version++;
        if (typed.bads && rand() % 3 == 0) {
            typed.bads--;
            harness_edit(&h, URI, typed.version, 0, 0, 0, 4, "");
        } else {
            typed.bads++;
            harness_edit(&h, URI, typed.version, 0, 0, 0, 0, "BAD ");
        }
        if (rand() % 5 == 0) {
            harness_notify(&h, "textDocument/didSave", harness_document(URI));
        }
        if (rand() % 2) {
            harness_run(&h, (unsigned)(rand() % 4));
        }
    }
    harness_run(&h, 50);
    cr_expect(gt(sz, publications(), 20));
    json_t *last = published(publications() - 1);
    cr_expect(eq(int, version_of(last), typed.version), "the last text is judged");
    h.published = NULL;
}

Test(lsp_documents, opening_again_starts_over) {
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "BAD");
    harness_open(&h, URI, 7, "BAD BAD");
    cr_expect(eq(int, version_of(published(0)), 7));
    harness_run(&h, 20);
    cr_expect(eq(sz, publications(), 1));
}

/* --- limits --- */

Test(lsp_documents, more_documents_than_allowed_are_refused_with_a_message) {
    h.settings.max_documents = 1;
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "");
    harness_open(&h, "file:///desk/b.fake", 1, "BAD");
    json_t *message = harness_message(&h, "window/logMessage", 0);
    cr_expect(strstr(json_get_string(message, "message", ""), "b.fake") != NULL);
    harness_run(&h, 20);
    cr_expect(eq(sz, publications(), 1));
    harness_notify(&h, "textDocument/didClose", harness_document(URI));
    harness_open(&h, "file:///desk/b.fake", 1, "BAD");
    cr_expect(eq(sz, items_of(published(2)), 1), "a closed one makes room");
}

Test(lsp_documents, a_document_over_the_size_limit_gets_one_piece_of_information) {
    h.settings.max_document_bytes = 10;
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "BAD 4567890");
    cr_expect(eq(sz, items_of(published(0)), 1));
    json_t *item = json_array_get(json_object_get(published(0), "diagnostics"), 0);
    cr_expect(eq(int, (int)json_get_integer(item, "severity", 0), 3));
    cr_expect(zero(int, fake.full));
    harness_notify(&h, "textDocument/didChange",
                   J("{'textDocument':{'uri':'%s','version':2},"
                     "'contentChanges':[{'text':'BAD'}]}",
                     URI));
    json_t *code = json_object_get(
        json_array_get(json_object_get(published(1), "diagnostics"), 0), "code");
    cr_expect(eq(str, (char *)(uintptr_t)json_string_value(code), "bad"));
    harness_edit(&h, URI, 3, 0, 3, 0, 3, " and more");
    cr_expect(eq(int, version_of(published(2)), 3));
    cr_expect(eq(sz, items_of(published(2)), 1));
    harness_edit(&h, URI, 4, 0, 0, 0, 3, "");
    harness_run(&h, 20);
    cr_expect(eq(sz, publications(), 3));
}

Test(lsp_documents, documents_over_the_limit_for_all_of_them_wait_for_room) {
    h.settings.max_open_bytes = 10;
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "1234567");
    harness_open(&h, "file:///desk/b.fake", 1, "BAD4");
    json_t *item = json_array_get(json_object_get(published(0), "diagnostics"), 0);
    cr_expect(strstr(json_get_string(item, "message", ""), "11 bytes") != NULL);
    cr_expect(eq(int, fake.full, 1));
    harness_notify(&h, "textDocument/didClose", harness_document(URI));
    harness_open(&h, "file:///desk/b.fake", 2, "BAD4");
    harness_run(&h, 20);
    cr_expect(eq(int, fake.full, 2), "there is room now");
    harness_edit(&h, "file:///desk/b.fake", 3, 0, 0, 0, 0, "BAD4567");
    harness_run(&h, 100);
    cr_expect(zero(int, fake.quick), "11 bytes again");
}

/* 1000 took half a minute here, and one message has room for half a million. */
Test(lsp_documents, a_flood_of_changes_in_one_message_ends_within_seconds,
     .timeout = 60) {
    size_t len = 4u << 20;
    char *text = malloc(len + 1);
    memset(text, '\n', len);
    text[len] = '\0';
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, text);
    free(text);
    harness_run(&h, 20);
    json_t *changes = json_array();
    for (int i = 0; i < 1000; i++) {
        json_array_append_new(changes, J("{'range':{'start':{'line':0,'character':0},"
                                         "'end':{'line':1,'character':0}},'text':'a'}"));
    }
    harness_notify(&h, "textDocument/didChange",
                   json_pack("{s:{s:s,s:i},s:o}", "textDocument", "uri", URI, "version",
                             2, "contentChanges", changes));
    json_t *item =
        json_array_get(json_object_get(published(publications() - 1), "diagnostics"), 0);
    cr_expect(strstr(json_get_string(item, "message", ""), "too many changes") != NULL);
}

Test(lsp_documents, an_overlong_uri_or_language_is_no_document) {
    static char word[70000];
    harness_initialize(&h, NULL);
    memset(word, 'a', sizeof word - 1);
    for (int i = 0; i < 2; i++) {
        harness_notify(&h, "textDocument/didOpen",
                       json_pack("{s:{s:s,s:s,s:i,s:s}}", "textDocument", "uri",
                                 i ? URI : word, "languageId", i ? word : "fake",
                                 "version", 1, "text", ""));
    }
    cr_expect(zero(int, fake.full));
    cr_expect(harness_message(&h, "window/logMessage", 1) != NULL);
}

Test(lsp_documents, what_cannot_be_understood_is_reported_and_changes_nothing) {
    harness_initialize(&h, NULL);
    static const char *const opens[] = {"null",
                                        "[]",
                                        "{}",
                                        "{'textDocument':null}",
                                        "{'textDocument':{'uri':7}}",
                                        "{'textDocument':{'uri':'file:///desk/c.fake'}}"};
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        harness_notify(&h, "textDocument/didOpen", J("%s", opens[i]));
        harness_notify(&h, "textDocument/didChange", J("%s", opens[i]));
        harness_notify(&h, "textDocument/didSave", J("%s", opens[i]));
        harness_notify(&h, "textDocument/didClose", J("%s", opens[i]));
        harness_notify(&h, "workspace/didChangeWorkspaceFolders", J("%s", opens[i]));
        harness_notify(&h, "window/workDoneProgress/cancel", J("%s", opens[i]));
        harness_notify(&h, "$/cancelRequest", J("%s", opens[i]));
    }
    harness_open(&h, URI, 1, "BAD");
    published(0);
    static const char *const changes[] = {
        "null",
        "[7]",
        "[{}]",
        "[{'text':7}]",
        "[{'text':'BAD','range':7}]",
        "[{'text':'BAD','range':{'start':{'line':'a'}}}]"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        harness_notify(&h, "textDocument/didChange",
                       J("{'textDocument':{'uri':'%s','version':2},'contentChanges':%s}",
                         URI, changes[i]));
    }
    cr_expect(eq(sz, items_of(published(1)), 1), "the text is as it was");
    static const char *const methods[] = {
        "textDocument/hover",       "textDocument/codeAction",
        "textDocument/codeLens",    "textDocument/inlayHint",
        "textDocument/diagnostic",  "textDocument/completion",
        "workspace/executeCommand", "textDocument/documentSymbol"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        json_t *r = harness_request(&h, methods[i], J("{'textDocument':{'uri':7}}"));
        cr_expect(eq(int, harness_error_code(r), -32602), "%s", methods[i]);
        r = harness_request(&h, methods[i], NULL);
        cr_expect(eq(int, harness_error_code(r), -32602), "%s", methods[i]);
    }
}

/* --- pull --- */

static json_t *pull_params(const char *previous) {
    json_t *params = harness_document(URI);
    if (previous) {
        json_object_set_new(params, "previousResultId", json_string(previous));
    }
    return params;
}

static void initialize_pull(void) {
    harness_initialize(&h, J("{'textDocument':{'diagnostic':{}},"
                             "'workspace':{'diagnostics':{'refreshSupport':true}}}"));
}

Test(lsp_documents, who_pulls_is_not_pushed_to_and_gets_the_present_text_judged) {
    initialize_pull();
    harness_open(&h, URI, 1, "BAD");
    json_t *report = harness_result(&h, "textDocument/diagnostic", pull_params(NULL));
    cr_expect(eq(str, string_of(report, "kind", ""), "full"));
    cr_expect(eq(sz, json_array_size(json_object_get(report, "items")), 1));
    const char *id = json_get_string(report, "resultId", NULL);
    json_t *again = harness_result(&h, "textDocument/diagnostic", pull_params(id));
    expect_json(again, "{'kind':'unchanged','resultId':'%s'}", id);
    harness_edit(&h, URI, 2, 0, 0, 0, 0, "BAD ");
    report = harness_result(&h, "textDocument/diagnostic", pull_params(id));
    cr_expect(eq(sz, json_array_size(json_object_get(report, "items")), 2));
    cr_expect(eq(int, fake.full, 1));
    cr_expect(eq(int, fake.quick, 1));
    harness_notify(&h, "textDocument/didClose", harness_document(URI));
    harness_open(&h, URI, 1, "");
    report = harness_result(&h, "textDocument/diagnostic", pull_params(id));
    cr_expect(eq(str, string_of(report, "kind", ""), "full"),
              "ids of an earlier opening mean nothing");
    cr_expect(zero(sz, publications()));
    report = harness_result(&h, "textDocument/diagnostic",
                            harness_document("file:///desk/unknown.fake"));
    expect_json(report, "{'kind':'full','items':[]}");
}

Test(lsp_documents, a_pull_overtaken_by_an_edit_is_to_be_sent_again) {
    fake.delay_ms = MANUAL;
    initialize_pull();
    harness_open(&h, URI, 1, "BAD");
    int id = harness_send(&h, "textDocument/diagnostic", pull_params(NULL));
    harness_edit(&h, URI, 2, 0, 0, 0, 3, "");
    json_t *error = json_object_get(harness_response(&h, id), "error");
    cr_expect(eq(int, (int)json_get_integer(error, "code", 0), -32802));
    expect_json(json_object_get(error, "data"), "{'retriggerRequest':true}");
    int second = harness_send(&h, "textDocument/diagnostic", pull_params(NULL));
    harness_run(&h, 10);
    fake_answer();
    cr_expect(json_object_get(harness_response(&h, second), "result") != NULL);
    cr_expect(eq(sz, harness_responses(&h, id), 1));
}

Test(lsp_documents, a_full_check_in_the_background_asks_the_client_to_pull_again) {
    initialize_pull();
    harness_open(&h, URI, 1, "BAD");
    harness_result(&h, "textDocument/diagnostic", pull_params(NULL));
    cr_expect(zero(sz, harness_count(&h, "workspace/diagnostic/refresh")));
    harness_notify(&h, "textDocument/didSave", harness_document(URI));
    harness_run(&h, 20);
    cr_expect(zero(sz, harness_count(&h, "workspace/diagnostic/refresh")), "nothing new");
    fake.findings = json_array();
    harness_notify(&h, "textDocument/didSave", harness_document(URI));
    harness_run(&h, 20);
    cr_expect(eq(sz, harness_count(&h, "workspace/diagnostic/refresh"), 1));
}

/* --- waiting and cancelling --- */

static json_t *range_params(int line, int end_line) {
    return J("{'textDocument':{'uri':'%s'},'range':{'start':{'line':%d,'character':0},"
             "'end':{'line':%d,'character':0}},'context':{'diagnostics':[]}}",
             URI, line, end_line);
}

Test(lsp_documents, cancelled_requests_are_answered_once_with_32800) {
    fake.delay_ms = MANUAL;
    initialize_pull();
    harness_open(&h, URI, 1, "BAD");
    int ids[] = {
        harness_send(&h, "textDocument/diagnostic", pull_params(NULL)),
        harness_send(&h, "textDocument/codeAction", range_params(0, 0)),
        harness_send(&h, "textDocument/codeLens", harness_document(URI)),
        harness_send(&h, "workspace/executeCommand",
                     J("{'command':'upskilld.fake.run','arguments':[{'ticks':1000}]}")),
    };
    for (size_t i = 0; i < 4; i++) {
        harness_notify(&h, "$/cancelRequest", J("{'id':%d}", ids[i]));
        harness_notify(&h, "$/cancelRequest", J("{'id':%d}", ids[i]));
    }
    fake_answer();
    harness_run(&h, 30);
    for (size_t i = 0; i < 4; i++) {
        cr_expect(eq(int, harness_error_code(harness_response(&h, ids[i])), -32800));
        cr_expect(eq(sz, harness_responses(&h, ids[i]), 1));
    }
}

Test(lsp_documents, a_race_of_cancel_and_end_gives_one_answer) {
    harness_initialize(&h, J("{'window':{'workDoneProgress':true}}"));
    srand(11);
    int ids[60];
    for (int i = 0; i < 60; i++) {
        ids[i] = harness_send(
            &h, "workspace/executeCommand",
            J("{'command':'upskilld.fake.%s','arguments':[{'ticks':%d,'stubborn':%s}],"
              "'workDoneToken':'t%d'}",
              rand() % 2 ? "run" : "long", rand() % 2, rand() % 2 ? "true" : "false", i));
        harness_run(&h, (unsigned)(rand() % 14));
        if (rand() % 2) {
            harness_notify(&h, "$/cancelRequest", J("{'id':%d}", ids[i]));
        } else {
            harness_notify(&h, "window/workDoneProgress/cancel", J("{'token':'t%d'}", i));
        }
    }
    harness_run(&h, 100);
    int good = 0, cancelled = 0;
    for (int i = 0; i < 60; i++) {
        cr_expect(eq(sz, harness_responses(&h, ids[i]), 1));
        int code = harness_error_code(harness_response(&h, ids[i]));
        good += code == 0;
        cancelled += code == -32800;
    }
    cr_expect(eq(int, good + cancelled, 60));
    cr_expect(gt(int, cancelled, 5));
}

Test(lsp_documents, an_edit_makes_waiting_answers_stale) {
    fake.delay_ms = MANUAL;
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "BAD");
    int id = harness_send(&h, "textDocument/codeAction", range_params(0, 0));
    harness_edit(&h, URI, 2, 0, 0, 0, 0, " ");
    cr_expect(eq(int, harness_error_code(harness_response(&h, id)), -32801));
}
