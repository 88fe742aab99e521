/* library: it is loaded, told what to check, and says its last when the program ends. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "gpu/runtime/crash.h"
#include "gpu/runtime/heap_findings.h"
#include "gpu/runtime/launch_record.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/registration.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/run_report.h"
#include "gpu/runtime/runtime.h"
#include "gpu/runtime/stop.h"
#include "gpu/runtime/threads.h"
#include "gpu/runtime/unseen.h"

#include <unistd.h>

#define DEFAULT_MEMORY (UINT64_C(80) << 30)
#define MAX_CONFIG (1u << 20)

static unsigned checks_of(const json_t *names) {
    static const struct {
        const char *name;
        unsigned bit;
    } checks[] = {{"memory", MACHINE_CHECK_MEMORY},
                  {"initialized", MACHINE_CHECK_INITIALIZED},
                  {"race", MACHINE_CHECK_RACE},
                  {"barrier", MACHINE_CHECK_BARRIER},
                  {"all", MACHINE_CHECK_MEMORY | MACHINE_CHECK_INITIALIZED |
                              MACHINE_CHECK_RACE | MACHINE_CHECK_BARRIER}};
    unsigned bits = names ? MACHINE_COUNTERS : MACHINE_CHECK_DEFAULT;
    json_each(names, k, name) {
        for (size_t c = 0; c < ARRAY_LEN(checks); c++) {
            const char *text = json_string_value(name);
            bits |= text && strcmp(text, checks[c].name) == 0 ? checks[c].bit : 0;
        }
    }
    return bits;
}

static json_t *config_read(void) {
    const char *path = getenv(RUN_CONFIG_VARIABLE);
    autobuf text = BUF_INIT(MAX_CONFIG);
    struct err err;
    json_t *config = NULL;
    if (path && *path &&
        (file_read(path, &text, &err) ||
         !(config = json_parse(text.data, text.len, &err)))) {
        (void)fprintf(stderr, "libcudart: %s: %s\n", path, err.msg);
        _exit(127); /* what is checked would not be what was asked for */
    }
    return config;
}

static uint64_t positive(const json_t *config, const char *key, uint64_t fallback) {
    json_int_t n = json_get_integer(config, key, 0);
    return n > 0 ? (uint64_t)n : fallback;
}

__attribute__((constructor)) static void library_load(void) {
    autojson *config = config_read();
    struct err err;
    runtime.born_us = clock_us();
    runtime.runs_all = json_get_bool(config, "run_all_launches", 0);
    runtime.launch_limit = positive(config, "launches", UINT64_MAX);
    runtime.work_limit = positive(config, "work", UINT64_MAX / 4);
    const struct device_settings settings = {
        .checks = checks_of(json_object_get(config, "checks")),
        .threads = (unsigned)positive(config, "threads", 0),
        .memory = positive(config, "memory", DEFAULT_MEMORY),
        .instructions = runtime.work_limit,
        .is_managed = registered_is_managed};
    if (device_init(&runtime.device, &settings, &err)) {
        (void)fprintf(stderr, "libcudart: %s\n", err.msg);
        _exit(127);
    }
    runtime.device.queue.inside = CUDART_NOT_PERMITTED;
    runtime.repeats = repeats_new(!runtime.runs_all);
    report_open();
    launch_record_open(json_object_get(config, "record"));
    threads_begin();
    crash_watch();
    stop_watch();
    heap_findings_watch();
}

__attribute__((destructor)) static void library_unload(void) {
    (void)queue_wait_all(&runtime.device.queue);
    if (queue_is_inside(&runtime.device.queue)) {
        outcome_limit("host_function", "A host function of a stream did not return: what "
                                       "stood behind it was not executed");
    }
    unseen_drop();
    outcome_end("exit", 0);
}
