/* What is measured, and in which order, on the stand-in of libcuda: its time is virtual,
 * so the figures are exact whatever the machine is doing. */
#include "gpu/driver/benchmark.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/driver/device_lock.h"
#include "gpu/driver/nvml.h"
#include "tests/unit/gpu/standin_room.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOTHING ".visible .entry nothing() { ret; }\n"
#define SMALL "l2 1048576\n"

/* --- the room: a kernel, and what the driver was asked in which order --- */

static struct standin_room *room;
static struct cuda_api api; /* the stand-in's, with some calls noted */
static cuda_function_ref kernel;
static char calls[1 << 16]; /* one letter each, of the calls below */
static size_t call_count;

static void noted(char letter) {
    if (call_count + 1 < sizeof calls) {
        calls[call_count++] = letter;
    }
}
static int note_reset(void) {
    noted('p');
    return room->api.context_reset_persisting();
}
static int note_set(cuda_address to, unsigned value, size_t count, cuda_stream_ref s) {
    noted('f');
    return room->api.set_words(to, value, count, s);
}
static int note_record(cuda_event_ref event, cuda_stream_ref s) {
    noted('e');
    return room->api.event_record(event, s);
}
static int note_graph(cuda_graph_exec_ref graph, cuda_stream_ref s) {
    noted('G');
    return room->api.graph_launch(graph, s);
}
static int note_synchronize(void) {
    noted('!');
    return room->api.context_synchronize();
}

static int launch(void *data, cuda_stream_ref stream) {
    const struct cuda_launch config = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .stream = stream};
    (void)data;
    noted('k');
    return api.launch(&config, kernel, NULL, NULL);
}

static struct spec_benchmark how = {.samples = 4, .cache = "cold"};

static struct cuda_benchmark enter(const char *conf) {
    room = room_start(conf, NOTHING);
    kernel = room_function(room, "nothing");
    api = room->api;
    api.context_reset_persisting = note_reset;
    api.set_words = note_set;
    api.event_record = note_record;
    api.graph_launch = note_graph;
    api.context_synchronize = note_synchronize;
    return (struct cuda_benchmark){
        .api = &api,
        .launch = launch,
        .launches = 1,
        .how = &how,
        .l2_bytes = 1 << 20,
        .until_ms = clock_ms() + 600000,
        .warmup_ms = 1,
    };
}

static json_t *run(const struct cuda_benchmark *what) {
    json_t *json = NULL;
    int code = 0;
    struct err err = {0};
    int r = cuda_benchmark(what, &json, &code, &err);
    cr_assert_eq(r, 0, "%d: %s", r, err.msg);
    cr_assert_eq(code, 0);
    return json;
}

static double number(const json_t *json, const char *name) {
    const json_t *value = json_object_get(json, name);
    cr_assert(json_is_number(value), "%s", name);
    return json_number_value(value);
}
static bool has_note(const json_t *json, const char *part) {
    size_t i;
    const json_t *note;
    json_array_foreach(json_object_get(json, "notes"), i, note) {
        if (strstr(json_string_value(note), part)) {
            return true;
        }
    }
    return false;
}
#define EXPECT_NEAR(a, b) cr_expect(fabs((a) - (b)) < 1e-3, "%.9g is not %.9g", a, b)

/* --- what is measured --- */

