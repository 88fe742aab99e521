/* run/list and run/show as a caller meets them, and the report that they write. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "protocol/call.h"
#include "skills/runs/run_html.h"
#include "skills/runs/run_list.h"
#include "skills/runs/run_list_html.h"
#include "skills/runs/run_operations.h"
#include "skills/runs/run_read.h"
#include "skills/runs/run_record.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

static char dir[64];
static char *work;
static struct operation_table *table;
static uv_loop_t loop;
static char *own_runs; /* what the host lends, or NULL */

static void set_up(void) {
    strcpy(dir, "/tmp/run-operations-XXXXXX");
    cr_assert(mkdtemp(dir) != NULL);
    setenv("XDG_STATE_HOME", dir, 1);
    work = path_join(dir, "work");
    cr_assert(mkdir(work, 0755) == 0);
    table = operation_table_new();
    struct err err = {0};
    int rc = operation_table_add(table, run_operations, run_operation_count, &err);
    cr_assert(rc == 0, "%s", err.msg);
    uv_loop_init(&loop);
}

static void tear_down(void) {
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(uv_loop_close(&loop) == 0);
    operation_table_free(table);
    dir_remove(dir, NULL);
    free(work);
}

TestSuite(run_operations, .init = set_up, .fini = tear_down);

static void *lend(void *host, const char *name) {
    (void)host;
    return strcmp(name, RUNS_DIR_LENT) == 0 ? own_runs : NULL;
}

/* The ended call. */
static struct call *ask(const char *operation, json_t *params) {
    const char *const roots[] = {work, NULL};
    const struct call_origin origin = {
        .loop = &loop, .client = "", .roots = roots, .lend = lend};
    struct call *call = call_start(operation_find(table, operation), params, &origin);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(call_ended(call), "%s", operation);
    return call;
}

static json_t *answer(const char *operation, json_t *params) {
    struct call *call = ask(operation, params);
    const struct call_failure *failure = call_failure(call);
    cr_assert(failure == NULL, "%s", failure ? failure->message : "");
    json_t *result = json_deep_copy(call_result(call));
    call_unref(call);
    return result;
}

static void fails(const char *operation, json_t *params, enum call_fault fault) {
    struct call *call = ask(operation, params);
    const struct call_failure *failure = call_failure(call);
    cr_assert(failure != NULL && failure->fault == fault && *failure->message);
    call_unref(call);
}

#define HOSTILE "</title><script>alert('1')</script>\"'><img src=x onerror=y>&amp;\x1b[2J"

static json_t *student_json(void) {
    return json_pack(
        "{s:s,s:s,s:s,s:{s:f,s:f,s:f,s:s,s:f,s:i,s:f},s:[{s:s,s:f,s:f,s:f,s:i,s:{s:i,s:i,"
        "s:i},"
        "s:f},{s:s,s:f,s:f,s:f,s:i,s:{s:i,s:i,s:i},s:n}],s:[{s:s,s:s,s:[{s:i,s:b,s:b}]},{"
        "s:s,"
        "s:[{s:n,s:b}]}]}",
        "model", "q" HOSTILE, "sentence", "The skill helps.", "verdict", "helps", "lift",
        "estimate", 0.45, "low", 0.21, "high", 0.69, "method", "paired t-interval", "p",
        0.004, "n_tests", 12, "smallest_detectable", 0.35, "arms", "name", "baseline",
        "pass_rate", 0.4, "low", 0.2, "high", 0.7, "passed", 5, "tokens", "input", 10,
        "output", 20, "total", 30, "cost", 0.5, "name", "skill", "pass_rate", 0.85, "low",
        0.6, "high", 0.95, "passed", 10, "tokens", "input", 10, "output", 20, "total", 30,
        "cost", "tests", "id", "a" HOSTILE, "split", "report", "pairs", "run", 1,
        "baseline", 0, "skill", 1, "id", "b", "pairs", "baseline", "skill", 1);
}

