#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "gpu/pool/pool.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Workers that tell of themselves what the tests say, and who gets which job. */

enum { MAX_WORKERS = 3, PATIENCE_MS = 60000 };
#define COMPILER "{\"toolkits\": [{\"major\": 13}]}"
#define GPU "{\"cuda\": {\"driver\": true}, \"host\": \"gpu-host\"}"
#define GPU_2 "{\"cuda\": true, \"host\": \"gpu-host\"}"
#define BROKEN                                                                           \
    "{\"devices\": [], \"error\": {\"code\": \"CUDA_ERROR_SYSTEM_NOT_READY\", "          \
    "\"message\": \"the fabric manager\\u0007 does not run\"}}"
#define H100                                                                             \
    "{\"devices\": [{\"name\": \"NVIDIA H100 80GB HBM3\", \"uuid\": \"GPU-abc\", "       \
    "\"compute_capability\": \"9.0\"}]}"
#define A100                                                                             \
    "{\"devices\": [{\"name\": \"NVIDIA A100\", \"uuid\": \"GPU-def\", "                 \
    "\"compute_capability\": [8, 0]}]}"

struct spec {
    const char *name, *mode, *hello, *devices;
    enum pool_told local, gpu, compile;
};

struct answer {
    int calls, status;
    char why[1024], worker[64], host[64];
};

struct room {
    uv_loop_t loop;
    struct pool *pool;
    struct pool_worker_config workers[MAX_WORKERS];
    char *argv[MAX_WORKERS][6];
    char logs[MAX_WORKERS][64], mark[64];
    int count, closed;
};

static void room_add(struct room *room, const struct spec *spec) {
    int i = room->count++;
    const char *program = getenv("FAKE_WORKER");
    snprintf(room->logs[i], sizeof room->logs[i], "/tmp/pool-route-%d-%d", (int)getpid(),
             i);
    unlink(room->logs[i]);
    char **argv = room->argv[i];
    argv[0] = xstrdup(program ? program : "fake_worker");
    argv[1] = xstrdup(spec->mode ? spec->mode : "plain");
    argv[2] = room->logs[i];
    argv[3] = xstrdup(spec->hello ? spec->hello : "{}");
    argv[4] = xstrdup(spec->devices ? spec->devices : "{}");
    room->workers[i] = (struct pool_worker_config){
        .argv = argv,
        .name = spec->name,
        .parallel = 1,
        .local = spec->local ? spec->local : POOL_NO,
        .gpu = spec->gpu,
        .compile = spec->compile,
    };
}

static void room_open(struct room *room, const struct spec *specs, int count,
                      struct pool_config config) {
    memset(room, 0, sizeof *room);
    snprintf(room->mark, sizeof room->mark, "/tmp/pool-route-mark-%d", (int)getpid());
    unlink(room->mark);
    for (int i = 0; i < count; i++) {
        room_add(room, &specs[i]);
    }
    config.workers = room->workers;
    config.count = (size_t)count;
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
    for (int i = 0; i < room->count; i++) {
        for (int k = 0; k < 5; k++) {
            if (k != 2) {
                free(room->argv[i][k]);
            }
        }
        unlink(room->logs[i]);
    }
    unlink(room->mark);
}

/* Lines of a worker's log that are `word`, or any. */
static int logged(const struct room *room, int i, const char *word) {
    FILE *f = fopen(room->logs[i], "re");
    char line[64];
    int lines = 0;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        lines += !word || strcmp(line, word) == 0;
    }
    if (f) {
        fclose(f);
    }
    return lines;
}

static void on_done(struct pool_job *job, int status, const json_t *result,
                    const json_t *error, const char *why, void *data) {
    struct answer *a = data;
    (void)result, (void)error;
    autojson *worker = pool_job_worker(job);
    a->calls++;
    a->status = status;
    snprintf(a->why, sizeof a->why, "%s", why);
    snprintf(a->worker, sizeof a->worker, "%s", json_get_string(worker, "name", "-"));
    snprintf(a->host, sizeof a->host, "%s", json_get_string(worker, "host", "-"));
}

static struct pool_job *submit(struct room *room, const char *method,
                               struct pool_needs needs, struct answer *a) {
    *a = (struct answer){0};
    return pool_submit(room->pool, method, json_pack("{s:s}", "mark", room->mark), NULL,
                       &needs, on_done, a);
}

static void run_until(struct room *room, const int *calls) {
    for (uint64_t end = clock_ms() + PATIENCE_MS; !*calls && clock_ms() < end;) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    cr_assert_eq(*calls, 1, "no answer");
}