Test(benchmark, cold_samples_follow_a_flush) {
    struct cuda_benchmark what = enter(SMALL "launch_us 30\ncold_us 12\n");
    autojson *json = run(&what);
    EXPECT_NEAR(number(json, "median_us"), 42.0);
    EXPECT_NEAR(number(json, "min_us"), 42.0);
    EXPECT_NEAR(number(json, "std_us"), 0.0);
    cr_expect_eq(number(json, "samples"), 4);
    cr_expect_eq(number(json, "flush_bytes"), 128 << 20);
    cr_expect_geq(number(json, "warmup_launches"), 3);
    cr_expect_str_eq(json_get_string(json, "cache", ""), "cold");
    cr_expect_str_eq(json_get_string(json, "method", ""), "events");
    cr_expect_str_eq(json_get_string(json, "ended_by", ""), "samples");
    cr_expect(json_is_null(json_object_get(json, "sm_clock_mhz")));
    cr_expect(json_is_null(json_object_get(json, "throttled")));
    cr_expect(has_note(json, "clocks and throttling are unknown"));
    cr_expect(has_note(json, "not locked"));
    /* Warm-ups, then the samples: persisting lines, flush, event, kernel, event. */
    size_t warm = (size_t)number(json, "warmup_launches");
    cr_assert_eq(call_count, 3 * warm + 4 * 5);
    cr_expect_str_eq(calls + 3 * warm, "pfekepfekepfekepfeke");
    cr_expect_eq(strncmp(calls, "ekeekeeke", 9), 0);
    cr_expect(!strchr(calls, '!'), "nothing may block");
    room_end(room);
}

Test(benchmark, the_flush_is_twice_a_large_cache) {
    struct cuda_benchmark what = enter("launch_us 30\n");
    what.l2_bytes = 100u << 20;
    how.samples = 1;
    autojson *json = run(&what);
    cr_expect_eq(number(json, "flush_bytes"), 200 << 20);
    room_end(room);
}

Test(benchmark, a_short_cold_kernel_is_told_beside_what_events_take) {
    struct cuda_benchmark what = enter(SMALL "launch_us 6\n");
    autojson *json = run(&what);
    EXPECT_NEAR(number(json, "median_us"), 6.0);
    cr_expect_str_eq(json_get_string(json, "method", ""), "events");
    cr_expect(strstr(calls, "pfeepfee"), "%s", calls);
    room_end(room);
}

/* Each launch that is not in a graph costs a gap here, as it does on a GPU. */
Test(benchmark, short_warm_kernels_are_a_graph) {
    struct cuda_benchmark what = enter("launch_us 5\ngap_us 7\n");
    how.cache = "warm";
    autojson *json = run(&what);
    EXPECT_NEAR(number(json, "median_us"), 5.0);
    cr_expect_str_eq(json_get_string(json, "method", ""), "graph of 17 launches");
    cr_expect_str_eq(json_get_string(json, "cache", ""), "warm");
    cr_expect(!json_object_get(json, "flush_bytes"));
    cr_expect(!strchr(calls, 'f'));
    cr_expect(strstr(calls, "eGeeGeeGeeGe"));
    room_end(room);
}

static int no_instantiate(cuda_graph_exec_ref *ret, cuda_graph_ref graph,
                          unsigned long long flags) {
    (void)ret, (void)graph, (void)flags;
    return 801; /* CUDA_ERROR_NOT_SUPPORTED */
}

Test(benchmark, without_graphs_they_are_a_loop) {
    struct cuda_benchmark what = enter("launch_us 5\ngap_us 7\n");
    how.cache = "warm";
    api.graph_instantiate = no_instantiate;
    autojson *refused = run(&what);
    cr_expect_str_eq(json_get_string(refused, "method", ""), "loop of 17 launches");
    EXPECT_NEAR(number(refused, "median_us"), 12.0);
    api.stream_begin_capture = NULL;
    autojson *absent = run(&what);
    cr_expect_str_eq(json_get_string(absent, "method", ""), "loop of 17 launches");
    room_end(room);
}

Test(benchmark, long_warm_kernels_and_sequences) {
    struct cuda_benchmark what = enter("launch_us 25\n");
    how.cache = "warm";
    autojson *one = run(&what);
    cr_expect_str_eq(json_get_string(one, "method", ""), "events");
    EXPECT_NEAR(number(one, "median_us"), 25.0);
    what.launches = 3; /* as the caller says: enqueued in one piece */
    autojson *sequence = run(&what);
    cr_expect_str_eq(json_get_string(sequence, "method", ""), "graph of 3 launches");
    room_end(room);
}

