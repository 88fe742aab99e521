#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/shared_bytes.h"
#include "gpu/pool/open_files.h"
#include "gpu/pool/pool.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 100000 };

struct answer {
    int calls, status;
    json_t *result;
    char why[256];
};

struct room {
    uv_loop_t loop;
    struct pool *pool;
    struct pool_worker_config workers[2];
    char *argv[2][4];
    char log[64], mark[64];
    int closed;
};

static void room_open(struct room *room, const char *mode, unsigned parallel,
                      struct pool_config config) {
    snprintf(room->log, sizeof room->log, "/tmp/pool-log-%d", (int)getpid());
    snprintf(room->mark, sizeof room->mark, "/tmp/pool-mark-%d", (int)getpid());
    unlink(room->log);
    unlink(room->mark);
    const char *worker = getenv("FAKE_WORKER");
    for (int i = 0; i < 2; i++) {
        char **argv = room->argv[i];
        argv[0] = xstrdup(worker ? worker : "fake_worker");
        argv[1] = strdup(mode);
        argv[2] = room->log;
        argv[3] = NULL;
        room->workers[i] =
            (struct pool_worker_config){.argv = argv, .parallel = parallel};
    }
    config.workers = room->workers;
    config.count = config.count ? config.count : 1;
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&room->loop);
    room->pool = pool_new(&room->loop, &config);
}

static void on_closed(void *data) {
    *(int *)data += 1;
}

static void room_close(struct room *room) {
    pool_close(room->pool, on_closed, &room->closed);
    uv_run(&room->loop, UV_RUN_DEFAULT);
    cr_assert_eq(room->closed, 1);
    cr_assert_eq(uv_loop_close(&room->loop), 0);
    for (int i = 0; i < 2; i++) {
        free(room->argv[i][0]);
        free(room->argv[i][1]);
    }
    unlink(room->log);
    unlink(room->mark);
}

static int starts(const struct room *room) {
    FILE *f = fopen(room->log, "re");
    int lines = 0;
    for (int c; f && (c = getc(f)) != EOF;) {
        lines += c == '\n';
    }
    if (f) {
        fclose(f);
    }
    return lines;
}

static void on_done(struct pool_job *job, int status, const json_t *result,
                    const json_t *error, const char *why, void *data) {
    (void)job, (void)error;
    struct answer *a = data;
    a->calls++;
    a->status = status;
    a->result = json_deep_copy(result);
    snprintf(a->why, sizeof a->why, "%s", why);
}

static struct pool_job *submit(struct room *room, const char *method, json_t *params,
                               struct answer *a) {
    *a = (struct answer){0};
    return pool_submit(room->pool, method, params, NULL, NULL, on_done, a);
}

static void run_until(struct room *room, const struct answer *answers, int count) {
    uint64_t end = clock_ms() + PATIENCE_MS;
    for (;;) {
        int done = 0;
        for (int i = 0; i < count; i++) {
            done += answers[i].calls > 0;
        }
        if (done == count || clock_ms() > end) {
            return;
        }
        uv_run(&room->loop, UV_RUN_ONCE);
    }
}

static int64_t status_of(const struct room *room, const char *key) {
    autojson *status = pool_status(room->pool);
    return json_get_integer(json_array_get(status, 0), key, -1);
}

/* Until the first worker has so many jobs. */
static void run_until_running(struct room *room, int count) {
    for (uint64_t end = clock_ms() + PATIENCE_MS; clock_ms() < end; usleep(1000)) {
        if (status_of(room, "running") == count) {
            return;
        }
        uv_run(&room->loop, UV_RUN_NOWAIT);
    }
    cr_assert_fail("the jobs do not run");
}

static void run_until_gone(struct room *room, pid_t pid) {
    for (uint64_t end = clock_ms() + PATIENCE_MS; clock_ms() < end; usleep(1000)) {
        if (kill(pid, 0) < 0) {
            return;
        }
        uv_run(&room->loop, UV_RUN_NOWAIT);
    }
    cr_assert_fail("the worker is still there");
}

