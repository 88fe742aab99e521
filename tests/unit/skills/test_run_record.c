/* What a batch leaves on the disk, and what a killed one leaves. */
#include "skills/runs/run_record.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static void make_dir(void) {
    strcpy(dir, "/tmp/run-record-XXXXXX");
    cr_assert(mkdtemp(dir) != NULL);
}

static void remove_dir(void) {
    dir_remove(dir, NULL);
}

TestSuite(run_record, .init = make_dir, .fini = remove_dir);

static json_t *load(const char *folder, const char *name) {
    autofree char *path = path_join(folder, name);
    json_error_t error;
    json_t *value = json_load_file(path, 0, &error);
    cr_assert(value != NULL, "%s: %s", path, error.text);
    return value;
}

static json_t *meta_json(void) {
    return json_pack("{s:{s:s,s:s},s:s,s:s}", "skill", "name", "pdf-forms", "digest",
                     "sha256:ab", "tests_digest", "sha256:cd", "task", "fill forms");
}

static json_t *cell_json(const char *model, const char *arm, const char *test, int run,
                         const char *outcome) {
    return json_pack(
        "{s:s,s:s,s:s,s:s,s:i,s:s,s:i,s:i,s:{s:i,s:i,s:i},s:f,s:i,s:b,s:s,s:s,"
        "s:f}",
        "model", model, "arm", arm, "test", test, "split", "report", "run", run,
        "outcome", outcome, "assertions_passed", 1, "assertions_total", 2, "tokens",
        "input", 100, "output", 20, "total", 120, "cost", 0.25, "requests", 1, "cached",
        0, "served_model", "q-3", "stop_reason", "stop", "ms", 10.5);
}

static void put(struct run_writer *w, const char *model, const char *arm,
                const char *test, int run, const char *outcome) {
    autojson *cell = cell_json(model, arm, test, run, outcome);
    struct err err = {0};
    cr_assert(zero(int, run_writer_cell(w, cell, &err)), "%s", err.msg);
}

static char *folder_of(const struct run_writer *w) {
    return path_join(dir, run_writer_batch(w));
}

static struct run_writer *open_batch(void) {
    autojson *meta = meta_json();
    struct err err = {0};
    struct run_writer *w = run_writer_open(dir, meta, &err);
    cr_assert(w != NULL, "%s", err.msg);
    return w;
}

static json_t *member(const json_t *object, const char *path) {
    char key[64];
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
        object = json_object_get(object, key);
    }
    json_t *value = json_object_get(object, path);
    cr_assert(value != NULL, "%s", path);
    return value;
}

static const char *const of_result[] = {"metadata.model",
                                        "metadata.task",
                                        "metadata.batch_id",
                                        "metadata.run_number",
                                        "metadata.timestamp",
                                        "stats.conversation_span_ms",
                                        "stats.llm_time_ms",
                                        "stats.tool_time_ms",
                                        "stats.turns",
                                        "stats.tool_calls",
                                        "stats.tool_errors",
                                        "stats.mcp_calls",
                                        "stats.execute_calls",
                                        "stats.tool_call_map",
                                        "stats.tool_error_map",
                                        "stats.input_tokens",
                                        "stats.output_tokens",
                                        "stats.total_tokens",
                                        "stats.usage_summaries",
                                        "stats.timing_summaries",
                                        "passed",
                                        "assertions_passed",
                                        "assertions_total",
                                        "error_message",
                                        "session_id",
                                        "session_history_file",
                                        "run_type",
                                        "skill_name"};

static const struct run {
    const char *folder, *type, *model;
    int passed, total;
} runs[] = {{"run_1/run_result.json", "baseline", "m", 1, 2},
            {"run_2/run_result.json", "with_skill", "m", 2, 2},
            {"run_4/run_result.json", "with_skill", "n", 0, 0},
            {"run_5/run_result.json", "placebo", "m", 0, 1}};

static void check_run(const char *folder, const struct run *run) {
    autojson *result = load(folder, run->folder);
    for (size_t k = 0; k < sizeof of_result / sizeof *of_result; k++) {
        member(result, of_result[k]);
    }
    const char *type = json_string_value(member(result, "run_type"));
    const char *model = json_string_value(member(result, "metadata.model"));
    cr_assert(zero(int, strcmp(type, run->type)));
    cr_assert(zero(int, strcmp(model, run->model)));
    cr_assert(eq(int, (int)json_integer_value(member(result, "assertions_passed")),
                 run->passed));
    cr_assert(
        eq(int, (int)json_integer_value(member(result, "assertions_total")), run->total));
}

