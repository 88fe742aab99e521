#include "lsp_harness.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct harness h;

static void start(void) {
    harness_start(&h);
}

static void end(void) {
    harness_end(&h);
}

TestSuite(lsp_features, .init = start, .fini = end, .timeout = 60);

#define EVERYTHING                                                                       \
    "{'textDocument':{'publishDiagnostics':{'relatedInformation':true,"                  \
    "'codeDescriptionSupport':true,'dataSupport':true,'tagSupport':{'valueSet':[1,2]}}," \
    "'codeAction':{'codeActionLiteralSupport':{},'isPreferredSupport':true},"            \
    "'hover':{'contentFormat':['markdown','plaintext']},"                                \
    "'completion':{'completionItem':{'documentationFormat':['markdown']}},"              \
    "'documentSymbol':{'hierarchicalDocumentSymbolSupport':true}},"                      \
    "'workspace':{'workspaceEdit':{'documentChanges':true},"                             \
    "'codeLens':{'refreshSupport':true},'inlayHint':{'refreshSupport':true}}}"

static json_t *diagnostics(size_t n) {
    return json_object_get(harness_message(&h, "textDocument/publishDiagnostics", n),
                           "diagnostics");
}

static json_t *at(int line, int character) {
    return J("{'textDocument':{'uri':'" URI "'},'position':{'line':%d,'character':%d}}",
             line, character);
}

static json_t *actions(const char *only, int line, int end_line) {
    return harness_result(
        &h, "textDocument/codeAction",
        J("{'textDocument':{'uri':'" URI "'},'range':{'start':{'line':%d,'character':0},"
          "'end':{'line':%d,'character':0}},'context':{'diagnostics':[]%s%s}}",
          line, end_line, only ? ",'only':" : "", only ? only : ""));
}

/* --- what editors show --- */

Test(lsp_features, hover_lenses_symbols_hints_and_completions_in_the_editors_terms) {
    harness_initialize(&h, J(EVERYTHING));
    harness_open(&h, URI, 1, "\xF0\x9D\x9B\xBC.\nend");
    diagnostics(0);
    expect_json(harness_result(&h, "textDocument/hover", at(0, 2)),
                "{'contents':{'kind':'markdown','value':'**4**'},'range':{'start':"
                "{'line':0,'character':2},'end':{'line':1,'character':3}}}");
    expect_json(
        harness_result(&h, "textDocument/codeLens", harness_document(URI)),
        "[{'range':{'start':{'line':0,'character':0},'end':{'line':0,'character':0}},"
        "'command':{'title':'length 9','command':'upskilld.run',"
        "'arguments':['fake/run',{'text':'x'},'" URI "']}},"
        "{'range':{'start':{'line':0,'character':0},'end':{'line':0,'character':0}},"
        "'command':{'title':'just words','command':''}}]");
    expect_json(
        harness_result(&h, "textDocument/documentSymbol", harness_document(URI)),
        "[{'name':'all','kind':12,'detail':'of it','range':{'start':{'line':0,"
        "'character':0},'end':{'line':1,'character':3}},'selectionRange':{'start':"
        "{'line':0,'character':0},'end':{'line':1,'character':3}}}]");
    expect_json(
        harness_result(&h, "textDocument/inlayHint",
                       J("{'textDocument':{'uri':'" URI "'},'range':{'start':"
                         "{'line':1,'character':0},'end':{'line':2,'character':0}}}")),
        "[{'position':{'line':1,'character':3},'label':'last','paddingLeft':true}]");
    expect_json(harness_result(&h, "textDocument/completion", at(0, 2)),
                "[{'label':'word','detail':'a word','documentation':{'kind':'markdown',"
                "'value':'*Word*'},'textEdit':{'range':{'start':{'line':0,'character':0},"
                "'end':{'line':0,'character':2}},'newText':'word()'}}]");
}

