/* Batches read back and listed: ours, upskill's, interrupted, damaged and hostile ones.
 */
#include "skills/runs/run_list.h"
#include "skills/runs/run_list_html.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "skills/runs/run_read.h"
#include "skills/runs/run_record.h"
#include "skills/runs/run_table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct root root;

static void make_dir(void) {
    strcpy(dir, "/tmp/run-list-XXXXXX");
    cr_assert(mkdtemp(dir) != NULL);
    cr_assert(root_open(&root, dir, NULL) == 0);
}

static void remove_dir(void) {
    root_close(&root);
    dir_remove(dir, NULL);
}

TestSuite(run_list, .init = make_dir, .fini = remove_dir);

static void put(const char *path, const char *text) {
    struct err err = {0};
    int rc = root_write(&root, path, text, strlen(text), 0644, &err);
    cr_assert(rc == 0, "%s", err.msg);
}

/* As upskill writes it; type NULL = an older file without run_type. */
static void put_upskill(const char *batch, int number, const char *type, int passed,
                        int tokens) {
    char path[128], text[1024];
    const char *model = "haiku";
    snprintf(path, sizeof path, "%s/run_%d/run_result.json", batch, number);
    snprintf(text, sizeof text,
             "{\"metadata\": {\"model\": \"%s\", \"task\": \"write a good PR\", "
             "\"batch_id\": \"%s\", \"run_number\": %d, \"timestamp\": "
             "\"2026-01-22T13:1%d:00.123456\"}, \"stats\": {\"total_tokens\": %d, "
             "\"turns\": 5}, "
             "\"passed\": true, \"assertions_passed\": %d, \"assertions_total\": 5, "
             "\"error_message\": null, \"session_id\": null%s%s%s, \"skill_name\": "
             "\"write-good-pr\"}",
             model, batch, number, number, tokens, passed,
             type ? ", \"run_type\": \"" : "", type ? type : "", type ? "\"" : "");
    put(path, text);
}

static const char ours_meta[] =
    "{\"skill\": {\"name\": \"pdf\", \"digest\": \"sha256:ab\"}, \"task\": \"fill\", "
    "\"started\": \"2026-02-01T00:00:00.000Z\"}";
static const char ours_evaluation[] =
    "{\"verdict\": \"helps\", \"sentence\": \"It helps.\", \"students\": [{\"model\": "
    "\"q\", "
    "\"verdict\": \"helps\", \"lift\": {\"estimate\": 0.5, \"low\": 0.25, \"high\": "
    "0.75, "
    "\"p\": 0.01, \"n_tests\": 12}, \"arms\": [{\"name\": \"baseline\", \"pass_rate\": "
    "0.25, "
    "\"tokens\": {\"total\": 100}, \"cost\": 0.5}, {\"name\": \"skill\", \"pass_rate\": "
    "0.75, "
    "\"tokens\": {\"total\": 300}, \"cost\": null}]}, {\"model\": \"r\", \"verdict\": "
    "\"<b>\"}], \"provenance\": {\"ended\": \"2026-02-01T00:10:00.000Z\"}}";

static void put_ours(const char *batch) {
    char path[128];
    snprintf(path, sizeof path, "%s/meta.json", batch);
    put(path, ours_meta);
    snprintf(path, sizeof path, "%s/evaluation.json", batch);
    put(path, ours_evaluation);
}

static const json_t *row_of(const json_t *list, size_t i) {
    const json_t *row = json_array_get(json_object_get(list, "runs"), i);
    cr_assert(row != NULL, "row %zu", i);
    return row;
}