/* 30 us and 0, 1 … 10 more, each once in eleven launches: the median is 35, the 90th
 * percentile (numpy's) 39, the deviation sqrt(11). */
Test(benchmark, the_spread_is_told) {
    struct cuda_benchmark what = enter(SMALL "launch_us 30\njitter_us 10\n");
    how.samples = 11;
    autojson *json = run(&what);
    EXPECT_NEAR(number(json, "median_us"), 35.0);
    EXPECT_NEAR(number(json, "min_us"), 30.0);
    EXPECT_NEAR(number(json, "p90_us"), 39.0);
    EXPECT_NEAR(number(json, "std_us"), sqrt(11.0));
    room_end(room);
}

/* --- what goes wrong --- */

static int fails(const struct cuda_benchmark *what, int *ret_code, struct err *err) {
    json_t *json = NULL;
    int r = cuda_benchmark(what, &json, ret_code, err);
    cr_assert_lt(r, 0);
    cr_assert(json == NULL);
    return r;
}

Test(benchmark, errors_have_cudas_names) {
    struct cuda_benchmark what = enter(SMALL "launch_us 30\nfault 5 719\n");
    struct err err = {0};
    int code = 0;
    how.samples = 10;
    cr_expect_eq(fails(&what, &code, &err), -EIO);
    cr_expect_eq(code, CUDA_LAUNCH_FAILED);
    cr_expect(strstr(err.msg, "CUDA_ERROR_LAUNCH_FAILED"), "%s", err.msg);
    room_end(room);
}

Test(benchmark, a_call_that_fails_is_named) {
    struct cuda_benchmark what = enter(SMALL "fail cuEventRecord 4 1\n");
    struct err err = {0};
    int code = 0;
    cr_expect_eq(fails(&what, &code, &err), -EIO);
    cr_expect_eq(code, CUDA_INVALID_VALUE);
    cr_expect(strstr(err.msg, "cuEventRecord"), "%s", err.msg);
    room_end(room);
}

Test(benchmark, no_room_to_flush_with) {
    struct cuda_benchmark what = enter(SMALL "room 1048576\n");
    struct err err = {0};
    int code = 0;
    cr_expect_eq(fails(&what, &code, &err), -ENOMEM);
    cr_expect_eq(code, CUDA_OUT_OF_MEMORY);
    room_end(room);
}

/* What never ends stays with the process: nothing is freed, nothing waits. */
Test(benchmark, the_deadline_holds_with_a_kernel_that_does_not_end) {
    struct cuda_benchmark what = enter(SMALL "stuck 1\n");
    struct err err = {0};
    int code = 0;
    what.until_ms = clock_ms() + 100;
    cr_expect_eq(fails(&what, &code, &err), -ETIMEDOUT);
    cr_expect(strstr(err.msg, "time ran out"), "%s", err.msg);
}

/* Ten launches take no time; the one after them no end. */
Test(benchmark, a_launch_that_does_not_end_as_others_did) {
    struct cuda_benchmark what = enter("launch_us 25\nstuck 10\n");
    struct err err = {0};
    int code = 0;
    bool stuck = false;
    how.cache = "warm";
    how.samples = 10000;
    what.until_ms = clock_ms() + 1500;
    what.stuck = &stuck;
    cr_expect_eq(fails(&what, &code, &err), -EDEADLK);
    cr_expect(strstr(err.msg, "did not end"), "%s", err.msg);
    cr_expect(stuck);
    cr_expect_eq(code, 0);
}

static unsigned launches;
static int launch_counted(void *data, cuda_stream_ref stream) {
    launches++;
    return launch(data, stream);
}
static bool after_1000(void) {
    return launches >= 1000;
}

Test(benchmark, stopped_in_between_fewer_samples_are_an_answer) {
    struct cuda_benchmark what = enter("launch_us 25\nstuck 1000\n");
    how.cache = "warm";
    how.samples = 10000;
    what.launch = launch_counted;
    what.stopped = after_1000;
    autojson *json = run(&what);
    cr_expect_str_eq(json_get_string(json, "ended_by", ""), "time");
    cr_expect_lt(number(json, "samples"), 1000);
    EXPECT_NEAR(number(json, "median_us"), 25.0);
}