/* A batch of two cells with hostile texts everywhere; its name. */
static char *put_batch(const char *runs) {
    autojson *meta = json_pack("{s:{s:s,s:s},s:s,s:{s:s}}", "skill", "name",
                               "pdf" HOSTILE, "digest", "sha256:" HOSTILE, "task",
                               HOSTILE, "questions", "a" HOSTILE, "What is it?" HOSTILE);
    struct err err = {0};
    struct run_writer *w = run_writer_open(runs, meta, &err);
    cr_assert(w != NULL, "%s", err.msg);
    char *batch = xstrdup(run_writer_batch(w));
    for (int i = 1; i >= 0; i--) {
        autojson *cell = json_pack(
            "{s:s,s:s,s:s,s:i,s:s,s:s,s:s,s:[{s:s,s:b,s:s,s:s}]}", "model", "q" HOSTILE,
            "arm", i ? "skill" : "baseline", "test", "a" HOSTILE, "run", 1, "outcome",
            i ? "passed" : "errored", "why", HOSTILE, "output", HOSTILE, "assertions",
            "check", "contains", "passed", i, "expected", HOSTILE, "message", HOSTILE);
        cr_assert(run_writer_cell(w, cell, &err) == 0, "%s", err.msg);
    }
    autojson *evaluation =
        json_pack("{s:s,s:s,s:[o],s:{s:s}}", "verdict", "helps", "sentence", HOSTILE,
                  "students", student_json(), "provenance", "ended" HOSTILE, HOSTILE);
    cr_assert(run_writer_finish(w, evaluation, &err) == 0, "%s", err.msg);
    return batch;
}

Test(run_operations, without_runs_the_list_is_empty) {
    autojson *list = answer("run/list", json_object());
    cr_assert(zero(sz, json_array_size(json_object_get(list, "runs"))));
    fails("run/show", json_pack("{s:s}", "run", "latest"), CALL_NOT_FOUND);
}

Test(run_operations, runs_are_listed_and_shown) {
    autofree char *batch = put_batch(NULL);
    autojson *list = answer("run/list", json_object());
    json_t *row = json_array_get(json_object_get(list, "runs"), 0);
    cr_assert(strcmp(json_get_string(row, "run", ""), batch) == 0);
    autojson *shown = answer("run/show", json_pack("{s:s}", "run", "latest"));
    cr_assert(strcmp(json_get_string(shown, "run", ""), batch) == 0);
    cr_assert(eq(sz, json_array_size(json_object_get(shown, "cells")), 2));
    const char *tail = strrchr(batch, '_') + 1;
    autojson *found = answer("run/show", json_pack("{s:s}", "run", tail));
    cr_assert(strcmp(json_get_string(found, "run", ""), batch) == 0);
    fails("run/show", json_pack("{s:s}", "run", tail + 1), CALL_NOT_FOUND);
    cr_assert(json_object_get(json_object_get(shown, "evaluation"), "verdict") != NULL);
    autojson *csv =
        answer("run/show", json_pack("{s:s,s:s}", "run", batch, "format", "csv"));
    cr_assert(strncmp(json_get_string(csv, "text", ""), "batch_id,run_number,", 20) == 0);
    autobuf words = BUF_INIT(1u << 20);
    operation_find(table, "run/list")->describe(list, &words);
    operation_find(table, "run/show")->describe(shown, &words);
    cr_assert(strstr(words.data, "helps  +45 points [+21, +69], p = 0.004") != NULL, "%s",
              words.data);
    cr_assert(strchr(words.data, 0x1b) == NULL);
}

Test(run_operations, the_user_may_keep_runs_elsewhere) {
    autofree char *mine = path_join(dir, "mine");
    own_runs = mine;
    autofree char *batch = put_batch(mine);
    autofree char *folder = path_join(mine, batch);
    cr_assert(access(folder, F_OK) == 0);
    autojson *list = answer("run/list", json_object());
    cr_assert(strcmp(json_get_string(list, "dir", ""), mine) == 0);
    cr_assert(eq(sz, json_array_size(json_object_get(list, "runs")), 1));
    own_runs = NULL;
}

Test(run_operations, files_are_written_beneath_the_workspace_only) {
    static const char *const outside[] = {"../x.html", "/tmp/x.html", "a/../../x.html",
                                          "link/x.html"};
    autofree char *batch = put_batch(NULL);
    autofree char *link = path_join(work, "link");
    cr_assert(symlink("/tmp", link) == 0);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        fails("run/show", json_pack("{s:s,s:s}", "run", batch, "out", outside[i]),
              CALL_REFUSED);
    }
    static const char *const wrong[] = {"SKILL.md", "x", "x.htm", ".bashrc"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fails("run/show", json_pack("{s:s,s:s}", "run", batch, "out", wrong[i]),
              CALL_BAD_PARAMS);
    }
    fails("run/show",
          json_pack("{s:s,s:s,s:s}", "run", batch, "out", "x.csv", "format", "html"),
          CALL_BAD_PARAMS);
    static const char *const names[] = {"reports/x.html", "x.csv", "x.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        autojson *wrote =
            answer("run/show", json_pack("{s:s,s:s}", "run", batch, "out", names[i]));
        autobuf text = BUF_INIT(1u << 20);
        autofree char *path = path_join(work, names[i]);
        cr_assert(file_read(path, &text, NULL) == 0);
        cr_assert(eq(sz, text.len, (size_t)json_get_integer(wrote, "bytes", 0)));
        cr_assert(strcmp(json_get_string(wrote, "path", ""), path) == 0);
    }
    autofree char *absolute = path_join(work, "y.json");
    autojson *wrote =
        answer("run/show", json_pack("{s:s,s:s}", "run", batch, "out", absolute));
    cr_assert(strcmp(json_get_string(wrote, "path", ""), absolute) == 0);
}