static double rate(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static bool has(const json_t *row, const char *key, const char *text) {
    return strcmp(json_get_string(row, key, ""), text) == 0;
}

Test(run_list, batches_of_both_programs_stand_in_one_list) {
    put_upskill("2026_01_22_13_10", 1, NULL, 2, 276);
    put_upskill("2026_01_22_13_10", 2, NULL, 4, 300);
    put_upskill("2026_01_23_09_00", 1, "with_skill", 5, 10);
    put_ours("2026_02_01_00_00_00_000_00c0ffee");
    put("results.csv", "no batch");
    put("notes/readme.txt", "no batch either");
    autojson *list = run_list(&root, NULL, NULL, 50);
    cr_assert(eq(sz, json_array_size(json_object_get(list, "runs")), 4));
    const json_t *q = row_of(list, 0), *r = row_of(list, 1);
    cr_assert(has(q, "model", "q") && has(q, "skill", "pdf") &&
              has(q, "verdict", "helps"));
    cr_assert(has(q, "state", "complete") && has(q, "origin", "upskilld"));
    cr_assert(rate(q, "baseline_rate") == 0.25 && rate(q, "skill_rate") == 0.75);
    cr_assert(rate(q, "tokens") == 400 && rate(q, "cost") == -1 &&
              rate(q, "tests") == 12);
    cr_assert(rate(json_object_get(q, "lift"), "high") == 0.75);
    cr_assert(json_object_get(r, "verdict") == json_null()); /* no word of ours */
    const json_t *only = row_of(list, 2), *paired = row_of(list, 3);
    cr_assert(rate(only, "baseline_rate") == -1 && rate(only, "skill_rate") == 1);
    cr_assert(json_object_get(only, "lift") == json_null());
    cr_assert(has(paired, "origin", "upskill") && has(paired, "skill", "write-good-pr"));
    cr_assert(rate(paired, "baseline_rate") == 0.4 && rate(paired, "skill_rate") == 0.8);
    cr_assert(rate(json_object_get(paired, "lift"), "estimate") == 0.4);
    cr_assert(json_object_get(json_object_get(paired, "lift"), "low") == NULL);
    cr_assert(has(paired, "ended", "2026-01-22T13:12:00.123456"));
    cr_assert(rate(paired, "tokens") == 576);
    cr_assert(json_integer_value(json_object_get(q, "tokens")) == 400);
}

Test(run_list, rows_are_chosen_by_skill_and_model_and_counted) {
    put_upskill("2026_01_22_13_10", 1, "baseline", 2, 1);
    put_ours("2026_02_01_00_00_00_000_00c0ffee");
    put_ours("2026_02_02_00_00_00_000_00c0ffee");
    autojson *of_skill = run_list(&root, "write-good-pr", NULL, 50);
    cr_assert(eq(sz, json_array_size(json_object_get(of_skill, "runs")), 1));
    autojson *of_model = run_list(&root, "pdf", "q", 50);
    cr_assert(eq(sz, json_array_size(json_object_get(of_model, "runs")), 2));
    autojson *none = run_list(&root, "pdf", "haiku", 50);
    cr_assert(zero(sz, json_array_size(json_object_get(none, "runs"))));
    autojson *some = run_list(&root, NULL, NULL, 2);
    cr_assert(eq(sz, json_array_size(json_object_get(some, "runs")), 2));
    cr_assert(eq(int, (int)json_get_integer(some, "omitted", 0), 3));
}

Test(run_list, the_matrix_shows_the_newest_not_the_best) {
    put_upskill("2026_01_22_13_10", 2, "with_skill", 5, 1);
    put_upskill("2026_01_23_13_10", 2, "with_skill", 3, 1);
    put_ours("2026_02_01_00_00_00_000_00c0ffee");
    autojson *list = run_list(&root, NULL, NULL, 1);
    const json_t *matrix = json_object_get(list, "matrix");
    cr_assert(eq(sz, json_array_size(json_object_get(matrix, "skills")), 2));
    cr_assert(eq(sz, json_array_size(json_object_get(matrix, "models")), 3));
    const json_t *cells = json_object_get(matrix, "cells");
    const json_t *pdf = json_array_get(cells, 0), *pr = json_array_get(cells, 1);
    cr_assert(rate(json_array_get(pdf, 0), "skill_rate") == 0.75);
    cr_assert(json_array_get(pdf, 2) == json_null());
    cr_assert(rate(json_array_get(pr, 2), "skill_rate") == 0.6);
    cr_assert(has(json_array_get(pr, 2), "run", "2026_01_23_13_10"));
}

/* A trigger run measures when the skill is loaded, not what it is worth. */
Test(run_list, a_trigger_run_takes_no_evaluations_place) {
    put_upskill("2026_01_22_13_10", 2, "with_skill", 5, 1);
    autojson *before = run_list(&root, NULL, NULL, 9);
    const json_t *rows = json_object_get(before, "runs");
    const char *skill = json_get_string(json_array_get(rows, 0), "skill", "");
    const char *model = json_get_string(json_array_get(rows, 0), "model", "");
    autofree char *meta =
        xasprintf("{\"kind\": \"trigger\", \"skill\": {\"name\": \"%s\"}, "
                                    "\"started\": \"2026-03-01T00:00:00.000Z\"}",
                                    skill);
    autofree char *result =
        xasprintf("{\"students\": [{\"model\": \"%s\", \"recall\": 1}], "
                  "\"provenance\": {\"ended\": \"2026-03-01T00:10:00.000Z\"}}",
                  model);
    put("2026_03_01_00_00_00_000_00c0ffee/meta.json", meta);
    put("2026_03_01_00_00_00_000_00c0ffee/evaluation.json", result);
    autojson *list = run_list(&root, NULL, NULL, 9);
    cr_assert(eq(sz, json_array_size(json_object_get(list, "runs")),
                 json_array_size(rows) + 1));
    cr_assert(json_equal(json_object_get(list, "matrix"),
                         json_object_get(before, "matrix")));
    cr_assert(has(json_array_get(json_object_get(list, "runs"), 0), "kind", "trigger"));
    autobuf page = BUF_INIT(1u << 20);
    cr_assert(zero(int, run_list_html_write(&page, list)));
    cr_assert(strstr(page.data, "2026-01-22 13:10") && !strstr(page.data, "2026-03-01"),
              "%s", page.data);
}

static void write_cells(struct run_writer *w) {
    static const char *const outcomes[] = {"failed", "errored", "passed", "passed"};
    for (int i = 0; i < 4; i++) {
        autojson *cell = json_pack(
            "{s:s,s:s,s:s,s:i,s:s,s:s,s:{s:i,s:i,s:i},s:f,s:s,s:s}", "model", "q", "arm",
            i % 2 ? "skill" : "baseline", "test", i < 2 ? "=1+1" : "b", "run", 1,
            "outcome", outcomes[i], "why", "it said \"no\",\nand left", "tokens", "input",
            10, "output", 5, "total", 15, "cost", 0.001, "served_model", "q-1",
            "base_url", "http://x/v1");
        cr_assert(run_writer_cell(w, cell, NULL) == 0);
    }
}

Test(run_list, a_batch_that_goes_on_or_was_interrupted_is_read_from_its_cells) {
    autojson *meta = json_loads(ours_meta, 0, NULL);
    struct run_writer *w = run_writer_open(dir, meta, NULL);
    cr_assert(w != NULL);
    autofree char *batch = xstrdup(run_writer_batch(w));
    write_cells(w);
    autojson *running = run_read(&root, batch, 1u << 20, NULL);
    cr_assert(has(running, "state", "running"));
    run_writer_close(w);
    autojson *list = run_list(&root, NULL, NULL, 5);
    const json_t *row = row_of(list, 0);
    cr_assert(has(row, "state", "interrupted") && has(row, "skill", "pdf"));
    cr_assert(rate(row, "baseline_rate") == 0.5 && rate(row, "skill_rate") == 1);
    const json_t *matrix = json_object_get(list, "matrix");
    cr_assert(zero(sz, json_array_size(json_object_get(matrix, "skills"))));
}

Test(run_list, the_last_of_equal_cells_counts_and_torn_lines_do_not) {
    put("b1/meta.json", ours_meta);
    put("b1/cells.jsonl", "{\"model\":\"q\",\"arm\":\"skill\",\"test\":\"a\",\"run\":1,"
                          "\"outcome\":\"errored\"}\n"
                          "nonsense\n\n[1]\n"
                          "{\"model\":\"q\",\"arm\":\"skill\",\"test\":\"a\",\"run\":1,"
                          "\"outcome\":\"passed\"}\n"
                          "{\"model\":\"q\",\"arm\":\"skill\",\"te");
    autojson *batch = run_read(&root, "b1", 1u << 20, NULL);
    const json_t *cells = json_object_get(batch, "cells");
    cr_assert(eq(sz, json_array_size(cells), 1));
    cr_assert(has(json_array_get(cells, 0), "outcome", "passed"));
    const json_t *problem = json_array_get(json_object_get(batch, "problems"), 0);
    cr_assert(strstr(json_string_value(problem), "3 lines") != NULL);
    autojson *cut = run_read(&root, "b1", 100, NULL);
    cr_assert(zero(int, strncmp("cells.jsonl: only",
                                json_string_value(
                                    json_array_get(json_object_get(cut, "problems"), 1)),
                                17)));
}

Test(run_list, what_is_hostile_is_refused_or_left_out) {
    static const char *const names[] = {"",    ".",       "..",   "../x",
                                        "a/b", ".hidden", "a\nb", "none"};
    struct err err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_assert(run_read(&root, names[i], 0, &err) == NULL, "%s", names[i]);
        cr_assert(err.code == -EINVAL || err.code == -ENOENT);
    }
    char deep[4096];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    put("b1/meta.json", ours_meta);
    put("b1/evaluation.json", deep);
    put("b1/run_2/run_result.json", "{\"metadata\": 7, \"stats\": [], \"run_type\": {}, "
                                    "\"assertions_total\": -1, \"passed\": \"yes\"}");
    put("b1/run_3/run_result.json", "[]");
    put("b1/run_0/run_result.json", "{}");
    put("b1/run_99999999999999999999/run_result.json", "{}");
    put("b2/evaluation.json", "{\"students\": [7, {\"lift\": 3, \"arms\": {\"a\": 1}}], "
                              "\"provenance\": []}");
    put("b3/run_1/run_metadata.json", "{\"model\": \"m\\u0000\\u001b[31m\"}");
    cr_assert(symlinkat("/etc", root.fd, "b4") == 0);
    cr_assert(mkdirat(root.fd, "b5", 0755) == 0);
    cr_assert(mkfifoat(root.fd, "b5/meta.json", 0644) == 0);
    cr_assert(symlinkat("/etc/passwd", root.fd, "b5/cells.jsonl") == 0);
    autojson *list = run_list(&root, NULL, NULL, 50);
    cr_assert(json_array_size(json_object_get(list, "runs")) >= 3);
    cr_assert(json_array_size(json_object_get(list, "problems")) >= 2);
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(list, "runs"), i, row) {
        autobuf csv = BUF_INIT(1u << 20);
        autojson *batch =
            run_read(&root, json_get_string(row, "run", ""), 1u << 20, NULL);
        cr_assert(run_table_write(&csv, batch) == 0);
        cr_assert(strchr(json_get_string(row, "model", ""), 0x1b) == NULL);
    }
}