static bool always(void) {
    return true;
}
Test(benchmark, it_can_be_stopped) {
    struct cuda_benchmark what = enter(SMALL "stuck 1\n");
    struct err err = {0};
    int code = 0;
    what.stopped = always;
    cr_expect_eq(fails(&what, &code, &err), -ETIMEDOUT);
}

/* --- clocks, and the lock --- */

static struct nvml *nvml_of(const char *conf) {
    unsigned char uuid[16];
    char folder[] = "/tmp/benchmark-XXXXXX";
    memset(uuid, 0x5d, sizeof uuid);
    uuid[15] = 0;
    cr_assert(mkdtemp(folder));
    autofree char *path = xasprintf("%s/library.so.1", folder);
    autofree char *words = xasprintf("%s.conf", path);
    cr_assert_eq(symlink(getenv("NVML_STANDIN"), path), 0);
    FILE *f = fopen(words, "w");
    fputs(conf, f);
    fclose(f);
    struct nvml *nvml = NULL;
    struct err err = {0};
    int r = nvml_open(&nvml, path, uuid, &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    unlink(words);
    unlink(path);
    rmdir(folder);
    return nvml;
}

Test(benchmark, clocks_that_move_are_told) {
    struct cuda_benchmark what = enter("launch_us 25\n");
    how.cache = "warm";
    how.samples = 20;
    what.nvml = nvml_of("later 2 1500 0x24\nothers 2\n");
    autojson *json = run(&what);
    cr_expect_eq(number(json, "sm_clock_mhz"), 1500);
    cr_expect_eq(number(json, "mem_clock_mhz"), 2619);
    cr_expect(json_is_true(json_object_get(json, "throttled")));
    json_t *reasons = json_object_get(json, "throttle_reasons");
    cr_expect_eq(json_array_size(reasons), 2);
    cr_expect_str_eq(json_string_value(json_array_get(reasons, 0)), "sw_power_cap");
    cr_expect_str_eq(json_string_value(json_array_get(reasons, 1)),
                     "sw_thermal_slowdown");
    cr_expect_eq(number(json, "temperature_c"), 41);
    EXPECT_NEAR(number(json, "power_limit_w"), 700.0);
    cr_expect_eq(number(json, "other_processes"), 2);
    cr_expect(has_note(json, "between 1500 and 1980 MHz"));
    cr_expect(has_note(json, "other processes"));
    nvml_close(what.nvml);
    room_end(room);
}

Test(benchmark, the_lock_is_held_and_given_back) {
    struct cuda_benchmark what = enter("launch_us 25\n");
    char folder[] = "/tmp/benchmark-XXXXXX";
    struct device_lock lock, other;
    uint64_t waited;
    cr_assert(mkdtemp(folder));
    cr_assert_eq(device_lock_open(&lock, folder, "GPU-1", NULL), 0);
    cr_assert_eq(device_lock_open(&other, folder, "GPU-1", NULL), 0);
    how.cache = "warm";
    what.lock = &lock;
    autojson *json = run(&what);
    cr_expect(json_is_integer(json_object_get(json, "lock_waited_ms")));
    cr_expect(!has_note(json, "not locked"));
    cr_expect_eq(device_lock_wait(&other, 0, &waited, NULL), 0);
    struct err err = {0};
    int code = 0;
    what.until_ms = clock_ms() + 50;
    call_count = 0;
    cr_expect_eq(fails(&what, &code, &err), -ETIMEDOUT);
    cr_expect_eq(call_count, 0);
    cr_expect(strstr(err.msg, "another process"), "%s", err.msg);
    unlink(lock.path);
    device_lock_close(&lock);
    device_lock_close(&other);
    rmdir(folder);
    room_end(room);
}
