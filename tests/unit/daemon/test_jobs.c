#include "base/clock.h"
#include "base/db.h"
#include "base/err.h"
#include "base/file.h"
#include "daemon/jobs.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[PATH_MAX];
static uv_loop_t loop;
static struct operation_table *table;
static struct call_origin origin;

/* An operation that ends when the test says so. */
static void start(struct call *call, const json_t *params) {
    (void)call;
    (void)params;
}

/* One that knows its answer at once. */
static void start_known(struct call *call, const json_t *params) {
    (void)params;
    call_reply(call, json_pack("{s:b}", "known", 1));
}

#define ANY_OBJECT "{\"type\":\"object\"}"
static const struct operation operations[] = {
    {
        .name = "test/slow",
        .title = "Slow",
        .summary = "Ends when told.",
        .params_schema = ANY_OBJECT,
        .result_schema = ANY_OBJECT,
        .flags = OPERATION_LONG,
        .start = start,
    },
    {
        .name = "test/known",
        .title = "Known",
        .summary = "Ends at once.",
        .params_schema = ANY_OBJECT,
        .result_schema = ANY_OBJECT,
        .flags = OPERATION_LONG,
        .start = start_known,
    },
};

static void enter(void) {
    strcpy(folder, "/tmp/jobs-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state/jobs.db", folder);
    uv_loop_init(&loop);
    table = operation_table_new();
    cr_assert_eq(operation_table_add(table, operations, 2, NULL), 0);
    origin = (struct call_origin){.loop = &loop, .client = "test"};
}

static void leave(void) {
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0);
    operation_table_free(table);
    dir_remove(folder, NULL);
}

TestSuite(jobs, .init = enter, .fini = leave);

static struct call *keep(const char *operation, char id[33]) {
    struct call *call = call_start(operation_find(table, operation), NULL, &origin);
    snprintf(id, 33, "%s", call_keep(call));
    return call;
}

static struct call *start_kept(char id[33]) {
    return keep("test/slow", id);
}

static const char *state_of(struct jobs *jobs, const char *id, json_t **status) {
    *status = jobs_status(jobs, id, NULL);
    return *status ? json_get_string(*status, "state", "") : "unknown";
}

Test(jobs, a_result_stays_readable_for_the_next_daemon) {
    char id[33];
    json_t *status;
    struct jobs *jobs = jobs_new(path);
    struct call *call = start_kept(id);
    call_report(call, 1, 4, "half %s", "way");
    cr_assert_str_eq(state_of(jobs, id, &status), "running");
    cr_assert_eq(
        json_real_value(json_object_get(json_object_get(status, "progress"), "total")),
        4.0);
    json_decref(status);
    call_reply(call, json_pack("{s:s}", "answer", "forty-two"));
    uv_run(&loop, UV_RUN_DEFAULT);
    call_unref(call);
    jobs_free(jobs);

    jobs = jobs_new(path);
    cr_assert_str_eq(state_of(jobs, id, &status), "succeeded");
    cr_assert_str_eq(json_get_string(json_object_get(status, "result"), "answer", ""),
                     "forty-two");
    json_decref(status);
    json_t *list = jobs_list(jobs, "succeeded", 10);
    cr_assert_eq(json_array_size(list), 1);
    json_decref(list);
    list = jobs_list(jobs, "running", 10);
    cr_assert_eq(json_array_size(list), 0);
    json_decref(list);
    jobs_free(jobs);
}

/* At its beginning, and behind what opening it reads. */
Test(jobs, a_damaged_file_is_set_aside_and_the_next_one_kept) {
    static const long at[] = {0, 4096, 8192};
    char id[33], next[33], *garbage = calloc(1, 3000);
    memset(garbage, 0x5a, 3000);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        json_t *status;
        struct jobs *jobs = jobs_new(path);
        struct call *call = start_kept(id);
        call_reply(call, json_object());
        uv_run(&loop, UV_RUN_DEFAULT);
        call_unref(call);
        jobs_free(jobs);
        FILE *f = fopen(path, "r+");
        fseek(f, at[i], SEEK_SET);
        fwrite(garbage, 1, 3000, f);
        fclose(f);
        jobs = jobs_new(path);
        cr_assert_str_eq(state_of(jobs, id, &status), "unknown");
        cr_assert_null(jobs_problem(jobs));
        call = start_kept(next);
        call_reply(call, json_object());
        uv_run(&loop, UV_RUN_DEFAULT);
        call_unref(call);
        jobs_free(jobs);
        jobs = jobs_new(path);
        cr_assert_str_eq(state_of(jobs, next, &status), "succeeded", "byte %ld", at[i]);
        json_decref(status);
        jobs_free(jobs);
    }
    free(garbage);
}

