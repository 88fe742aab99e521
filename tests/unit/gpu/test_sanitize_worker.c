/* A validation whose kernel runs once more under compute-sanitizer: the real worker, its
 * children, the stand-in of libcuda, and in the tool's place one that starts its target
 * by the same means and writes the log that a test gives it. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "tests/unit/gpu/worker_process.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AMPLE_MS = 120000 };

/* --- a worker with a driver and a tool --- */

static struct worker_process worker;
static char folder[] = "/tmp/sanitize-worker-XXXXXX";

static void put(const char *name, const char *text) {
    autofree char *path = path_join(folder, name);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL);
    fputs(text, f);
    fclose(f);
}

static void copy_tool(void) {
    const char *from = getenv("SANITIZER_STANDIN");
    autobuf bytes = BUF_INIT(64 << 20);
    autofree char *to = path_join(folder, "compute-sanitizer");
    cr_assert(from, "SANITIZER_STANDIN says where the program is");
    cr_assert_eq(file_read(from, &bytes, NULL), 0);
    autofd int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    cr_assert_eq(file_write_all(fd, bytes.data, bytes.len), 0);
}

/* tool: its path for the worker; NULL: the stand-in. */
static void room_open(const char *driver, const char *conf, const char *tool) {
    cr_assert(mkdtemp(folder) != NULL);
    autofree char *library = path_join(folder, "libcuda.so.1");
    autofree char *own = path_join(folder, "compute-sanitizer");
    const char *driver_library = getenv("CUDA_STANDIN");
    cr_assert(driver_library, "CUDA_STANDIN says where the library is");
    cr_assert_eq(symlink(driver_library, library), 0);
    copy_tool();
    put("libcuda.so.1.conf", driver);
    put("compute-sanitizer.conf", conf);
    autofree char *driver_variable = xasprintf("UPSKILLD_LIBCUDA=%s", library);
    autofree char *tool_variable = xasprintf("UPSKILLD_SANITIZER=%s", tool ? tool : own);
    worker_spawn(&worker, (const char *const[]){driver_variable, tool_variable, NULL});
}

static void room_close(void) {
    cr_expect_eq(worker_end(&worker), 0);
    cr_expect_eq(dir_remove(folder, NULL), 0);
}

/* --- requests --- */

static json_t *request_of(const char *kernel, const char *checks, json_int_t wall_ms) {
    autobuf ptx = BUF_INIT(1 << 20);
    cr_assert_eq(file_read(TEST_DATA "/cuda/kernels.ptx", &ptx, NULL), 0);
    json_t *spec =
        json_pack("{s:s, s:[{s:i}, {s:i}], s:{s:[s], s:[i]},"
                  " s:[{s:s,s:s,s:[s],s:b}, {s:s,s:s,s:[s],s:{s:[i,i]}}, {s:s,s:s,s:s}],"
                  " s:{s:{s:s}}, s:i}",
                  "kernel", kernel, "sizes", "n", 1021, "n", 37, "launch", "grid",
                  "(n + 255) / 256", "block", 256, "args", "name", "y", "type", "float32",
                  "shape", "n", "output", 1, "name", "x", "type", "float32", "shape", "n",
                  "init", "uniform", 1, 2, "name", "n", "type", "int32", "value", "n",
                  "expect", "expression", "y", "2 * x[i]", "trials", 1);
    if (checks) {
        json_object_set_new(spec, "checks", json_loads(checks, 0, NULL));
    }
    return json_pack("{s:o, s:s, s:{s:{s:s, s:s}}, s:s, s:{s:I, s:i}}", "spec", spec,
                     "ptx", ptx.data, "entries", kernel, "symbol", kernel, "name", kernel,
                     "seed", "0x5eed", "limits", "wall_ms", wall_ms, "threads", 1);
}

static json_t *run(const char *kernel, const char *checks, json_int_t wall_ms) {
    json_t *response =
        worker_call(&worker, "validate", request_of(kernel, checks, wall_ms));
    while (response && !json_object_get(response, "id")) { /* it tells how far it is */
        json_decref(response);
        response = worker_receive(&worker);
    }
    json_t *result = json_incref(json_object_get(response, "result"));
    cr_assert(result != NULL);
    json_decref(response);
    return result;
}

static const char *verdict(const json_t *result) {
    return json_get_string(result, "verdict", "");
}