Test(run_operations, runs_elsewhere_are_read_beneath_the_workspace_only) {
    autofree char *runs = path_join(work, "runs");
    autofree char *batch = put_batch(runs);
    autojson *list = answer("run/list", json_pack("{s:s}", "dir", "runs"));
    cr_assert(eq(sz, json_array_size(json_object_get(list, "runs")), 1));
    fails("run/show", json_pack("{s:s}", "run", batch), CALL_NOT_FOUND);
    fails("run/list", json_pack("{s:s}", "dir", "/etc"), CALL_REFUSED);
    fails("run/list", json_pack("{s:s}", "dir", "nowhere"), CALL_NOT_FOUND);
    fails("run/show", json_pack("{s:s}", "run", "../x"), CALL_BAD_PARAMS);
    fails("run/show", json_object(), CALL_BAD_PARAMS);
}

static json_t *read_one(const char *batch) {
    struct root root;
    autofree char *runs = run_default_dir(NULL);
    cr_assert(root_open(&root, runs, NULL) == 0);
    json_t *value = run_read(&root, batch, RUN_READ_CELLS, NULL);
    root_close(&root);
    cr_assert(value != NULL);
    json_object_set_new(value, "rows", run_rows(value));
    return value;
}

Test(run_operations, the_report_stands_alone_and_escapes_all) {
    static const char *const never[] = {"<script", "<img", "onerror=y>", "http:",
                                        "https:",  "url(", "@import",    "\x1b",
                                        "src=\"",  "href"};
    static const char *const there[] = {
        "<!DOCTYPE html>", "Content-Security-Policy\" content=\"default-src 'none'"};
    autofree char *name = put_batch(NULL);
    autojson *batch = read_one(name);
    autobuf html = BUF_INIT(1u << 22);
    cr_assert(run_html_write(&html, batch) == 0);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        cr_assert(strstr(html.data, never[i]) == NULL, "%s", never[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        cr_assert(strstr(html.data, there[i]) != NULL, "%s", there[i]);
    }
    cr_assert(strstr(html.data, "&lt;script&gt;alert(&#39;1&#39;)") != NULL);
    cr_assert(strstr(html.data, "Lift: +45 points, p = 0.004") != NULL);
    const char *question = strstr(html.data, "What is it?");
    const char *first = question ? strstr(question, "<h4>without the skill") : NULL;
    cr_assert(first != NULL && strstr(first, "<h4>with the skill") != NULL);
    cr_assert(strstr(html.data, "no pair") != NULL); /* a test without a baseline */
    autobuf small = BUF_INIT(3000);
    cr_assert(run_html_write(&small, batch) == -EMSGSIZE);
}

/* As the verdict's sentence rounds it, and a pattern as people write it. */
Test(run_operations, the_report_rounds_halves_up_and_shows_patterns) {
    autofree char *name = put_batch(NULL);
    autojson *batch = read_one(name);
    json_t *student = json_array_get(
        json_object_get(json_object_get(batch, "evaluation"), "students"), 0);
    json_object_set_new(json_object_get(student, "lift"), "estimate", json_real(0.625));
    json_t *assertions = json_object_get(
        json_array_get(json_object_get(batch, "cells"), 0), "assertions");
    json_object_set_new(json_array_get(assertions, 0), "expected",
                        json_pack("{s:s,s:s}", "pattern", "\\b3\\.35\\b", "flags", "i"));
    autobuf html = BUF_INIT(1u << 22);
    cr_assert(run_html_write(&html, batch) == 0);
    cr_assert(strstr(html.data, "Lift: +63 points") != NULL);
    cr_assert(strstr(html.data, "<code>/\\b3\\.35\\b/i</code>") != NULL);
}

static unsigned times(const struct buf *html, const char *word) {
    unsigned count = 0;
    for (const char *at = html->data; (at = strstr(at, word)); at++) {
        count++;
    }
    return count;
}

Test(run_operations, an_answer_that_comes_again_is_shown_once) {
    autofree char *name = put_batch(NULL);
    autojson *batch = read_one(name);
    json_t *cells = json_object_get(batch, "cells");
    json_t *again = json_deep_copy(json_array_get(cells, 0));
    json_object_set_new(again, "run", json_integer(2));
    json_array_append_new(cells, again);
    autobuf same = BUF_INIT(1u << 22), other = BUF_INIT(1u << 22);
    cr_assert(run_html_write(&same, batch) == 0);
    cr_expect(eq(uint, times(&same, "<pre>"), 2));
    cr_expect(eq(uint, times(&same, "The same answer as before."), 1));
    json_object_set_new(again, "output", json_string("Another."));
    cr_assert(run_html_write(&other, batch) == 0);
    cr_expect(eq(uint, times(&other, "<pre>"), 3));
    cr_expect(zero(uint, times(&other, "The same answer as before.")));
}

Test(run_operations, the_report_says_what_tests_prove_and_what_it_costs) {
    autofree char *name = put_batch(NULL);
    autojson *batch = read_one(name);
    json_t *evaluation = json_object_get(batch, "evaluation");
    json_object_set_new(evaluation, "marks",
                        json_pack("[{s:s,s:s},{s:s,s:s},{s:s,s:s}]", "id", "t1",
                                  "message", "it shows nothing", "id", "t<2", "message",
                                  "it shows nothing", "id", "t3", "message",
                                  "repeating passes"));
    json_t *student = json_array_get(json_object_get(evaluation, "students"), 0);
    json_object_set_new(
        student, "arms",
        json_pack("[{s:s,s:i,s:f},{s:s,s:i,s:f}]", "name", "baseline", "runs", 10, "cost",
                  0.5, "name", "skill", "runs", 20, "cost", 0.75));
    autobuf html = BUF_INIT(1u << 22), dear = BUF_INIT(1u << 22);
    cr_assert(run_html_write(&html, batch) == 0);
    cr_expect(eq(uint, times(&html, "<td>t1, t&lt;2</td><td>it shows nothing</td>"), 1));
    cr_expect(eq(uint, times(&html, "<td>t3</td><td>repeating passes</td>"), 1));
    cr_expect(eq(uint, times(&html, "It costs 25 % less (0.0375 instead of 0.0500)"), 1));
    json_object_del(evaluation, "marks");
    json_object_set_new(json_array_get(json_object_get(student, "arms"), 1), "cost",
                        json_real(2.0));
    cr_assert(run_html_write(&dear, batch) == 0);
    cr_expect(zero(uint, times(&dear, "Tests that prove little")));
    cr_expect(eq(uint, times(&dear, "It costs 2.00 times as much (0.1000 instead of "), 1));
}

/* Tags that are opened are closed, in order. */
static void expect_well_formed(struct buf html) {
    static const char *const alone[] = {"meta", "line", "rect", "circle", "!DOCTYPE"};
    char stack[64][16];
    size_t depth = 0;
    for (char *at = html.data; (at = strchr(at, '<')); at++) {
        char tag[16];
        size_t n = strcspn(at + 1, " />\n");
        bool closes = at[1] == '/', single = false;
        n = closes ? strcspn(at + 2, ">") : n;
        snprintf(tag, sizeof tag, "%.*s", (int)n, at + 1 + closes);
        for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
            single |= strcmp(tag, alone[i]) == 0;
        }
        if (closes) {
            cr_assert(depth > 0 && strcmp(stack[--depth], tag) == 0, "</%s>", tag);
        } else if (single == false) {
            cr_assert(depth < 64);
            strcpy(stack[depth++], tag);
        }
    }
    cr_assert(zero(sz, depth));
}