Test(jobs, a_failure_keeps_its_reason_and_hint) {
    char id[33];
    json_t *status;
    struct jobs *jobs = jobs_new(path);
    struct call *call = start_kept(id);
    call_fail(call, CALL_UNAVAILABLE, "no_compiler", "run ./setup", "no compiler here");
    uv_run(&loop, UV_RUN_DEFAULT);
    call_unref(call);
    cr_assert_str_eq(state_of(jobs, id, &status), "failed");
    json_t *error = json_object_get(status, "error");
    cr_assert_str_eq(json_get_string(error, "message", ""), "no compiler here");
    json_t *data = json_object_get(error, "data");
    cr_assert_str_eq(json_get_string(data, "reason", ""), "no_compiler");
    cr_assert_str_eq(json_get_string(data, "hint", ""), "run ./setup");
    json_decref(status);
    jobs_free(jobs);
}

Test(jobs, an_unknown_id_is_unknown) {
    struct jobs *jobs = jobs_new(path);
    cr_assert_null(jobs_status(jobs, "00000000000000000000000000000000", NULL));
    cr_assert_null(jobs_status(jobs, "' OR 1=1 --", NULL));
    jobs_free(jobs);
}

/* A process that has a job running until it is killed. */
static pid_t keep_in_child(char id[33]) {
    int fds[2];
    cr_assert_eq(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        jobs_new(path);
        start_kept(id);
        (void)!write(fds[1], id, 33);
        pause();
        _exit(0);
    }
    cr_assert_eq(read(fds[0], id, 33), 33);
    close(fds[0]);
    close(fds[1]);
    return child;
}

/* The child is killed with its job running: the row says running, the process is gone. */
Test(jobs, a_job_whose_daemon_was_killed_is_interrupted) {
    char id[33] = "";
    pid_t child = keep_in_child(id);
    struct jobs *jobs = jobs_new(path);
    json_t *status;
    cr_assert_str_eq(state_of(jobs, id, &status), "running");
    json_decref(status);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    cr_assert_str_eq(state_of(jobs, id, &status), "interrupted");
    json_decref(status);
    jobs_free(jobs);
}

Test(jobs, a_daemon_that_ends_interrupts_what_it_ran) {
    char id[33];
    struct jobs *jobs = jobs_new(path);
    struct call *call = start_kept(id);
    jobs_free(jobs);
    jobs = jobs_new(path);
    json_t *status;
    cr_assert_str_eq(state_of(jobs, id, &status), "interrupted");
    json_decref(status);
    call_stopped(call);
    uv_run(&loop, UV_RUN_DEFAULT);
    call_unref(call);
    jobs_free(jobs);
}

static void on_input(struct call *call, const json_t *input, void *data) {
    (void)call;
    (void)input;
    (void)data;
}