/* Whatever a login shell prints before the greeting, jobs are answered. */
Test(pool, answers_after_a_banner) {
    static const char *const modes[] = {"plain", "banner"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct room room = {0};
        struct answer a[2];
        room_open(&room, modes[i], 4, (struct pool_config){0});
        submit(&room, "echo", json_pack("{s:s}", "word", "hi"), &a[0]);
        submit(&room, "fail", NULL, &a[1]);
        cr_assert_eq(a[0].calls, 0, "never from inside pool_submit");
        run_until(&room, a, 2);
        cr_assert_eq(a[0].status, 0);
        cr_assert_str_eq(json_get_string(a[0].result, "word", ""), "hi");
        cr_assert_eq(a[1].status, -EREMOTEIO);
        cr_assert_str_eq(a[1].why, "told to fail");
        cr_assert_eq(starts(&room), 1, "one worker serves both");
        json_decref(a[0].result);
        room_close(&room);
    }
}

static void ask_large(struct room *room, json_int_t bytes, bool last, struct answer *a) {
    submit(room, "large", json_pack("{s:I, s:b}", "bytes", bytes, "last", (int)last), a);
}

/* Answers that are read on a thread come whole and in order, also a worker's last one;
 * and the pool may be closed at any moment of it. */
Test(pool, large_answers_are_read_elsewhere) {
    enum { LARGE = 3 << 20 };
    struct room room = {0};
    struct answer a[3];
    room_open(&room, "plain", 4, (struct pool_config){0});
    ask_large(&room, LARGE, false, &a[0]);
    submit(&room, "echo", json_pack("{s:s}", "word", "hi"), &a[1]);
    ask_large(&room, LARGE, true, &a[2]);
    run_until(&room, a, 3);
    cr_assert_eq(starts(&room), 1);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(a[i].status, 0, "%d: %s", i, a[i].why);
        cr_assert_eq(json_string_length(a[i].result), i == 1 ? 0 : LARGE);
        json_decref(a[i].result);
    }
    room_close(&room);
    for (int turns = 0; turns < 60; turns += 4) {
        struct room cut = {0};
        room_open(&cut, "plain", 4, (struct pool_config){0});
        ask_large(&cut, LARGE, turns % 8, &a[0]);
        run_until_running(&cut, 1);
        for (int i = 0; i < turns && !a[0].calls; i++) {
            uv_run(&cut.loop, UV_RUN_ONCE);
        }
        room_close(&cut);
        cr_assert_eq(a[0].calls, 1);
        json_decref(a[0].result);
    }
}

/* A worker that cannot be had is tried twice; then the job says why. */
Test(pool, says_why_no_worker_started) {
    static const struct {
        const char *mode, *why;
        int status, starts;
    } cases[] = {
        {"quit", "ended with status 3: no such host", -EPIPE, 2},
        {"silent", "sent no greeting within 60 ms", -EPIPE, 2},
        {"noise", "sent 64 KiB without a greeting", -EPIPE, 2},
        {"old", "(version 0-fake) speaks worker protocol 99, and this daemon (", -EPIPE,
         2},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct room room = {0};
        struct answer a;
        unsigned hello_ms = strcmp(cases[i].mode, "silent") == 0 ? 60 : PATIENCE_MS;
        room_open(&room, cases[i].mode, 1, (struct pool_config){.hello_ms = hello_ms});
        submit(&room, "echo", NULL, &a);
        run_until(&room, &a, 1);
        cr_assert_eq(a.calls, 1, "%s", cases[i].mode);
        cr_assert_eq(a.status, cases[i].status, "%s: %d", cases[i].mode, a.status);
        cr_assert_not_null(strstr(a.why, cases[i].why), "%s", a.why);
        if (hello_ms > 60) { /* else it may be ended before it has written its line */
            cr_assert_eq(starts(&room), cases[i].starts);
        }
        room_close(&room);
    }
    struct room room = {0};
    struct answer a;
    room_open(&room, "plain", 1, (struct pool_config){0});
    free(room.argv[0][0]);
    pool_close(room.pool, NULL, NULL);
    uv_run(&room.loop, UV_RUN_DEFAULT);
    room.argv[0][0] = strdup("/nonexistent/upskilld-worker");
    room.pool =
        pool_new(&room.loop, &(struct pool_config){.workers = room.workers, .count = 1});
    submit(&room, "echo", NULL, &a);
    run_until(&room, &a, 1);
    cr_assert_lt(a.status, 0);
    cr_assert_not_null(strstr(a.why, "/nonexistent/upskilld-worker"), "%s", a.why);
    room_close(&room);
}