static size_t count(const char *text, char c, const char *end) {
    size_t n = 0;
    for (; *text && text != end; text++) {
        n += *text == c;
    }
    return n;
}

Test(run_list, the_table_begins_with_upskills_columns) {
    static const char first[] =
        "batch_id,run_number,model,task,timestamp,passed,assertions_passed,"
        "assertions_total,input_tokens,output_tokens,total_tokens,conversation_span_ms,"
        "llm_time_ms,tool_time_ms,turns,tool_calls,tool_errors,mcp_calls,execute_calls,"
        "error_message,session_id,session_history_file,run_type,";
    put_upskill("2026_01_22_13_10", 1, "baseline", 2, 276);
    autojson *batch = run_read(&root, "2026_01_22_13_10", 0, NULL);
    autobuf csv = BUF_INIT(1u << 20);
    cr_assert(run_table_write(&csv, batch) == 0);
    cr_assert(strncmp(csv.data, first, strlen(first)) == 0, "%s", csv.data);
    const char *row = strstr(csv.data, "\r\n") + 2;
    static const char begins[] = "\"2026_01_22_13_10\",1,\"haiku\",\"write a good PR\","
                                 "\"2026-01-22T13:11:00.123456\",True,2,5,,,276,";
    cr_assert(strncmp(row, begins, strlen(begins)) == 0, "%s", row);
    cr_assert(eq(sz, count(csv.data, ',', row), count(row, ',', NULL)));

    autojson *meta = json_loads(ours_meta, 0, NULL);
    struct run_writer *w = run_writer_open(dir, meta, NULL);
    autofree char *name = xstrdup(run_writer_batch(w));
    write_cells(w);
    autojson *evaluation = json_loads(ours_evaluation, 0, NULL);
    cr_assert(run_writer_finish(w, evaluation, NULL) == 0);
    autojson *ours = run_read(&root, name, 1u << 20, NULL);
    buf_reset(&csv);
    cr_assert(run_table_write(&csv, ours) == 0);
    cr_assert(strstr(csv.data, "\"it said \"\"no\"\",\nand left\"") != NULL);
    cr_assert(strstr(csv.data, "\"'=1+1\"") != NULL);
    cr_assert(strstr(csv.data, ",\"with_skill\",\"pdf\",\"skill\",1,") != NULL);
    cr_assert(eq(sz, count(csv.data, '\r', NULL), 5));
    autobuf small = BUF_INIT(200);
    cr_assert(run_table_write(&small, ours) == -EMSGSIZE);
}