Test(run_record, a_batch_reads_as_upskill_writes_it) {
    struct run_writer *w = open_batch();
    autofree char *folder = folder_of(w);
    autofree char *batch = xstrdup(run_writer_batch(w));
    put(w, "m", "placebo", "a", 1, "failed");
    put(w, "m", "skill", "a", 1, "passed");
    put(w, "m", "baseline", "a", 1, "failed");
    put(w, "m", "skill", "b", 1, "passed");
    put(w, "m", "baseline", "b", 1, "passed");
    put(w, "m", "baseline", "c", 1, "errored");
    put(w, "n", "skill", "a", 1, "refused");
    autojson *evaluation = json_pack("{s:s}", "verdict", "no_evidence");
    struct err err = {0};
    cr_assert(zero(int, run_writer_finish(w, evaluation, &err)), "%s", err.msg);

    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        check_run(folder, &runs[i]);
    }
    autojson *first = load(folder, "run_1/run_result.json");
    cr_assert(eq(int, (int)json_integer_value(member(first, "stats.total_tokens")), 360));
    cr_assert(eq(int, (int)json_integer_value(member(first, "checks_total")), 6));
    cr_assert(strstr(json_string_value(member(first, "error_message")), "1 errored") !=
              NULL);
    cr_assert(strchr(json_string_value(member(first, "metadata.timestamp")), 'Z') ==
              NULL);
    autojson *metadata = load(folder, "run_1/run_metadata.json");
    cr_assert(eq(int, json_equal(metadata, member(first, "metadata")), 1));
    autojson *summary = load(folder, "batch_summary.json");
    cr_assert(zero(int, strcmp(json_string_value(member(summary, "batch_id")), batch)));
    cr_assert(zero(int, strcmp(json_string_value(member(summary, "model")), "m, n")));
    cr_assert(eq(int, (int)json_integer_value(member(summary, "total_runs")), 4));
    cr_assert(eq(int, (int)json_integer_value(member(summary, "passed_runs")), 1));
    cr_assert(eq(sz, json_array_size(member(summary, "results")), 4));
    autojson *whole = load(folder, "evaluation.json");
    member(whole, "verdict");
    cr_assert(zero(int, strcmp(json_string_value(member(whole, "meta.batch")), batch)));
    cr_assert(zero(int, strcmp(json_string_value(member(whole, "folder")), folder)));
}

Test(run_record, names_sort_by_time_and_never_meet) {
    char last[RUN_BATCH_SIZE] = "";
    for (int i = 0; i < 20; i++) {
        struct run_writer *w = open_batch();
        cr_assert(
            eq(sz, strlen(run_writer_batch(w)), strlen("2026_01_02_03_04_05_678_") + 8));
        /* The random part orders those of one millisecond. */
        cr_assert(strncmp(run_writer_batch(w), last, 23) >= 0);
        cr_assert(strcmp(run_writer_batch(w), last) != 0);
        strcpy(last, run_writer_batch(w));
        run_writer_close(w);
    }
}

static size_t lines_in(const char *folder) {
    autofree char *path = path_join(folder, "cells.jsonl");
    autobuf text = BUF_INIT(1u << 24);
    struct err err = {0};
    cr_assert(zero(int, file_read(path, &text, &err)), "%s", err.msg);
    size_t lines = 0;
    for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        autojson *cell = json_loadb(line, (size_t)(end - line), 0, NULL);
        cr_assert(cell != NULL, "line %zu", lines);
        lines++;
    }
    cr_assert(text.len == 0 || text.data[text.len - 1] == '\n');
    return lines;
}

