/* Questions about long texts are answered from another thread: nobody waits for them, and
 * each has one answer whatever happens meanwhile. */
#include "lsp_harness.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT "file:///desk/short.fake"
#define LONG_BYTES 100000
#define CONTENT_MODIFIED (-32801)
#define CANCELLED (-32800)

static struct harness h;
static uv_sem_t gate;

/* A short document and a long one, of 10 bytes a line, with an end of its own. */
static void open_both(void) {
    static char text[LONG_BYTES + 1];
    for (size_t i = 0; i < LONG_BYTES; i += 10) {
        memcpy(text + i, "1234 \xC3\xA9 8\n", 10);
    }
    harness_open(&h, SHORT, 1, "short");
    harness_open(&h, URI, 1, text);
}

static void start(void) {
    harness_start(&h);
    harness_initialize(&h, NULL);
    open_both();
    uv_sem_init(&gate, 0);
}

static void end(void) {
    harness_end(&h);
    uv_sem_destroy(&gate);
}

TestSuite(lsp_questions, .init = start, .fini = end, .timeout = 60);

static int ask(const char *uri) {
    return harness_send(&h, "textDocument/documentSymbol", harness_document(uri));
}

/* The line on which the only symbol, the whole text, ends. */
static int last_line(json_t *response) {
    const json_t *symbol = json_array_get(json_object_get(response, "result"), 0);
    const json_t *range = json_object_get(json_object_get(symbol, "location"), "range");
    return (int)json_get_integer(json_object_get(range, "end"), "line", -1);
}

static void add_line(int version) {
    harness_edit(&h, URI, version, 0, 0, 0, 0, "one more\n");
}

static void cancel(int id) {
    harness_notify(&h, "$/cancelRequest", json_pack("{s:i}", "id", id));
}

Test(lsp_questions, a_long_text_is_looked_through_elsewhere_and_a_short_one_at_once) {
    uv_thread_t self = uv_thread_self();
    cr_expect(eq(int, last_line(harness_response(&h, ask(SHORT))), 0));
    cr_expect(eq(int, uv_thread_equal(&self, &fake.symbols_thread), 1));
    json_t *answer = harness_response(&h, ask(URI));
    cr_expect(eq(int, uv_thread_equal(&self, &fake.symbols_thread), 0));
    expect_json(json_object_get(answer, "result"),
                "[{'name':'all','kind':12,'location':{'uri':'" URI "','range':{'start':"
                "{'line':0,'character':0},'end':{'line':10000,'character':0}}}}]");
    /* The other kinds of questions; é has two bytes and one unit of UTF-16. */
    json_t *place = json_pack("{s:{s:s}, s:{s:i, s:i}}", "textDocument", "uri", URI,
                              "position", "line", 9999, "character", 7);
    json_t *hover = harness_result(&h, "textDocument/hover", json_incref(place));
    expect_json(json_object_get(hover, "contents"),
                "{'kind':'plaintext','value':'**99998**'}");
    json_t *words = harness_result(&h, "textDocument/completion", place);
    expect_json(json_object_get(json_array_get(words, 0), "textEdit"),
                "{'range':{'start':{'line':0,'character':0},'end':{'line':9999,"
                "'character':7}},'newText':'word()'}");
    expect_json(
        harness_result(
            &h, "textDocument/inlayHint",
            J("{'textDocument':{'uri':'" URI "'},'range':{'start':"
              "{'line':1,'character':0},'end':{'line':20000,'character':0}}}")),
        "[{'position':{'line':10000,'character':0},'label':'last','paddingLeft':true}]");
    json_t *lenses = harness_result(&h, "textDocument/codeLens", harness_document(URI));
    cr_expect(eq(sz, json_array_size(lenses), 2));
}

Test(lsp_questions, nobody_waits_for_an_answer_that_takes_long) {
    fake.gate = &gate;
    int slow = ask(URI);
    for (int i = 0; i < 3; i++) { /* its own document too */
        json_t *hover =
            harness_result(&h, "textDocument/hover",
                           J("{'textDocument':{'uri':'" SHORT "'},'position':{'line':0,"
                             "'character':%d}}",
                             i));
        cr_expect(not(zero(ptr, hover)));
        add_line(2 + i);
    }
    harness_message(&h, "textDocument/publishDiagnostics", 1);
    cr_expect(zero(sz, harness_responses(&h, slow)));
    uv_sem_post(&gate);
    cr_expect(eq(int, last_line(harness_response(&h, slow)), 10000),
              "of the text when it was asked");
}