/* SymbolKind of the specification, 3.17. */
Test(lsp_features, symbols_have_the_kinds_of_the_specification) {
    static const struct {
        const char *word;
        int kind;
    } kinds[] = {{"file", 1},      {"module", 2},    {"namespace", 3}, {"class", 5},
                 {"method", 6},    {"property", 7},  {"field", 8},     {"enum", 10},
                 {"function", 12}, {"variable", 13}, {"constant", 14}, {"string", 15},
                 {"object", 19},   {"key", 20},      {"struct", 23},   {"operator", 25}};
    fake.symbols = json_array();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_array_append_new(
            fake.symbols,
            J("{'name':'s','symbol':'%s','start':0,'end':1}", kinds[i].word));
    }
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "end");
    json_t *told =
        harness_result(&h, "textDocument/documentSymbol", harness_document(URI));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        expect_json(json_object_get(json_array_get(told, i), "kind"), "%d",
                    kinds[i].kind);
    }
}

/* "a" holds "b" and "d", "b" holds "c"; "e" begins where "a" ends. The name of "c" lies
 * outside of it, and is not believed. */
#define NESTED                                                                           \
    "[{'name':'a','start':0,'end':9,'name_start':0,'name_end':1},"                       \
    "{'name':'b','start':1,'end':5},"                                                    \
    "{'name':'c','start':2,'end':5,'name_start':1,'name_end':3},"                        \
    "{'name':'d','start':5,'end':9},{'name':'e','start':9,'end':10}]"

/* "(a(b))": the names, with those of the children behind. */
static void add_names(char *out, size_t size, const json_t *symbols) {
    size_t i;
    json_t *symbol;
    strncat(out, "(", size - strlen(out) - 1);
    json_array_foreach(symbols, i, symbol) {
        json_t *children = json_object_get(symbol, "children");
        strncat(out, string_of(symbol, "name", ""), size - strlen(out) - 1);
        if (children) {
            add_names(out, size, children);
        }
    }
    strncat(out, ")", size - strlen(out) - 1);
}

static void expect_names(const json_t *symbols, const char *want) {
    char out[200] = "";
    add_names(out, sizeof out, symbols);
    cr_expect_str_eq(out, want);
}

Test(lsp_features, symbols_within_symbols_are_their_children) {
    fake.symbols = J(NESTED);
    harness_initialize(&h, J(EVERYTHING));
    harness_open(&h, URI, 1, "0123456789");
    json_t *told =
        harness_result(&h, "textDocument/documentSymbol", harness_document(URI));
    expect_names(told, "(a(b(c)d)e)");
    expect_json(json_object_get(json_array_get(told, 0), "range"),
                "{'start':{'line':0,'character':0},'end':{'line':0,'character':9}}");
    expect_json(json_object_get(json_array_get(told, 0), "selectionRange"),
                "{'start':{'line':0,'character':0},'end':{'line':0,'character':1}}");
    json_t *b = json_array_get(json_object_get(json_array_get(told, 0), "children"), 0);
    json_t *c = json_array_get(json_object_get(b, "children"), 0);
    cr_expect(
        json_equal(json_object_get(c, "range"), json_object_get(c, "selectionRange")));
}

Test(lsp_features, symbols_are_a_flat_list_for_clients_that_know_no_other) {
    fake.symbols = J(NESTED);
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "0123456789");
    json_t *told =
        harness_result(&h, "textDocument/documentSymbol", harness_document(URI));
    expect_names(told, "(abcde)");
    expect_json(json_object_get(json_array_get(told, 0), "location"),
                "{'uri':'" URI "','range':{'start':{'line':0,'character':0},"
                "'end':{'line':0,'character':1}}}");
}

/* A text that is no file yet has the end of its URI for a name, or all of it. */
Test(lsp_features, findings_of_an_unsaved_text_are_its_own) {
#define UNSAVED "untitled:Untitled-1"
    static const char *const names[] = {"Untitled-1", UNSAVED, "other"};
    harness_initialize(&h, J(EVERYTHING));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_decref(fake.findings);
        fake.findings = J("[{'source':'s','severity':'error','message':'m','file':'%s',"
                          "'line':2,'column':1}]",
                          names[i]);
        harness_open(&h, UNSAVED, 1, "one\ntwo");
        json_t *said = json_array_get(diagnostics(i), 0);
        expect_json(json_object_get(json_object_get(said, "range"), "start"),
                    "{'line':%d,'character':0}", i < 2);
        expect_json(json_object_get(said, "message"), i < 2 ? "'m'" : "'other:2: m'");
    }
}