Test(run_record, a_killed_run_keeps_every_cell) {
    int pipes[2];
    cr_assert(zero(int, pipe(pipes)));
    pid_t child = fork();
    if (child == 0) {
        struct run_writer *w = open_batch();
        for (int i = 1; i <= 50; i++) {
            put(w, "m", "skill", "a", i, "passed");
        }
        autofree char *folder = folder_of(w);
        ssize_t n = write(pipes[1], folder, strlen(folder) + 1);
        (void)n;
        kill(getpid(), SIGKILL);
    }
    char folder[256];
    ssize_t got = read(pipes[0], folder, sizeof folder);
    waitpid(child, NULL, 0);
    cr_assert(got > 0);
    cr_assert(eq(sz, lines_in(folder), 50));
    autofree char *evaluation = path_join(folder, "evaluation.json");
    cr_assert(access(evaluation, F_OK) < 0);
}

Test(run_record, cells_are_checked_and_cut) {
    static const char *const bad[] = {
        "[]",
        "{}",
        "{\"model\":\"m\",\"arm\":\"skill\",\"test\":\"a\",\"outcome\":\"passed\"}",
        "{\"model\":\"m\",\"arm\":\"skill\",\"test\":\"a\",\"run\":0,\"outcome\":"
        "\"passed\"}",
        "{\"model\":\"m\",\"arm\":\"skill\",\"test\":\"a\",\"run\":1,\"outcome\":"
        "\"won\"}",
        "{\"model\":\"\",\"arm\":\"skill\",\"test\":\"a\",\"run\":1,\"outcome\":"
        "\"passed\"}",
        "{\"model\":7,\"arm\":\"skill\",\"test\":\"a\",\"run\":1,\"outcome\":"
        "\"passed\"}"};
    struct run_writer *w = open_batch();
    autofree char *folder = folder_of(w);
    struct err err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        autojson *cell = json_loads(bad[i], 0, NULL);
        cr_assert(eq(int, run_writer_cell(w, cell, &err), -EINVAL), "%s", bad[i]);
    }
    autojson *cell = cell_json("m", "skill", "a", 1, "passed");
    size_t len = RUN_MAX_OUTPUT + 2;
    autofree char *text = xmalloc(len + 1);
    memset(text, 'x', len);
    memcpy(text + RUN_MAX_OUTPUT - 1, "\xc3\xa4", 2); /* astride the limit */
    json_object_set_new(cell, "output", json_stringn(text, len));
    json_object_set_new(cell, "assertions",
                        json_pack("[{s:s,s:s#,s:b}]", "check", "contains", "message",
                                  text, 5000, "passed", 1));
    cr_assert(zero(int, run_writer_cell(w, cell, &err)), "%s", err.msg);
    json_object_set_new(cell, "more", json_stringn(text, len));
    for (int i = 0; i < 20; i++) { /* too much altogether */
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        json_object_set_new(cell, key, json_stringn(text, len));
    }
    cr_assert(eq(int, run_writer_cell(w, cell, &err), -EFBIG));
    run_writer_close(w);
    cr_assert(eq(sz, lines_in(folder), 1));
    autojson *kept = load(folder, "cells.jsonl");
    cr_assert(eq(sz, json_string_length(member(kept, "output")), RUN_MAX_OUTPUT - 1));
    cr_assert(eq(sz, (size_t)json_integer_value(member(kept, "output_bytes")), len));
    json_t *assertion = json_array_get(member(kept, "assertions"), 0);
    cr_assert(eq(sz, json_string_length(member(assertion, "message")), RUN_MAX_EVIDENCE));
    member(kept, "ended");
    cr_assert(json_object_get(cell, "ended") == NULL); /* the caller's stays as it was */
}

Test(run_record, a_folder_that_cannot_be_made_is_an_error) {
    struct err err = {0};
    cr_assert(run_writer_open("/proc/nowhere/runs", NULL, &err) == NULL);
    cr_assert(err.code < 0 && *err.msg);
    struct run_writer *none = NULL;
    run_writer_close(none);
}

/* --- in the skill --- */

static json_t *evaluation_json(double rate, const char *ended) {
    return json_pack("{s:[{s:s,s:s,s:{s:f,s:f,s:f,s:s,s:f,s:i},s:[{s:s,s:f},{s:s,s:f}]}],"
                     "s:{s:s,s:s,s:s}}",
                     "students", "model", "m", "verdict", "helps", "lift", "estimate",
                     0.5, "low", 0.2, "high", 0.8, "method", "t", "p", 0.01, "n_tests",
                     12, "arms", "name", "baseline", "pass_rate", 0.25, "name", "skill",
                     "pass_rate", rate, "provenance", "skill_digest", "sha256:ab",
                     "tests_digest", "sha256:cd", "ended", ended);
}