/* A job whose worker vanished is run once more on a new one, and only once more. */
Test(pool, retries_a_lost_job_once) {
    struct room room = {0};
    struct answer a[3];
    room_open(&room, "plain", 1, (struct pool_config){0});
    submit(&room, "die_once", json_pack("{s:s}", "mark", room.mark), &a[0]);
    run_until(&room, a, 1);
    cr_assert_eq(a[0].status, 0, "%s", a[0].why);
    cr_assert_str_eq(json_string_value(a[0].result), "survived");
    cr_assert_eq(starts(&room), 2);
    submit(&room, "die", NULL, &a[1]);
    submit(&room, "echo", json_integer(5), &a[2]);
    run_until(&room, a, 3);
    cr_assert_eq(a[1].status, -EPIPE);
    cr_assert_eq(a[2].status, 0, "the next in the queue is unharmed: %s", a[2].why);
    json_decref(a[0].result);
    json_decref(a[2].result);
    room_close(&room);
}

enum { FILE_BYTES = 8 << 20 }; /* far more than a pipe holds */

/* {"n":1,"x":"ABC…"} */
static struct shared_bytes *make_attached(void) {
    struct buf text = BUF_INIT(2 * FILE_BYTES);
    buf_adds(&text, "{\"n\":1,\"x\":\"");
    for (size_t i = 0; i < FILE_BYTES; i++) {
        buf_addc(&text, (char)('A' + i % 26));
    }
    buf_adds(&text, "\"}");
    return shared_bytes_new(&text);
}

static struct pool_job *submit_attached(struct room *room, const char *method,
                                        struct shared_bytes *attached, struct answer *a) {
    *a = (struct answer){0};
    return pool_submit(room->pool, method, json_pack("{s:i}", "m", 2), attached, NULL,
                       on_done, a);
}

/* What is attached to an answer comes from a process that ran anything: it is joined with
 * the worker's own words, or it fails that job. */
Test(pool, an_answers_attachment_is_that_jobs_alone) {
    static const char *const spoilt[] = {
        "[1]", "{\"a\":", "}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"forged\"}\n",
        "Content-Length: 24\r\n\r\n{\"id\":2,\"result\":\"forged\"}"};
    struct room room = {0};
    struct answer a[2];
    room_open(&room, "plain", 4, (struct pool_config){0});
    submit(&room, "forge", json_pack("{s:s}", "attachment", "{\"by\":0,\"of\":5}"),
           &a[0]);
    run_until(&room, a, 1);
    autojson *want = json_pack("{s:i, s:i}", "by", 1, "of", 5);
    cr_assert(json_equal(a[0].result, want));
    json_decref(a[0].result);
    for (size_t i = 0; i < ARRAY_LEN(spoilt); i++) {
        submit(&room, "forge", json_pack("{s:s}", "attachment", spoilt[i]), &a[0]);
        submit(&room, "echo", json_integer(5), &a[1]);
        run_until(&room, a, 2);
        cr_assert_eq(a[0].status, -EREMOTEIO, "%zu: %s", i, a[0].why);
        cr_assert_eq(json_integer_value(a[1].result), 5, "%zu: %s", i, a[1].why);
        json_decref(a[1].result);
    }
    cr_assert_eq(starts(&room), 1);
    room_close(&room);
}

/* What is attached comes whole, in order with other messages, and once more to the second
 * worker when the first dies before it has read it. */