Test(lsp_features, simple_clients_get_simple_shapes) {
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 1, "end");
    expect_json(harness_result(&h, "textDocument/documentSymbol", harness_document(URI)),
                "[{'name':'all','kind':12,'location':{'uri':'" URI "','range':{'start':"
                "{'line':0,'character':0},'end':{'line':0,'character':3}}}}]");
    expect_json(
        json_object_get(harness_result(&h, "textDocument/hover", at(0, 0)), "contents"),
        "{'kind':'plaintext','value':'**0**'}");
}

Test(lsp_features, lenses_wait_for_the_first_facts_and_outlive_quick_checks) {
    fake.delay_ms = MANUAL;
    harness_initialize(&h, J(EVERYTHING));
    harness_open(&h, URI, 1, "1234");
    int id = harness_send(&h, "textDocument/codeLens", harness_document(URI));
    harness_run(&h, 10);
    cr_expect(zero(sz, harness_responses(&h, id)));
    fake_answer();
    json_t *lenses = json_object_get(harness_response(&h, id), "result");
    cr_expect(eq(sz, json_array_size(lenses), 2));
    cr_expect(eq(sz, harness_count(&h, "workspace/codeLens/refresh"), 1));
    cr_expect(eq(sz, harness_count(&h, "workspace/inlayHint/refresh"), 1));
    harness_edit(&h, URI, 2, 0, 0, 0, 0, "567");
    harness_run(&h, 20);
    fake_answer();
    lenses = harness_result(&h, "textDocument/codeLens", harness_document(URI));
    json_t *command = json_object_get(json_array_get(lenses, 0), "command");
    cr_expect(eq(str, string_of(command, "title", ""), "length 4"),
              "a quick check has no facts of its own");
    cr_expect(eq(sz, harness_count(&h, "workspace/codeLens/refresh"), 1));
}

/* --- diagnostics --- */

Test(lsp_features, a_finding_becomes_a_diagnostic_with_all_its_parts) {
    harness_initialize(&h, J(EVERYTHING));
    fake.findings =
        J("[{'source':'nvrtc','code':'68','severity':'warning','message':'m','file':'a."
          "fake',"
          "'line':2,'column':3,'end_line':2,'end_column':5,'tags':['unnecessary','x',"
          "'deprecated'],"
          "'href':'https://example.org/68','related':[{'message':'here','file':'/desk/"
          "a.fake',"
          "'line':1,'column':6},{'message':'gone','file':'none.h','line':1,'column':1}],"
          "'fixes':[{'title':'t','edits':[]}]}]");
    /* 𝛼 is 4 bytes and 2 units: column 6 is the second unit after it */
    harness_open(&h, URI, 1, "\xF0\x9D\x9B\xBCx yy\n  ab cd");
    expect_json(
        diagnostics(0),
        "[{'range':{'start':{'line':1,'character':2},'end':{'line':1,'character':4}},"
        "'severity':2,'code':'68','codeDescription':{'href':'https://example.org/68'},"
        "'source':'nvrtc','message':'m','tags':[1,2],'relatedInformation':[{'location':"
        "{'uri':'" URI "','range':{'start':{'line':0,'character':3},'end':{'line':0,"
        "'character':6}}},'message':'here'}],"
        "'data':{'fixes':[{'title':'t','edits':[]}]}}]");
    harness_end(&h);
    harness_start(&h);
    harness_initialize(&h, NULL);
    fake.findings = J("[{'source':'s','code':'','severity':'info','message':'m','tags':"
                      "['unnecessary'],'href':'https://x','related':[{'message':'here',"
                      "'file':'a.fake','line':1,'column':1}],'fixes':[{}]}]");
    harness_open(&h, URI, 1, "  word  ");
    expect_json(
        diagnostics(0),
        "[{'range':{'start':{'line':0,'character':2},'end':{'line':0,'character':6}},"
        "'severity':3,'source':'s','message':'m'}]");
}