static void write_meta(const char *text) {
    struct root root;
    struct err err = {0};
    cr_assert(zero(int, root_open(&root, dir, &err)));
    cr_assert(
        zero(int, root_write(&root, "skill_meta.json", text, strlen(text), 0644, &err)));
    root_close(&root);
}

Test(run_record, a_skill_keeps_its_newest_evaluations_and_all_else) {
    write_meta(
        "{\"metadata\":{\"version\":\"1.0\",\"generated_by\":\"t\",\"license\":\"MIT\","
        "\"own\":[1]},\"tests\":[{\"input\":\"x\"}],\"provenance\":{\"a\":1},"
        "\"evaluations\":[{\"model\":\"old\"}]}");
    struct err err = {0};
    for (int i = 0; i < RUN_MAX_EVALUATIONS; i++) {
        autojson *evaluation =
            evaluation_json(0.5 + i / 100.0, "2026-01-02T03:04:05.678Z");
        int rc = run_record_in_skill(dir, evaluation, "batch", &err);
        cr_assert(zero(int, rc), "%s", err.msg);
    }
    autojson *meta = load(dir, "skill_meta.json");
    json_t *list = member(meta, "evaluations");
    cr_assert(eq(sz, json_array_size(list), RUN_MAX_EVALUATIONS));
    json_t *entry = json_array_get(list, 0); /* "old" went first */
    cr_assert(zero(int, strcmp(json_string_value(member(entry, "model")), "m")));
    cr_assert(eq(dbl, json_real_value(member(entry, "arms.skill")), 0.5));
    cr_assert(eq(dbl, json_real_value(member(entry, "lift.estimate")), 0.5));
    cr_assert(eq(int, (int)json_integer_value(member(entry, "lift.n_tests")), 12));
    cr_assert(json_object_get(member(entry, "lift"), "method") == NULL);
    cr_assert(zero(int, strcmp(json_string_value(member(entry, "run")), "batch")));
    cr_assert(
        zero(int, strcmp(json_string_value(member(entry, "skill_digest")), "sha256:ab")));
    cr_assert(epsilon_eq(dbl, json_real_value(member(meta, "metadata.test_pass_rate")),
                         0.99, 1e-12));
    cr_assert(
        zero(int, strcmp(json_string_value(member(meta, "metadata.license")), "MIT")));
    cr_assert(eq(sz, json_array_size(member(meta, "metadata.own")), 1));
    cr_assert(eq(sz, json_array_size(member(meta, "tests")), 1));
    member(meta, "provenance.a");
}

Test(run_record, a_skill_without_the_file_gets_it_and_a_broken_one_is_left_alone) {
    struct err err = {0};
    autojson *evaluation = evaluation_json(0.75, "2026-01-02T03:04:05.678Z");
    cr_assert(zero(int, run_record_in_skill(dir, evaluation, "b", &err)), "%s", err.msg);
    autojson *meta = load(dir, "skill_meta.json");
    static const char *const fields[] = {"version",     "generated_by", "generated_at",
                                         "source_task", "license",      "compatibility"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        member(member(meta, "metadata"), fields[i]);
    }
    cr_assert(eq(dbl, json_real_value(member(meta, "metadata.test_pass_rate")), 0.75));
    static const char *const broken[] = {"[1]", "{\"tests\": [", ""};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        write_meta(broken[i]);
        cr_assert(eq(int, run_record_in_skill(dir, evaluation, "b", NULL), -EBADMSG));
        autofree char *path = path_join(dir, "skill_meta.json");
        autobuf text = BUF_INIT(100);
        cr_assert(zero(int, file_read(path, &text, NULL)));
        cr_assert(zero(int, strcmp(text.data, broken[i])));
    }
    cr_assert(eq(int, run_record_in_skill("/tmp/no/such/folder", evaluation, "b", &err),
                 -ENOENT));
    /* A link is not written through. */
    autofree char *path = path_join(dir, "skill_meta.json");
    autofree char *other = path_join(dir, "other.json");
    cr_assert(zero(int, rename(path, other)));
    cr_assert(zero(int, symlink("other.json", path)));
    cr_assert(lt(int, run_record_in_skill(dir, evaluation, "b", &err), 0));
}