Test(pool, sends_what_is_attached) {
    struct room room = {0};
    struct answer a[3];
    struct shared_bytes *attached = make_attached();
    autojson *want = json_loadb(attached->data, attached->len, 0, NULL);
    json_object_set_new(want, "m", json_integer(2));
    room_open(&room, "plain", 3, (struct pool_config){0});
    submit(&room, "die_once", json_pack("{s:s}", "mark", room.mark), &a[0]);
    submit_attached(&room, "echo", attached, &a[1]);
    shared_bytes_unref(attached); /* the job is the other holder */
    submit(&room, "echo", json_integer(5), &a[2]);
    run_until(&room, a, 3);
    cr_assert_eq(starts(&room), 2);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(a[i].status, 0, "%s", a[i].why);
    }
    cr_assert(json_equal(a[1].result, want));
    cr_assert_eq(json_integer_value(a[2].result), 5);
    for (int i = 0; i < 3; i++) {
        json_decref(a[i].result);
    }
    room_close(&room);
}

/* A file that ends the JSON text which is attached: {"x":"ABC…"}. `claimed` bytes are what
 * the job says that it has. */
static struct pool_job *submit_file(struct room *room, size_t claimed, struct answer *a) {
    struct pool_needs needs = {.files = open_files_new()};
    struct shared_bytes *whole = make_attached();
    const char *x = strstr(whole->data, "ABC");
    size_t behind = whole->len - (size_t)(x - whole->data);
    struct buf head = BUF_INIT(64);
    FILE *file = tmpfile();
    cr_assert_eq(fwrite(x, 1, behind, file), behind);
    cr_assert_eq(fflush(file), 0);
    cr_assert_eq(open_files_add(needs.files, dup(fileno(file)), claimed ? claimed : behind),
                 0);
    fclose(file);
    buf_add(&head, whole->data, (size_t)(x - whole->data));
    struct shared_bytes *attached = shared_bytes_new(&head);
    *a = (struct answer){0};
    struct pool_job *job = pool_submit(room->pool, "echo", json_pack("{s:i}", "m", 2),
                                       attached, &needs, on_done, a);
    open_files_unref(needs.files);
    shared_bytes_unref(attached);
    shared_bytes_unref(whole);
    return job;
}

/* A worker that takes no descriptors gets the files' bytes behind what is attached. Those
 * that have become shorter end their job alone. */
Test(pool, files_are_read_for_a_worker_elsewhere) {
    struct room room = {0};
    struct answer a[3];
    struct shared_bytes *whole = make_attached();
    autojson *want = json_loadb(whole->data, whole->len, 0, NULL);
    room_open(&room, "plain", 1, (struct pool_config){0});
    submit_file(&room, 0, &a[0]);
    submit_file(&room, 2 * FILE_BYTES, &a[1]);
    submit_file(&room, 0, &a[2]);
    run_until(&room, a, 3);
    cr_assert_eq(a[1].status, -EIO, "%d %s", a[1].status, a[1].why);
    for (int i = 0; i < 3; i += 2) {
        cr_assert_eq(a[i].status, 0, "%d: %s", i, a[i].why);
        cr_assert_str_eq(json_get_string(a[i].result, "x", ""),
                         json_get_string(want, "x", "?"));
        const json_t *sizes = json_object_get(a[i].result, "file_bytes");
        cr_assert_eq(json_integer_value(json_array_get(sizes, 0)), FILE_BYTES + 2);
        json_decref(a[i].result);
    }
    shared_bytes_unref(whole);
    room_close(&room);
}

/* While a thread reads the files: the job is cancelled, or the pool is closed. */
Test(pool, ends_while_files_are_read) {
    for (int way = 0; way < 2; way++) {
        struct room room = {0};
        struct answer a[2];
        room_open(&room, "plain", 1, (struct pool_config){0});
        submit(&room, "echo", json_integer(5), &a[0]);
        run_until(&room, a, 1);
        json_decref(a[0].result);
        struct pool_job *job = submit_file(&room, 0, &a[0]);
        cr_assert_eq(status_of(&room, "running"), 1);
        submit(&room, "echo", json_integer(6), &a[1]);
        if (way == 0) {
            pool_cancel(job);
            run_until(&room, a, 2);
            cr_assert_eq(json_integer_value(a[1].result), 6, "%s", a[1].why);
            json_decref(a[1].result);
        }
        room_close(&room);
        cr_assert_eq(a[0].status, -ECANCELED, "%s", a[0].why);
        cr_assert_eq(a[0].calls, 1);
        cr_assert_eq(a[1].calls, 1);
    }
}