Test(lsp_features, an_end_that_is_missing_is_that_of_the_word_or_the_line) {
    static const struct {
        const char *place, *want;
    } cases[] = {
        {"'line':1,'column':1", "'character':0},'end':{'line':0,'character':3"},
        {"'line':1,'column':2", "'character':1},'end':{'line':0,'character':3"},
        {"'line':1,'column':4", "'character':3},'end':{'line':0,'character':9"},
        {"'line':1,'column':5", "'character':4},'end':{'line':0,'character':9"},
        {"'line':1", "'character':0},'end':{'line':0,'character':9"},
        {"'line':1,'column':500", "'character':12},'end':{'line':0,'character':12"},
        {"'line':1,'column':1,'end_column':3",
         "'character':0},'end':{'line':0,'character':2"},
        {"'line':1,'column':3,'end_line':1,'end_column':2",
         "'character':2},'end':{'line':0,'character':3"},
        {"'line':1,'column':1,'end_line':9,'end_column':9",
         "'character':0},'end':{'line':0,'character':8"},
    };
    harness_initialize(&h, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_decref(fake.findings);
        fake.findings = J("[{'source':'s','severity':'error','message':'m','file':"
                          "'/desk/a.fake',%s}]",
                          cases[i].place);
        harness_open(&h, URI, 1, "abc (d) e  \t");
        expect_json(json_object_get(json_array_get(diagnostics(i), 0), "range"),
                    "{'start':{'line':0,%s}}", cases[i].want);
    }
}

static char folder[] = "/tmp/upskilld-lsp-XXXXXX";

static void write_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL);
    fputs(text, f);
    fclose(f);
}