Test(run_operations, the_reports_are_well_formed) {
    autofree char *name = put_batch(NULL);
    autojson *batch = read_one(name);
    autojson *list = answer("run/list", json_object());
    autobuf html = BUF_INIT(1u << 22), all = BUF_INIT(1u << 22);
    cr_assert(run_html_write(&html, batch) == 0);
    expect_well_formed(html);
    cr_assert(run_list_html_write(&all, list) == 0);
    expect_well_formed(all);
    cr_assert(strstr(all.data, "<script") == NULL);
    cr_assert(strstr(all.data, "helps</span>") != NULL);
}

/* A narrow page has no columns: each cell tells its model, also where nothing was measured. */
Test(run_operations, a_cell_of_the_matrix_has_its_models_name) {
    autojson *list = json_loads(
        "{\"runs\": [], \"matrix\": {\"skills\": [\"pdf\"], \"models\": [\"a\", \"b\\\"c\"], "
        "\"cells\": [[{\"baseline_rate\": 0, \"skill_rate\": 1, \"verdict\": \"helps\"}, null]]}}", 0, NULL);
    autobuf all = BUF_INIT(1u << 22);
    cr_assert(run_list_html_write(&all, list) == 0);
    cr_expect(strstr(all.data, "<td data-model=\"a\">0 → 100 % ") != NULL);
    cr_expect(strstr(all.data, "<td data-model=\"b&quot;c\"><span class=\"muted\">–</span>") != NULL);
}