/* A worker that has stopped reading: the job is cancelled, or its worker dies, or the
 * pool is closed, while the pipe is full. */
Test(pool, ends_while_it_sends_what_is_attached) {
    for (int way = 0; way < 3; way++) {
        struct room room = {0};
        struct answer a[2];
        room_open(&room, "plain", 2, (struct pool_config){0});
        struct pool_job *sleeper = submit(&room, "sleep", NULL, &a[0]);
        struct shared_bytes *attached = make_attached();
        struct pool_job *job = submit_attached(&room, "echo", attached, &a[1]);
        run_until_running(&room, 2);
        if (way == 0) {
            pool_cancel(job);
            pool_cancel(sleeper);
            run_until(&room, a, 2);
        } else if (way == 1) {
            pool_kill(room.pool);
            run_until(&room, a, 2);
        }
        room_close(&room);
        cr_assert_eq(a[0].status, -ECANCELED);
        cr_assert_eq(a[1].status, -ECANCELED, "%s", a[1].why);
        cr_assert_eq(a[1].calls, 1);
        cr_assert_eq(attached->holders, 1, "the pool holds it no longer");
        shared_bytes_unref(attached);
    }
}

/* A worker that keeps a job beyond its time is killed; the job is run once more, and
 * those beside it are not to blame. */
Test(pool, bounds_the_time_of_a_silent_worker) {
    struct room room = {0};
    struct answer a[3];
    room_open(&room, "plain", 2, (struct pool_config){.job_ms = 400});
    uint64_t start = clock_ms();
    submit(&room, "stubborn", NULL, &a[0]);
    run_until_running(&room, 1);
    struct pool_job *beside = submit(&room, "wait", NULL, &a[1]);
    run_until(&room, a, 1);
    cr_assert_eq(a[0].status, -EPIPE);
    cr_assert_not_null(strstr(a[0].why, "stopped answering"), "%s", a[0].why);
    cr_assert_geq(clock_ms() - start, 800);
    cr_assert_geq(starts(&room), 2, "and a third for the other, perhaps");
    cr_assert_eq(a[1].calls, 0);
    pool_cancel(beside);
    submit(&room, "echo", json_integer(5), &a[2]);
    run_until(&room, a, 3);
    cr_assert_eq(a[1].status, -ECANCELED);
    cr_assert_eq(a[2].status, 0, "%s", a[2].why);
    json_decref(a[2].result);
    room_close(&room);
}

/* Cancelled jobs end with -ECANCELED: queued ones at once, running ones when the worker
 * says so, and one that the worker does not stop takes the worker with it. */
Test(pool, cancels) {
    struct room room = {0};
    struct answer a[4];
    room_open(&room, "plain", 2, (struct pool_config){0});
    struct pool_job *wait = submit(&room, "wait", NULL, &a[0]);
    struct pool_job *stubborn = submit(&room, "stubborn", NULL, &a[1]);
    struct pool_job *queued = submit(&room, "echo", NULL, &a[2]);
    submit(&room, "pid", NULL, &a[3]);
    run_until_running(&room, 2);
    pool_cancel(queued);
    pool_cancel(queued);
    cr_assert_eq(a[2].calls, 0);
    pool_cancel(wait);
    run_until(&room, a, 1);
    run_until(&room, &a[2], 2);
    cr_assert_eq(a[0].status, -ECANCELED);
    cr_assert_eq(a[2].status, -ECANCELED);
    cr_assert_eq(a[3].status, 0);
    cr_assert_eq(starts(&room), 1);
    uint64_t start = clock_ms();
    uv_update_time(&room.loop);
    pool_cancel(stubborn);
    run_until(&room, &a[1], 1);
    cr_assert_eq(a[1].status, -ECANCELED);
    cr_assert_geq(clock_ms() - start, 1900);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(a[i].calls, 1);
        json_decref(a[i].result);
    }
    room_close(&room);
}