static void remove_file(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

Test(lsp_features, what_is_wrong_in_another_file_is_shown_here_with_its_place) {
    char uri[128];
    cr_assert(mkdtemp(folder) != NULL);
    write_file("c d.h", "\n\xC3\xA4\xC3\xA4 wrong;\n");
    snprintf(uri, sizeof uri, "file://%s/k.fake", folder);
    harness_initialize(&h, J(EVERYTHING));
    fake.findings =
        J("[{'source':'s','severity':'error','message':'m','file':'c d.h','line':2,"
          "'column':6,'related':[{'message':'included','file':'k.fake','line':2,"
          "'column':1}]},"
          "{'source':'s','severity':'error','message':'m','file':'none.h','line':3,"
          "'column':1},"
          "{'source':'s','severity':'error','message':'m','file':'/no/e.h','line':1}]");
    harness_open(&h, uri, 1,
                 "first\n  #include <c>\n\"e.h.bak\" my-e.h> e.h\nuse 'x/e.h' e.h\n");
    expect_json(
        diagnostics(0),
        "[{'range':{'start':{'line':1,'character':2},'end':{'line':1,'character':14}},"
        "'severity':1,'source':'s','message':'c d.h:2: m','relatedInformation':["
        "{'location':{'uri':'file://%s/c%%20d.h','range':{'start':{'line':1,"
        "'character':3},'end':{'line':1,'character':8}}},'message':'m'},"
        "{'location':{'uri':'%s','range':{'start':{'line':1,'character':0},'end':"
        "{'line':1,'character':14}}},'message':'included'}]},"
        "{'range':{'start':{'line':0,'character':0},'end':{'line':0,'character':5}},"
        "'severity':1,'source':'s','message':'none.h:3: m'},"
        "{'range':{'start':{'line':3,'character':0},'end':{'line':3,'character':15}},"
        "'severity':1,'source':'s','message':'e.h:1: m'}]",
        folder, uri);
    /* By its whole path it is the same file. */
    json_decref(fake.findings);
    fake.findings = J("[{'source':'s','severity':'error','message':'m','file':'%s/c d.h',"
                      "'line':2,'column':6}]",
                      folder);
    harness_open(&h, uri, 2, "first");
    expect_json(json_object_get(json_array_get(diagnostics(1), 0), "relatedInformation"),
                "[{'location':{'uri':'file://%s/c%%20d.h','range':{'start':{'line':1,"
                "'character':3},'end':{'line':1,'character':8}}},'message':'m'}]",
                folder);
    remove_file("c d.h");
    rmdir(folder);
}

/* --- fixes --- */

Test(lsp_features, a_fix_is_a_code_action_on_the_lines_of_its_finding) {
    harness_initialize(&h, J(EVERYTHING));
    harness_open(&h, URI, 5, "ok\n\xC3\xA4 BAD\n");
    json_t *list = actions(NULL, 1, 1);
    cr_assert(eq(sz, json_array_size(list), 1));
    json_t *action = json_array_get(list, 0);
    expect_json(
        json_object_get(action, "edit"),
        "{'documentChanges':[{'textDocument':{'uri':'" URI "','version':5},'edits':["
        "{'range':{'start':{'line':1,'character':2},'end':{'line':1,'character':5}},"
        "'newText':'GOOD'}]}]}");
    cr_expect(eq(str, string_of(action, "kind", ""), "quickfix"));
    cr_expect(eq(str, string_of(action, "title", ""), "Make it good"));
    cr_expect(eq(int, json_get_bool(action, "isPreferred", 0), 1));
    json_t *of = json_object_get(action, "diagnostics");
    cr_expect(eq(int, json_equal(of, diagnostics(0)), 1));
    cr_expect(zero(sz, json_array_size(actions(NULL, 0, 0))));
    cr_expect(eq(sz, json_array_size(actions(NULL, 0, 9)), 1));
    cr_expect(eq(sz, json_array_size(actions("['quickfix']", 1, 1)), 1));
    cr_expect(eq(sz, json_array_size(actions("['']", 1, 1)), 2));
    cr_expect(zero(sz, json_array_size(actions("['refactor']", 1, 1))));
    cr_expect(zero(sz, json_array_size(actions("['quick']", 1, 1))));
}

Test(lsp_features, clients_without_versioned_edits_get_a_map) {
    harness_initialize(&h, NULL);
    harness_open(&h, URI, 5, "BAD\n");
    json_t *list = actions(NULL, 0, 0);
    expect_json(json_object_get(json_array_get(list, 0), "edit"),
                "{'changes':{'" URI "':[{'range':{'start':{'line':0,'character':0},'end':"
                "{'line':0,'character':3}},'newText':'GOOD'}]}}");
}

Test(lsp_features, fix_all_takes_each_fix_once_and_leaves_out_what_clashes) {
    harness_initialize(&h, J(EVERYTHING));
#define FIX(line, from, to, text)                                                        \
    "{'source':'s','severity':'error','message':'m','file':'a.fake','line':" line        \
    ",'column':" from ",'fixes':[{'title':'t','edits':[{'line':" line ",'column':" from  \
    ",'end_line':" line ",'end_column':" to ",'text':'" text "'}]}]}"
    fake.findings = J("[" FIX("1", "1", "1", "#include <a>\\n") "," FIX(
        "1", "1", "1", "#include <a>\\n") "," FIX("2", "1", "4",
                                                  "x") "," FIX("2", "3", "6", "y") "]");
    harness_open(&h, URI, 1, "abcdef\nabcdef\n");
    json_t *list = actions("['source.fixAll']", 0, 0);
    cr_assert(eq(sz, json_array_size(list), 1));
    json_t *action = json_array_get(list, 0);
    cr_expect(eq(str, string_of(action, "kind", ""), "source.fixAll.upskilld"));
    json_t *change = json_array_get(
        json_object_get(json_object_get(action, "edit"), "documentChanges"), 0);
    expect_json(
        json_object_get(change, "edits"),
        "[{'range':{'start':{'line':0,'character':0},'end':{'line':0,'character':0}},"
        "'newText':'#include <a>\\n'},{'range':{'start':{'line':1,'character':0},"
        "'end':{'line':1,'character':3}},'newText':'x'}]");
}

Test(lsp_features, a_fix_is_never_offered_for_another_text) {
    fake.delay_ms = MANUAL;
    harness_initialize(&h, J(EVERYTHING));
    harness_open(&h, URI, 1, "BAD");
    fake_answer();
    cr_expect(eq(sz, json_array_size(actions(NULL, 0, 0)), 1));
    harness_edit(&h, URI, 2, 0, 0, 0, 0, "\n");
    int id =
        harness_send(&h, "textDocument/codeAction",
                     J("{'textDocument':{'uri':'" URI "'},'range':{'start':{'line':1,"
                       "'character':0},'end':{'line':1,'character':0}},'context':{}}"));
    harness_run(&h, 20);
    cr_expect(zero(sz, harness_responses(&h, id)), "it waits for the check");
    fake_answer();
    json_t *list = json_object_get(harness_response(&h, id), "result");
    cr_expect(eq(sz, json_array_size(list), 1));
}