Test(lsp_questions, an_edit_turns_away_those_that_wait) {
    fake.gate = &gate;
    int first = ask(URI), second = ask(URI), third = ask(URI);
    add_line(2);
    cr_expect(
        eq(int, harness_error_code(harness_response(&h, second)), CONTENT_MODIFIED));
    cr_expect(eq(int, harness_error_code(harness_response(&h, third)), CONTENT_MODIFIED));
    int fourth = ask(URI);
    cr_expect(zero(sz, harness_responses(&h, first)));
    uv_sem_post(&gate);
    uv_sem_post(&gate);
    cr_expect(eq(int, last_line(harness_response(&h, first)), 10000));
    cr_expect(eq(int, last_line(harness_response(&h, fourth)), 10001));
}

Test(lsp_questions, a_cancelled_one_is_answered_at_once_and_only_once) {
    fake.gate = &gate;
    int made = ask(URI), waiting = ask(URI), wanted = ask(URI);
    cancel(waiting);
    cancel(made);
    cr_expect(eq(int, harness_error_code(harness_response(&h, waiting)), CANCELLED));
    cr_expect(eq(int, harness_error_code(harness_response(&h, made)), CANCELLED));
    uv_sem_post(&gate);
    uv_sem_post(&gate);
    cr_expect(eq(int, last_line(harness_response(&h, wanted)), 10000));
    cancel(wanted);
    harness_run(&h, 20);
    for (int id = made; id <= wanted; id++) {
        cr_expect(eq(sz, harness_responses(&h, id), 1));
    }
}

Test(lsp_questions, the_document_may_be_closed_meanwhile) {
    fake.gate = &gate;
    int made = ask(URI), waiting = ask(URI);
    harness_notify(&h, "textDocument/didClose", harness_document(URI));
    cr_expect(
        eq(int, harness_error_code(harness_response(&h, waiting)), CONTENT_MODIFIED));
    open_both();
    int again = ask(URI);
    uv_sem_post(&gate);
    uv_sem_post(&gate);
    cr_expect(eq(int, last_line(harness_response(&h, made)), 10000));
    cr_expect(eq(int, last_line(harness_response(&h, again)), 10000));
}

Test(lsp_questions, shutdown_answers_those_that_wait) {
    fake.gate = &gate;
    int made = ask(URI), waiting = ask(URI);
    harness_request(&h, "shutdown", NULL);
    cr_expect(
        eq(int, harness_error_code(harness_response(&h, waiting)), CONTENT_MODIFIED));
    uv_sem_post(&gate);
    cr_expect(eq(int, last_line(harness_response(&h, made)), 10000));
}

/* The end of the test frees the face; its loop must then run empty. */
Test(lsp_questions, the_face_may_go_meanwhile) {
    fake.gate = &gate;
    for (int i = 0; i < 3; i++) {
        ask(URI);
    }
    harness_run(&h, 10);
}

Test(lsp_questions, whatever_happens_each_has_one_answer) {
    int ids[400], lines[400], count = 0, now = 10000, version = 1;
    srand(7);
    for (int i = 0; i < 400; i++) {
        switch (rand() % 4) {
        case 0:
            add_line(++version);
            now++;
            break;
        case 1:
            cancel(count ? ids[rand() % count] : 1);
            break;
        case 2:
            harness_run(&h, 1);
            break;
        default:
            lines[count] = now;
            ids[count++] = ask(URI);
        }
    }
    for (int i = 0; i < count; i++) {
        json_t *answer = harness_response(&h, ids[i]);
        int code = harness_error_code(answer);
        cr_expect(code == CANCELLED || code == CONTENT_MODIFIED ||
                      last_line(answer) == lines[i],
                  "question %d", i);
    }
    harness_run(&h, 20);
    for (int i = 0; i < count; i++) {
        cr_expect(eq(sz, harness_responses(&h, ids[i]), 1));
    }
}