/* Runs a job to its end. */
static struct answer ask(struct room *room, const char *method, struct pool_needs needs) {
    struct answer a;
    submit(room, method, needs, &a);
    run_until(room, &a.calls);
    return a;
}

static const struct spec local_compiler = {
    .name = "here", .local = POOL_YES, .hello = COMPILER};
static const struct pool_needs compile = {.compile = true}, gpu = {.gpu = true};

/* What the local worker can do starts nothing elsewhere, even when it has no room; what
 * it cannot goes to the first that can. */
Test(pool_route, keeps_compiling_here_and_sends_gpu_jobs_away) {
    struct room room;
    struct answer held, a;
    const struct spec specs[] = {{.name = "away", .hello = GPU, .devices = H100},
                                 local_compiler};
    room_open(&room, specs, 2, (struct pool_config){0});
    struct pool_job *job = submit(&room, "wait", compile, &held);
    struct answer queued;
    submit(&room, "echo", compile, &queued);
    a = ask(&room, "echo", gpu);
    cr_assert_eq(a.status, 0, "%s", a.why);
    cr_assert_str_eq(a.worker, "away");
    cr_assert_str_eq(a.host, "gpu-host");
    cr_assert_eq(logged(&room, 0, NULL), 1);
    cr_assert_eq(queued.calls, 0, "it waits for the local worker");
    pool_cancel(job);
    run_until(&room, &queued.calls);
    cr_assert_str_eq(queued.worker, "here");
    cr_assert_eq(logged(&room, 1, NULL), 1);
    room_close(&room);
    /* And without a GPU job nothing is started there at all. */
    room_open(&room, specs, 2, (struct pool_config){0});
    a = ask(&room, "echo", compile);
    cr_assert_str_eq(a.worker, "here");
    cr_assert_eq(logged(&room, 0, NULL), 0);
    room_close(&room);
}

/* Each worker says what it lacks. */
Test(pool_route, tells_what_every_worker_lacks) {
    struct room room;
    const struct spec specs[] = {
        local_compiler,
        {.name = "old", .hello = GPU, .devices = A100},
        {.name = "told", .gpu = POOL_NO},
    };
    room_open(&room, specs, 3, (struct pool_config){0});
    struct answer a =
        ask(&room, "echo", (struct pool_needs){.gpu = true, .arch = "sm_90a"});
    cr_assert_eq(a.status, -ENODEV);
    cr_assert_str_eq(a.why,
                     "no worker has a GPU that runs sm_90a: the worker \"here\" has no "
                     "NVIDIA driver; the worker \"old\" has no GPU that runs sm_90a; the "
                     "worker \"told\" is configured to have no GPU");
    cr_assert_str_eq(a.worker, "-");
    cr_assert_eq(logged(&room, 2, NULL), 0);
    a = ask(&room, "echo", (struct pool_needs){.gpu = true, .arch = "sm_80"});
    cr_assert_eq(a.status, 0, "%s", a.why);
    cr_assert_str_eq(a.worker, "old");
    a = ask(&room, "echo", (struct pool_needs){.gpu = true, .device = "H200"});
    cr_assert_eq(a.status, -ENODEV);
    cr_assert_not_null(strstr(a.why, "no worker has the GPU \"H200\""), "%s", a.why);
    room_close(&room);
    const struct spec broken[] = {{.name = "sick", .hello = GPU_2, .devices = BROKEN}};
    room_open(&room, broken, 1, (struct pool_config){0});
    a = ask(&room, "echo", gpu);
    cr_assert_eq(a.status, -ENODEV);
    cr_assert_not_null(strstr(a.why, "\"sick\" has no GPU: the fabric manager"), "%s",
                       a.why);
    cr_assert_null(strchr(a.why, '\a'), "%s", a.why);
    room_close(&room);
    const struct spec none[] = {{.name = "away"}, {.name = "not", .compile = POOL_NO}};
    room_open(&room, none, 2, (struct pool_config){0});
    a = ask(&room, "echo", compile);
    cr_assert_eq(a.status, -ENODEV);
    cr_assert_str_eq(a.why,
                     "no worker has a CUDA compiler: the worker \"away\" has no CUDA "
                     "compiler; the worker \"not\" is configured not to compile");
    room_close(&room);
    /* Of the only one there is, once is enough. */
    const struct spec lone[] = {{.name = "here", .local = POOL_YES}};
    room_open(&room, lone, 1, (struct pool_config){0});
    a = ask(&room, "echo", compile);
    cr_assert_eq(a.status, -ENODEV);
    cr_assert_str_eq(a.why, "no worker has a CUDA compiler");
    room_close(&room);
}