/* An order that nobody takes an answer to is no order; while its daemon lives, another says so. */
Test(jobs, an_order_is_its_own_daemons) {
    char id[33], running[33];
    json_t *status;
    struct jobs *jobs = jobs_new(path);
    struct call *call = start_kept(id), *other = start_kept(running);
    call_require_input(call, json_pack("{s:s}", "instructions", "Write it."), on_input, NULL);
    cr_assert_str_eq(state_of(jobs, id, &status), "input_required");
    cr_assert_not_null(json_object_get(status, "work_order"));
    json_decref(status);
    struct jobs *second = jobs_new(path);
    cr_assert_str_eq(state_of(second, id, &status), "input_required");
    cr_assert_null(json_object_get(status, "work_order"));
    autofree char *pid = xasprintf("process id %d waits", getpid());
    cr_assert_not_null(strstr(json_get_string(json_object_get(status, "progress"), "message", ""), pid));
    json_decref(status);
    jobs_free(second);
    jobs_free(jobs);
    jobs = jobs_new(path);
    cr_assert_str_eq(state_of(jobs, id, &status), "interrupted");
    cr_assert_null(json_object_get(status, "work_order"));
    const json_t *error = json_object_get(status, "error");
    cr_assert_not_null(strstr(json_get_string(error, "message", ""), "waited for the answer to its order has ended"));
    cr_assert_str_eq(json_get_string(json_object_get(error, "data"), "reason", ""), "interrupted");
    json_decref(status);
    cr_assert_str_eq(state_of(jobs, running, &status), "interrupted");
    cr_assert_not_null(strstr(json_get_string(json_object_get(status, "error"), "message", ""), "ended before it was done"));
    json_decref(status);
    call_stopped(call);
    call_stopped(other);
    uv_run(&loop, UV_RUN_DEFAULT);
    call_unref(call);
    call_unref(other);
    jobs_free(jobs);
}

Test(jobs, without_a_place_to_write_jobs_live_in_memory_and_that_is_said) {
    char id[33];
    json_t *status;
    struct jobs *jobs = jobs_new("/proc/nowhere/jobs.db");
    struct call *call = start_kept(id);
    cr_assert_str_eq(state_of(jobs, id, &status), "running");
    json_decref(status);
    cr_assert_not_null(jobs_problem(jobs));
    call_stopped(call);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_str_eq(state_of(jobs, id, &status), "cancelled");
    json_decref(status);
    call_unref(call);
    jobs_free(jobs);
}

Test(jobs, what_is_stored_with_its_end_is_not_held_in_memory) {
    char id[33];
    struct jobs *jobs = jobs_new(path);
    call_unref(keep("test/known", id));
    struct call *live = NULL;
    json_t *status = jobs_status(jobs, id, &live);
    cr_assert_str_eq(json_get_string(status, "state", ""), "succeeded");
    cr_assert_null(live, "it ended before it was kept: the row is all there is");
    json_decref(status);
    jobs_free(jobs);
}

Test(jobs, what_cannot_be_stored_is_held_up_to_a_limit) {
    char first[33], last[33];
    json_t *status;
    struct jobs *jobs = jobs_new("/proc/nowhere/jobs.db");
    call_unref(keep("test/known", first));
    for (int i = 0; i < JOBS_KEEP; i++) {
        call_unref(keep("test/known", last));
    }
    cr_assert_str_eq(state_of(jobs, first, &status), "unknown", "the oldest makes room");
    cr_assert_str_eq(state_of(jobs, last, &status), "succeeded");
    json_decref(status);
    json_t *list = jobs_list(jobs, NULL, 2 * JOBS_KEEP);
    cr_assert_eq(json_array_size(list), JOBS_KEEP);
    json_decref(list);
    jobs_free(jobs);
}

/* A parent that does not wait for its children leaves a zombie, which still has a start
 * time. */
Test(jobs, a_daemon_that_nobody_waited_for_is_gone_all_the_same) {
    char id[33] = "";
    pid_t child = keep_in_child(id);
    kill(child, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    struct jobs *jobs = jobs_new(path);
    json_t *status;
    cr_assert_str_eq(state_of(jobs, id, &status), "interrupted");
    json_decref(status);
    jobs_free(jobs);
    waitpid(child, NULL, 0);
}

Test(jobs, the_end_does_not_wait_for_another_writer) {
    struct call *calls[3];
    char id[33];
    struct jobs *jobs = jobs_new(path);
    for (int i = 0; i < 3; i++) {
        calls[i] = start_kept(id);
    }
    sqlite3 *other;
    cr_assert_eq(sqlite3_open(path, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    uint64_t before = clock_ms();
    jobs_free(jobs);
    cr_assert_lt(clock_ms() - before, 1500); /* the usual wait is 2 s, three times */
    sqlite3_close(other);
    for (int i = 0; i < 3; i++) {
        call_stopped(calls[i]);
        call_unref(calls[i]);
    }
}