static const json_t *tool_of(const json_t *result, const char *name) {
    size_t i;
    const json_t *tool;
    json_array_foreach(json_object_get(json_object_get(result, "sanitizer"), "tools"), i,
                       tool) {
        if (!strcmp(json_get_string(tool, "tool", ""), name)) {
            return tool;
        }
    }
    char *text = json_dumps(result, JSON_COMPACT);
    cr_assert_fail("no %s: %.3000s", name, text);
    return NULL;
}

static const char *outcome(const json_t *result, const char *tool) {
    return json_get_string(tool_of(result, tool), "outcome", "");
}

static const json_t *finding(const json_t *result, const char *code, size_t *ret_count) {
    const json_t *f, *found = NULL;
    size_t i;
    *ret_count = 0;
    json_array_foreach(json_object_get(result, "findings"), i, f) {
        if (!strcmp(json_get_string(f, "code", ""), code)) {
            found = found ? found : f;
            ++*ret_count;
        }
    }
    return found;
}

static bool lists(const json_t *result, const char *member, const char *name) {
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(result, member), i, item) {
        if (!strcmp(json_string_value(item), name)) {
            return true;
        }
    }
    return false;
}

/* --- what is found --- */

Test(sanitize_worker, a_clean_kernel_has_its_checks_made, .timeout = 240) {
    room_open("", "", NULL);
    if (json_array_size(json_object_get(worker.hello, "confinement")) == 3) {
        put("compute-sanitizer.conf", "confined\n");
    }
    autojson *result = run("twice", NULL, AMPLE_MS);
    const json_t *report = json_object_get(result, "sanitizer");
    static const char *const tools[] = {"memcheck", "initcheck", "racecheck",
                                        "synccheck"};
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        const json_t *tool = tool_of(result, tools[i]);
        cr_expect_str_eq(outcome(result, tools[i]), "clean", "%s",
                         json_get_string(tool, "reason", ""));
        cr_expect_eq(json_get_integer(tool, "cases", 0), 2);
        cr_expect_eq(json_array_size(json_object_get(tool, "seeds")), 2);
    }
    cr_expect_str_eq(verdict(result), "pass");
    cr_expect_eq(json_array_size(json_object_get(report, "tools")), ARRAY_LEN(tools));
    cr_expect_str_eq(json_get_string(report, "version", ""), "2026.4.0.0");
    cr_expect(json_equal(json_object_get(report, "confinement"),
                         json_object_get(result, "confinement")));
    cr_expect(json_array_size(json_object_get(report, "may")) == 3);
    cr_expect(lists(result, "checks", "initialized") &&
              lists(result, "checks", "barrier"));
    cr_expect_null(json_object_get(result, "unchecked"));
    room_close();
}

Test(sanitize_worker, findings_join_ours_without_doubles, .timeout = 240) {
    static const char log[] =
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at beyond(float *, const float *, int)+0x70 in "
        "/dev/shm/job/r0/kernels.cu:9\n"
        "=========     by thread (255,0,0) in block (3,0,0)\n"
        "=========     Access to 0x7f is out of bounds\n"
        "=========\n"
        "========= ERROR SUMMARY: 1 error\n";
    size_t count;
    room_open("", "", NULL);
    put("compute-sanitizer.memcheck", log);
    /* Ours knows the buffer, the tool the line. */
    autojson *near = run("beyond", "[\"memory\"]", AMPLE_MS);
    const json_t *f = finding(near, "out_of_bounds", &count);
    cr_expect_str_eq(verdict(near), "fail");
    cr_assert_eq(count, 1);
    cr_expect_str_eq(json_get_string(f, "buffer", ""), "y");
    cr_expect_str_eq(json_get_string(f, "file", ""), "kernels.cu");
    cr_expect_eq(json_get_integer(f, "line", 0), 9);
    cr_expect_eq(json_array_size(json_object_get(f, "thread")), 3);
    cr_expect_str_eq(outcome(near, "memcheck"), "findings");
    cr_expect_null(json_object_get(tool_of(near, "memcheck"), "findings"));
    /* The driver's bare word for the same gives way. */
    put("libcuda.so.1.conf", "fault 1 700\n");
    autojson *far = run("beyond", "[\"memory\"]", AMPLE_MS);
    f = finding(far, "out_of_bounds", &count);
    cr_expect_eq(count, 1);
    cr_expect_eq(json_get_integer(f, "line", 0), 9);
    /* An error that only the tool sees makes a pass a fail. */
    put("libcuda.so.1.conf", "");
    put("compute-sanitizer.racecheck",
        "========= Error: Race reported between Write access at twice(float *)+0x90 in "
        "r0/kernels.cu:12\n=========     and Read access at twice(float *)+0xa0 in "
        "r0/kernels.cu:13 [7 hazards]\n=========\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n");
    autojson *other = run("twice", "[\"barrier\"]", AMPLE_MS);
    cr_expect_str_eq(verdict(other), "pass");
    put("compute-sanitizer.synccheck",
        "========= Barrier error detected. Divergent thread(s) in block\n"
        "=========     at twice(float *)+0x90 in r0/kernels.cu:12\n"
        "=========     by thread (7,0,0) in block (0,0,0)\n=========\n"
        "========= ERROR SUMMARY: 1 error\n");
    autojson *sync = run("twice", "[\"memory\", \"barrier\"]", AMPLE_MS);
    cr_expect_str_eq(verdict(sync), "fail");
    cr_expect_eq(json_get_integer(finding(sync, "barrier_divergence", &count), "line", 0),
                 12);
    room_close();
}