/* sm_90a runs on 9.0 alone, sm_80 on 9.0 too; devices by UUID, ordinal and name. */
Test(pool_route, finds_the_device_that_is_meant) {
    static const struct {
        const char *arch, *device, *worker;
    } cases[] = {
        {NULL, NULL, "a100"},        {"sm_80", NULL, "a100"},
        {"sm_90a", NULL, "h100"},    {"sm_90", NULL, "h100"},
        {"sm_89", NULL, "h100"},     {NULL, "gpu-ABC", "h100"},
        {NULL, "H100 80GB", "h100"}, {NULL, "0", "a100"},
        {"sm_90a", "0", "h100"},     {"sm_100a", NULL, NULL},
        {"sm_100f", NULL, NULL},     {"sm_90a", "GPU-def", NULL},
        {NULL, "1", NULL},           {"sm_80a", NULL, "a100"},
    };
    struct room room;
    const struct spec specs[] = {{.name = "a100", .hello = GPU, .devices = A100},
                                 {.name = "h100", .hello = GPU_2, .devices = H100}};
    room_open(&room, specs, 2, (struct pool_config){0});
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pool_needs needs = {
            .gpu = true, .arch = cases[i].arch, .device = cases[i].device};
        struct answer a = ask(&room, "echo", needs);
        cr_assert_str_eq(a.worker, cases[i].worker ? cases[i].worker : "-", "%zu: %s", i,
                         a.why);
        cr_assert_eq(a.status, cases[i].worker ? 0 : -ENODEV);
    }
    room_close(&room);
}

/* A GPU that would only be nice to have: started elsewhere when the configuration says
 * that there is one, never to find out. */
Test(pool_route, prefers_a_gpu_where_one_is_known) {
    const struct pool_needs prefer = {.prefer_gpu = true, .arch = "sm_90a"};
    struct room room;
    struct spec specs[] = {local_compiler,
                           {.name = "away", .hello = GPU, .devices = H100}};
    room_open(&room, specs, 2, (struct pool_config){0});
    struct answer a = ask(&room, "echo", prefer);
    cr_assert_str_eq(a.worker, "here");
    cr_assert_eq(logged(&room, 1, NULL), 0);
    a = ask(&room, "echo", gpu);
    cr_assert_str_eq(a.worker, "away");
    a = ask(&room, "echo", prefer);
    cr_assert_str_eq(a.worker, "away", "it is known by now");
    room_close(&room);
    specs[1].gpu = POOL_YES;
    room_open(&room, specs, 2, (struct pool_config){0});
    a = ask(&room, "echo", prefer);
    cr_assert_str_eq(a.worker, "away");
    room_close(&room);
    specs[1].mode = "quit";
    room_open(&room, specs, 2, (struct pool_config){0});
    a = ask(&room, "echo", prefer);
    cr_assert_str_eq(a.worker, "here", "%s", a.why);
    room_close(&room);
    specs[1].devices = A100;
    specs[1].mode = "plain";
    room_open(&room, specs, 2, (struct pool_config){0});
    a = ask(&room, "echo", prefer);
    cr_assert_str_eq(a.worker, "here", "%s", a.why);
    room_close(&room);
}

/* A lost job goes to another worker that has what it needs; a compilation that was lost
 * here is not sent away for that. */
Test(pool_route, takes_a_lost_job_elsewhere) {
    struct room room;
    const struct spec specs[] = {local_compiler,
                                 {.name = "one", .hello = GPU, .devices = H100},
                                 {.name = "two", .hello = GPU, .devices = H100}};
    room_open(&room, specs, 3, (struct pool_config){0});
    struct answer a = ask(&room, "die_once", gpu);
    cr_assert_eq(a.status, 0, "%s", a.why);
    cr_assert_str_eq(a.worker, "two");
    cr_assert_eq(logged(&room, 1, NULL), 1);
    unlink(room.mark);
    room_close(&room);
    room_open(&room, specs, 3, (struct pool_config){0});
    a = ask(&room, "die_once", compile);
    cr_assert_eq(a.status, 0, "%s", a.why);
    cr_assert_str_eq(a.worker, "here");
    cr_assert_eq(logged(&room, 0, NULL), 2);
    cr_assert_eq(logged(&room, 1, NULL), 0);
    a = ask(&room, "die", gpu);
    cr_assert_eq(a.status, -EPIPE);
    cr_assert_not_null(strstr(a.why, "two workers in a row"), "%s", a.why);
    room_close(&room);
}