/* The queue holds POOL_MAX_QUEUED jobs; the next is told so. Closing ends them all. */
Test(pool, bounds_its_queue_and_ends_everything_on_close) {
    struct room room = {0};
    static struct answer a[POOL_MAX_QUEUED + 8];
    room_open(&room, "plain", 1, (struct pool_config){0});
    submit(&room, "stubborn", NULL, &a[0]);
    run_until_running(&room, 1);
    for (int i = 1; i < POOL_MAX_QUEUED + 3; i++) {
        submit(&room, "echo", NULL, &a[i]);
    }
    run_until(&room, &a[POOL_MAX_QUEUED + 1], 2);
    cr_assert_eq(a[POOL_MAX_QUEUED + 1].status, -EBUSY);
    cr_assert_not_null(strstr(a[POOL_MAX_QUEUED + 1].why, "try again"));
    cr_assert_eq(a[POOL_MAX_QUEUED].calls, 0);
    room_close(&room);
    for (int i = 0; i <= POOL_MAX_QUEUED; i++) {
        cr_assert_eq(a[i].calls, 1);
        cr_assert_eq(a[i].status, -ECANCELED);
    }
}

/* Idle workers end by themselves; the next job starts another. */
Test(pool, ends_idle_workers) {
    struct room room = {0};
    struct answer a;
    room_open(&room, "plain", 1, (struct pool_config){.idle_ms = 50});
    submit(&room, "pid", NULL, &a);
    run_until(&room, &a, 1);
    pid_t pid = (pid_t)json_integer_value(a.result);
    json_decref(a.result);
    run_until_gone(&room, pid);
    json_t *status = pool_status(room.pool);
    cr_assert_str_eq(json_get_string(json_array_get(status, 0), "state", ""), "idle");
    json_decref(status);
    submit(&room, "pid", NULL, &a);
    run_until(&room, &a, 1);
    cr_assert_eq(a.status, 0);
    json_decref(a.result);
    cr_assert_eq(starts(&room), 2);
    room_close(&room);
}

/* A second machine is started when the first is full, and a broken one is passed over. */
Test(pool, uses_every_worker_that_works) {
    struct room room = {0};
    struct answer a[2];
    room_open(&room, "plain", 1, (struct pool_config){.count = 2});
    submit(&room, "wait", NULL, &a[0]);
    submit(&room, "pid", NULL, &a[1]);
    run_until(&room, &a[1], 1);
    cr_assert_eq(a[1].status, 0);
    cr_assert_eq(starts(&room), 2);
    json_decref(a[1].result);
    room_close(&room);
    struct room broken = {0};
    room_open(&broken, "quit", 1, (struct pool_config){.count = 2});
    pool_close(broken.pool, NULL, NULL);
    uv_run(&broken.loop, UV_RUN_DEFAULT);
    free(broken.argv[1][1]);
    broken.argv[1][1] = strdup("plain");
    broken.pool = pool_new(&broken.loop,
                           &(struct pool_config){.workers = broken.workers, .count = 2});
    submit(&broken, "pid", NULL, &a[0]);
    run_until(&broken, a, 1);
    cr_assert_eq(a[0].status, 0, "%s", a[0].why);
    json_decref(a[0].result);
    room_close(&broken);
}

/* pool_kill leaves no process and ends the jobs. */
Test(pool, kills_at_once) {
    struct room room = {0};
    struct answer a[2];
    room_open(&room, "plain", 2, (struct pool_config){0});
    submit(&room, "pid", NULL, &a[0]);
    submit(&room, "stubborn", NULL, &a[1]);
    run_until(&room, a, 1);
    pid_t pid = (pid_t)json_integer_value(a[0].result);
    json_decref(a[0].result);
    pool_kill(room.pool);
    run_until(&room, a, 2);
    cr_assert_eq(a[1].status, -ECANCELED);
    run_until_gone(&room, pid);
    room_close(&room);
}