/* An agent validates the same kernel again and again. */
Test(sanitize_worker, a_kernel_that_comes_again_has_its_report, .timeout = 240) {
    static const char log[] =
        "========= Barrier error detected. Divergent thread(s) in block\n"
        "=========     at twice(float *)+0x90 in r0/kernels.cu:12\n"
        "=========     by thread (7,0,0) in block (0,0,0)\n=========\n"
        "========= ERROR SUMMARY: 1 error\n";
    size_t count;
    room_open("", "silent\n", NULL);
    autojson *unfinished = run("twice", "[\"barrier\"]", AMPLE_MS);
    cr_expect_str_eq(outcome(unfinished, "synccheck"), "failed");
    put("compute-sanitizer.conf", "");
    put("compute-sanitizer.synccheck", log);
    autojson *first = run("twice", "[\"barrier\"]", AMPLE_MS);
    cr_expect_null(json_object_get(json_object_get(first, "sanitizer"), "remembered"));
    put("compute-sanitizer.conf", "die\n"); /* it is not started any more */
    autojson *again = run("twice", "[\"barrier\"]", AMPLE_MS / 2);
    cr_expect(
        json_is_true(json_object_get(json_object_get(again, "sanitizer"), "remembered")));
    cr_expect_str_eq(verdict(again), "fail");
    cr_expect_eq(
        json_get_integer(finding(again, "barrier_divergence", &count), "line", 0), 12);
    cr_expect_eq(count, 1);
    autojson *other = run("twice", "[\"memory\", \"barrier\"]", AMPLE_MS);
    cr_expect_str_eq(outcome(other, "synccheck"), "failed");
    room_close();
}

/* --- a tool that is not there, or not well --- */

static void expect_unsanitized(const json_t *result, const char *how, const char *why) {
    size_t count;
    const json_t *f = finding(result, "not_sanitized", &count);
    char *text = json_dumps(result, JSON_COMPACT);
    cr_expect_str_eq(verdict(result), "pass", "%.2000s", text);
    cr_expect_str_eq(outcome(result, "synccheck"), how, "%.2000s", text);
    cr_expect_eq(count, 1, "%.2000s", text);
    cr_expect(strstr(json_get_string(f, "message", ""), why), "%.2000s", text);
    cr_expect_str_eq(json_get_string(f, "severity", ""), "warning");
    cr_expect(lists(result, "unchecked", "barrier"));
    free(text);
}