/* One that queues keeps nobody from the next; what it says is shown. */
Test(pool_route, does_not_wait_for_one_in_a_queue) {
    struct room room;
    const struct spec specs[] = {{.name = "busy", .mode = "queue"},
                                 {.name = "free", .hello = GPU, .devices = H100}};
    room_open(&room, specs, 2, (struct pool_config){.slow_ms = 200, .hello_ms = 600000});
    struct answer a = ask(&room, "echo", gpu);
    cr_assert_eq(a.status, 0, "%s", a.why);
    cr_assert_str_eq(a.worker, "free");
    autojson *status = pool_status(room.pool);
    const json_t *busy = json_array_get(status, 0), *other = json_array_get(status, 1);
    cr_assert_str_eq(json_get_string(busy, "state", ""), "starting");
    cr_assert_str_eq(json_get_string(busy, "says", ""),
                     "job 7 queued and waiting for resources");
    cr_assert_str_eq(json_get_string(other, "state", ""), "ready");
    cr_assert_str_eq(json_get_string(other, "name", ""), "free");
    cr_assert_str_eq(json_get_string(other, "host", ""), "gpu-host");
    cr_assert_eq(json_array_size(json_object_get(other, "gpus")), 1);
    cr_assert_not(json_get_bool(other, "local", 1));
    room_close(&room);
    room_open(&room, specs, 1, (struct pool_config){.slow_ms = 50, .hello_ms = 1500});
    a = ask(&room, "echo", gpu);
    cr_assert_eq(a.status, -EPIPE);
    cr_assert_not_null(strstr(a.why, "the worker \"busy\""), "%s", a.why);
    cr_assert_not_null(strstr(a.why, "sent no greeting within 1500 ms: job 7 queued"),
                       "%s", a.why);
    room_close(&room);
}

/* One that greets and vanishes is not started for ever. */
Test(pool_route, gives_up_one_that_only_greets) {
    struct room room;
    const struct spec specs[] = {{.name = "ghost", .mode = "fleeting", .hello = GPU}};
    room_open(&room, specs, 1, (struct pool_config){0});
    struct answer a = ask(&room, "echo", gpu);
    cr_assert_eq(a.status, -EPIPE, "%d %s", a.status, a.why);
    cr_assert_eq(logged(&room, 0, NULL), 2);
    autojson *status = pool_status(room.pool);
    const char *last = json_get_string(json_array_get(status, 0), "last_error", "");
    cr_assert_not_null(strstr(last, "ghost"), "%s", last);
    room_close(&room);
}

static void run_until_logged(struct room *room, const char *word) {
    for (uint64_t end = clock_ms() + PATIENCE_MS; clock_ms() < end; usleep(2000)) {
        if (logged(room, 0, word)) {
            return;
        }
        uv_run(&room->loop, UV_RUN_NOWAIT);
    }
    cr_assert_fail("nothing told it: %s", word);
}

/* A carrier's end: its input, then SIGTERM; never SIGKILL at once. */
Test(pool_route, lets_a_carrier_clean_up) {
    struct room room;
    const struct spec specs[] = {{.name = "away", .mode = "linger"}};
    room_open(&room, specs, 1, (struct pool_config){.idle_ms = 20});
    struct answer a = ask(&room, "echo", (struct pool_needs){0});
    cr_assert_eq(a.status, 0, "%s", a.why);
    run_until_logged(&room, "eof");
    run_until_logged(&room, "term");
    room_close(&room);
    room_open(&room, specs, 1, (struct pool_config){0});
    a = ask(&room, "echo", (struct pool_needs){0});
    pool_kill(room.pool);
    run_until_logged(&room, "term");
    room_close(&room);
    room_open(&room, specs, 1, (struct pool_config){0});
    a = ask(&room, "echo", (struct pool_needs){0});
    pool_close(room.pool, on_closed, &room.closed);
    run_until_logged(&room, "term");
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_assert_eq(room.closed, 1);
    room.pool = pool_new(&room.loop, &(struct pool_config){0});
    room.closed = 0;
    room_close(&room);
}

/* The local worker stands beside those of the configuration when that is wanted. */
Test(pool_route, adds_the_local_worker) {
    struct room room;
    const struct spec specs[] = {{.name = NULL}, {.name = NULL}};
    for (int add = 0; add <= 1; add++) {
        room_open(&room, specs, 2, (struct pool_config){.add_local = add});
        autojson *status = pool_status(room.pool);
        cr_assert_eq(json_array_size(status), (size_t)(2 + add));
        cr_assert_str_eq(json_get_string(json_array_get(status, 0), "name", ""),
                         add ? "local" : "fake_worker");
        cr_assert_str_eq(
            json_get_string(json_array_get(status, (size_t)(1 + add)), "name", ""),
            "fake_worker-2");
        room_close(&room);
    }
}