Test(sanitize_worker, what_goes_wrong_is_never_clean, .timeout = 240) {
    static const struct {
        const char *conf, *log, *how, *why;
    } cases[] = {
        {"silent\n", "", "failed", "no summary"},
        {"die\n", "", "failed", "status 139"},
        {"idle\n", "", "failed", "the kernel was not run"},
        {"flood\n", "", "failed",
         ""}, /* a gigabyte: the log is cut, or its writer ends */
        {"", "\x01\xff\xfe\x80 \n\n=========\xff\xff\n", "failed", "no summary"},
        {"", "========= Error: process didn't terminate successfully\n", "failed",
         "didn't terminate"},
        {"",
         "========= Internal Sanitizer Error: the launch was not tracked\n"
         "========= ERROR SUMMARY: 0 errors\n",
         "failed", "not tracked"},
    };
    room_open("", "", NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put("compute-sanitizer.conf", cases[i].conf);
        put("compute-sanitizer.synccheck", cases[i].log);
        autojson *result = run("twice", "[\"barrier\"]", AMPLE_MS);
        expect_unsanitized(result, cases[i].how, cases[i].why);
    }
    put("compute-sanitizer.conf", "broken\n");
    autojson *result = run("twice", "[\"barrier\"]", AMPLE_MS);
    const json_t *report = json_object_get(result, "sanitizer");
    cr_expect_str_eq(verdict(result), "pass");
    cr_expect(strstr(json_get_string(report, "absent", ""), "libsanitizer.so"));
    cr_expect(lists(result, "unchecked", "barrier"));
    room_close();
}

Test(sanitize_worker, one_that_is_not_there_is_told_with_its_package, .timeout = 240) {
    room_open("", "", "/nowhere/compute-sanitizer");
    autojson *result = run("twice", NULL, AMPLE_MS);
    const json_t *report = json_object_get(result, "sanitizer");
    cr_expect_str_eq(verdict(result), "pass");
    cr_expect(strstr(json_get_string(report, "absent", ""), "UPSKILLD_SANITIZER"));
    cr_expect(lists(result, "unchecked", "initialized"));
    cr_expect_eq(json_array_size(json_object_get(result, "findings")), 0);
    room_close();
}

/* --- time --- */

/* Every process whose command line names the folder. */
static size_t processes_left(void) {
    DIR *dir = opendir("/proc");
    size_t count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        autofree char *path = xasprintf("/proc/%s/cmdline", entry->d_name);
        autobuf text = BUF_INIT(1 << 16);
        if (atoi(entry->d_name) > 0 && file_read(path, &text, NULL) == 0) {
            count += text.len && memmem(text.data, text.len, folder, strlen(folder));
        }
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

static void expect_nothing_left(void) {
    while (processes_left()) {
        usleep(20000);
    }
}

Test(sanitize_worker, one_without_end_is_ended_with_what_it_started, .timeout = 240) {
    room_open("", "hang\n", NULL);
    autojson *result = run("twice", "[\"barrier\"]", 12000);
    expect_unsanitized(result, "timeout", "time ran out");
    expect_nothing_left();
    room_close();
}

/* A validation whose tool and the process that the tool started never end; its id. */
static int hanging_open(void) {
    room_open("", "hang\n", NULL);
    int id = worker_send(&worker, "validate", request_of("twice", NULL, AMPLE_MS));
    while (processes_left() < 2) {
        usleep(20000);
    }
    return id;
}

static void cancel(int id) {
    worker_notify(&worker, "$/cancelRequest", json_pack("{s:i}", "id", id));
    json_t *response = worker_receive(&worker);
    while (response && !json_object_get(response, "error")) {
        json_decref(response);
        response = worker_receive(&worker);
    }
    cr_expect_eq(json_get_integer(json_object_get(response, "error"), "code", 0), -32800);
    json_decref(response);
}

Test(sanitize_worker, a_cancelled_one_is_over, .timeout = 240) {
    cancel(hanging_open());
    expect_nothing_left();
    room_close();
}

/* On a busy machine the process that watches the tool may not run for a while. */
Test(sanitize_worker, one_that_is_slow_to_end_still_ends_what_it_started,
     .timeout = 240) {
    int id = hanging_open();
    pid_t keepers[8];
    size_t count = worker_children(&worker, keepers, ARRAY_LEN(keepers));
    cr_assert_gt(count, 0);
    for (size_t i = 0; i < count; i++) {
        kill(keepers[i], SIGSTOP);
    }
    cancel(id);
    for (size_t i = 0; i < count; i++) {
        kill(keepers[i], SIGCONT);
    }
    expect_nothing_left();
    room_close();
}

Test(sanitize_worker, a_worker_that_ends_leaves_nothing_behind, .timeout = 240) {
    (void)hanging_open();
    cr_expect_eq(worker_end(&worker), 0);
    expect_nothing_left();
    cr_expect_eq(dir_remove(folder, NULL), 0);
}
