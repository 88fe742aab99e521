/* The worker's CUDA backend, whole: the real worker, its child with the stand-in of
 * libcuda, kernels that NVRTC compiled (data/cuda). */
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "tests/unit/gpu/worker_process.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AMPLE_MS = 120000 };

/* --- a worker with a stand-in of its own --- */

static struct worker_process worker;
static char folder[] = "/tmp/cuda-worker-XXXXXX";
static char *library, *conf_path;

static void conf_write(const char *conf) {
    FILE *f = fopen(conf_path, "w");
    cr_assert(f != NULL);
    fputs(conf, f);
    fclose(f);
}

static void room_open(const char *conf, const char *more) {
    const char *standin = getenv("CUDA_STANDIN");
    cr_assert(standin, "CUDA_STANDIN says where the library is");
    cr_assert(mkdtemp(folder) != NULL);
    library = xasprintf("%s/libcuda.so.1", folder);
    conf_path = xasprintf("%s.conf", library);
    cr_assert_eq(symlink(standin, library), 0);
    conf_write(conf);
    autofree char *variable = xasprintf("UPSKILLD_LIBCUDA=%s", library);
    worker_spawn(&worker, (const char *const[]){variable, more, NULL});
}

static void room_close(void) {
    cr_expect_eq(worker_end(&worker), 0);
    unlink(conf_path);
    unlink(library);
    rmdir(folder);
    free(conf_path);
    free(library);
}

/* --- requests --- */

static json_t *spec_of(const char *kernel) {
    return json_pack(
        "{s:s, s:[{s:i}], s:{s:[s], s:[i]},"
        " s:[{s:s,s:s,s:[s],s:b}, {s:s,s:s,s:[s],s:{s:[i,i]}}, {s:s,s:s,s:s}],"
        " s:{s:{s:s}}, s:i, s:b}",
        "kernel", kernel, "sizes", "n", 1021, "launch", "grid", "(n + 255) / 256",
        "block", 256, "args", "name", "y", "type", "float32", "shape", "n", "output", 1,
        "name", "x", "type", "float32", "shape", "n", "init", "uniform", 1, 2, "name",
        "n", "type", "int32", "value", "n", "expect", "expression", "y", "2 * x[i]",
        "trials", 1, "odd_sizes", 0);
}

/* spec stolen. */
static json_t *request_of(json_t *spec, json_int_t wall_ms) {
    autobuf ptx = BUF_INIT(1 << 20);
    const char *kernel = json_get_string(spec, "kernel", "");
    cr_assert_eq(file_read(TEST_DATA "/cuda/kernels.ptx", &ptx, NULL), 0);
    return json_pack("{s:o, s:s, s:{s:{s:s, s:s}}, s:s, s:{s:I, s:i}}", "spec", spec,
                     "ptx", ptx.data, "entries", kernel, "symbol", kernel, "name", kernel,
                     "seed", "0x5eed", "limits", "wall_ms", wall_ms, "threads", 1);
}

static json_t *result_of(json_t *request) {
    json_t *response = worker_call(&worker, "validate", request);
    json_t *result = json_incref(json_object_get(response, "result"));
    cr_assert(result != NULL);
    json_decref(response);
    return result;
}

static json_t *run(const char *kernel) {
    return result_of(request_of(spec_of(kernel), AMPLE_MS));
}

static const char *told(const json_t *result, const char *object, const char *member) {
    return json_get_string(json_object_get(result, object), member, "");
}

static void expect_verdict(const json_t *result, const char *verdict, const char *code) {
    char *text = json_dumps(result, JSON_COMPACT);
    cr_assert_str_eq(json_get_string(result, "verdict", ""), verdict, "%.1500s", text);
    cr_assert_str_eq(told(result, "error", "code"), code, "%.1500s", text);
    free(text);
}

static const json_t *finding(const json_t *result, const char *code) {
    size_t i;
    const json_t *f;
    json_array_foreach(json_object_get(result, "findings"), i, f) {
        if (!strcmp(json_get_string(f, "code", ""), code)) {
            return f;
        }
    }
    char *text = json_dumps(result, JSON_COMPACT);
    cr_assert_fail("no finding %s: %.1500s", code, text);
    return NULL;
}

/* --- what there is --- */

Test(cuda_worker, tells_devices_from_a_process_that_ends, .timeout = 240) {
    room_open("devices 2\ndriver 12040\n", NULL);
    cr_expect(json_get_bool(worker.hello, "cuda", 0));
    json_t *response = worker_call(&worker, "worker/devices", json_object());
    const json_t *result = json_object_get(response, "result");
    const json_t *devices = json_object_get(result, "devices");
    cr_assert_eq(json_array_size(devices), 2);
    const json_t *d = json_array_get(devices, 1);
    cr_expect_eq(json_get_integer(d, "ordinal", -1), 1);
    cr_expect_str_eq(json_get_string(d, "compute_capability", ""), "9.0");
    cr_expect_eq(json_get_integer(d, "sms", 0), 132);
    cr_expect_str_eq(json_get_string(result, "driver", ""), "12.4");
    json_decref(response);
    conf_write("fail cuInit 1 803\n");
    response = worker_call(&worker, "worker/devices", json_object());
    result = json_object_get(response, "result");
    cr_expect_eq(json_array_size(json_object_get(result, "devices")), 0);
    cr_expect_str_eq(told(result, "error", "code"), "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    json_decref(response);
    room_close();
}

/* --- verdicts --- */

Test(cuda_worker, a_right_kernel_passes_and_says_where, .timeout = 240) {
    room_open("", NULL);
    autojson *result = run("twice");
    expect_verdict(result, "pass", "");
    cr_expect_str_eq(told(result, "backend", "kind"), "cuda");
    cr_expect_str_eq(told(result, "backend", "device"), "NVIDIA H100 80GB HBM3");
    cr_expect_str_eq(told(result, "backend", "capability"), "9.0");
    cr_expect_str_eq(told(result, "backend", "driver"), "13.0");
    cr_expect_eq(strncmp(told(result, "backend", "uuid"), "GPU-", 4), 0);
    cr_expect_null(json_object_get(json_object_get(result, "backend"), "fallback"));
    autojson *checks = json_pack("[s]", "memory");
    cr_expect(json_equal(json_object_get(result, "checks"), checks));
    cr_expect(json_array_size(json_object_get(result, "unchecked")) > 0);
    room_close();
}

Test(cuda_worker, wrong_kernels_fail_for_the_right_reason, .timeout = 240) {
    static const struct {
        const char *kernel, *finding, *error, *buffer;
        json_int_t offset;
    } cases[] = {
        {"beyond", "out_of_bounds", "", "y", 4084},
        {"before", "out_of_bounds", "", "y", -8},
        {"half_done", "unwritten_output", "", "y", 4044},
        {"spoils", "input_modified", "", "x", -1},
        {"far", "out_of_bounds", "CUDA_ERROR_ILLEGAL_ADDRESS", "", -1},
        {"checks", "assert", "CUDA_ERROR_ASSERT", "", -1},
        {"traps", "trap", "CUDA_ERROR_LAUNCH_FAILED", "", -1},
    };
    room_open("", NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *result = run(cases[i].kernel);
        expect_verdict(result, "fail", cases[i].error);
        const json_t *f = finding(result, cases[i].finding);
        cr_expect_str_eq(json_get_string(f, "buffer", ""), cases[i].buffer);
        cr_expect(cases[i].offset == -1 ||
                      json_get_integer(f, "offset", 0) == cases[i].offset,
                  "%s", cases[i].kernel);
    }
    room_close();
}

Test(cuda_worker, tells_what_kernels_print_and_assert, .timeout = 240) {
    room_open("", NULL);
    autojson *talks = run("talks");
    expect_verdict(talks, "pass", "");
    cr_expect_str_eq(json_get_string(talks, "printf", ""), "thread 3 of 1021\n");
    autojson *checks = run("checks");
    const json_t *f = finding(checks, "assert");
    cr_expect_str_eq(json_get_string(f, "file", ""), "kernels.cu");
    cr_expect_eq(json_get_integer(f, "line", 0), 33);
    cr_expect_str_eq(json_get_string(f, "message", ""), "assertion `i < 5` failed");
    conf_write("print 1 300000000\n");
    autojson *flood = run("twice");
    expect_verdict(flood, "pass", "");
    const char *text = json_get_string(flood, "printf", "");
    cr_expect(strlen(text) <= 64u << 10);
    cr_expect(strstr(text, "299934"), "%s", text + strlen(text) - 60); /* 3e8 - 65472 */
    room_close();
}

Test(cuda_worker, uses_more_shared_memory_than_the_default, .timeout = 240) {
    room_open("", NULL);
    json_t *spec = spec_of("through_shared");
    json_object_set_new(json_object_get(spec, "launch"), "shared_bytes",
                        json_integer(61024));
    autojson *result = result_of(request_of(spec, AMPLE_MS));
    expect_verdict(result, "pass", "");
    room_close();
}

/* --- a driver that says no --- */

/* What breaks in the machine is not the kernel's, and nothing is found of it. */
Test(cuda_worker, a_fault_of_the_machine_is_an_error, .timeout = 240) {
    room_open("fault 1 214\n", NULL);
    autojson *ecc = run("twice");
    expect_verdict(ecc, "error", "CUDA_ERROR_ECC_UNCORRECTABLE");
    cr_expect_eq(json_array_size(json_object_get(ecc, "findings")), 0);
    conf_write("fault 1 810\n");
    autojson *mps = run("twice");
    expect_verdict(mps, "error", "CUDA_ERROR_MPS_CLIENT_TERMINATED");
    room_close();
}

/* Each of twice's runs has one launch: the second is the repeated one. */
Test(cuda_worker, a_repeated_launch_that_is_refused_is_an_error, .timeout = 240) {
    room_open("fail cuLaunchKernelEx 2 701\n", NULL);
    autojson *result = run("twice");
    expect_verdict(result, "error", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
    cr_expect_str_eq(told(result, "error", "stage"), "launch");
    room_close();
}

Test(cuda_worker, errors_have_cudas_name_and_a_hint, .timeout = 240) {
    static const struct {
        const char *conf, *stage, *code;
    } cases[] = {
        {"fail cuMemAlloc_v2 2 2\n", "spec", "CUDA_ERROR_OUT_OF_MEMORY"},
        {"fail cuModuleLoadDataEx * 222\n", "compile",
         "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {"fail cuLaunchKernelEx 1 701\n", "launch", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    };
    room_open("", NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        conf_write(cases[i].conf);
        autojson *result = run("twice");
        expect_verdict(result, "error", cases[i].code);
        cr_expect_str_eq(told(result, "error", "stage"), cases[i].stage);
        cr_expect(strlen(told(result, "error", "hint")) > 10);
    }
    room_close();
}

Test(cuda_worker, a_runner_that_dies_is_an_answer, .timeout = 240) {
    room_open("crash cuLaunchKernelEx 1 kill\n", NULL);
    autojson *killed = run("twice");
    expect_verdict(killed, "error", "runner_died");
    conf_write("crash cuStreamCreate 1 exit\n");
    autojson *left = run("twice");
    expect_verdict(left, "error", "runner_failed");
    room_close();
}

/* --- time --- */

Test(cuda_worker, a_kernel_without_end_is_told_in_time, .timeout = 240) {
    enum { WALL_MS = 8000 };
    room_open("stuck 1\nexit_hangs\n", NULL);
    uint64_t begun = clock_ms();
    autojson *result = result_of(request_of(spec_of("twice"), WALL_MS));
    uint64_t took = clock_ms() - begun;
    expect_verdict(result, "timeout", "wall_time");
    cr_expect_str_eq(json_get_string(finding(result, "unfinished"), "kernel", ""),
                     "twice");
    cr_expect_eq(json_array_size(json_object_get(result, "cases")), 1);
    cr_expect(took >= WALL_MS / 2, "%u ms", (unsigned)took);
    room_close();
}

/* A driver's call that never returns: only the supervisor can end that. */
Test(cuda_worker, a_driver_without_end_is_killed, .timeout = 240) {
    room_open("hang cuLaunchKernelEx 1\n", NULL);
    autojson *result = result_of(request_of(spec_of("twice"), 1500));
    expect_verdict(result, "timeout", "wall_time");
    pid_t pids[4];
    while (worker_children(&worker, pids, 4)) {
        usleep(20000);
    }
    room_close();
}

Test(cuda_worker, a_cancelled_run_is_over, .timeout = 240) {
    room_open("stuck 1\n", NULL);
    pid_t pids[4];
    int id = worker_send(&worker, "validate", request_of(spec_of("twice"), AMPLE_MS));
    while (!worker_children(&worker, pids, 4)) {
        usleep(20000);
    }
    worker_notify(&worker, "$/cancelRequest", json_pack("{s:i}", "id", id));
    json_t *response = worker_receive(&worker);
    while (response && !json_object_get(response, "id")) { /* it tells how far it is */
        json_decref(response);
        response = worker_receive(&worker);
    }
    cr_assert_eq(json_integer_value(json_object_get(response, "id")), id);
    cr_expect_eq(json_get_integer(json_object_get(response, "error"), "code", 0), -32800);
    json_decref(response);
    room_close();
}

/* --- which backend --- */

Test(cuda_worker, the_emulator_never_stands_in_silently, .timeout = 240) {
    static const struct {
        const char *conf, *why;
    } cases[] = {
        {"devices 0\n", "CUDA_ERROR_NO_DEVICE"},
        {"fail cuInit 1 803\n", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
        {"compute_mode 2\n", "prohibited"},
        {"capability 8.0\n", "sm_90a"},
        {"driver 12090\n", "CUDA 12.9 and cannot read what NVRTC 13.0"},
        {"fail cuDevicePrimaryCtxRetain 1 304\n", "CUDA_ERROR_OPERATING_SYSTEM"},
    };
    room_open("", NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        conf_write(cases[i].conf);
        autojson *result = run("twice");
        expect_verdict(result, "pass", "");
        cr_expect_str_eq(told(result, "backend", "kind"), "emulator");
        cr_expect(strstr(told(result, "backend", "fallback"), cases[i].why), "%s",
                  told(result, "backend", "fallback"));
    }
    room_close();
}

Test(cuda_worker, says_when_it_was_told_to_confine_less, .timeout = 240) {
    room_open("", "UPSKILLD_CUDA_CONFINEMENT=limits");
    autojson *result = run("twice");
    expect_verdict(result, "pass", "");
    autojson *limits = json_pack("[s]", "rlimits");
    cr_expect(json_equal(json_object_get(result, "confinement"), limits));
    conf_write("devices 0\n"); /* the emulator is confined as ever */
    autojson *emulated = run("twice");
    cr_expect_str_eq(told(emulated, "backend", "kind"), "emulator");
    cr_expect(json_equal(json_object_get(emulated, "confinement"),
                         json_object_get(worker.hello, "confinement")));
    room_close();
}

/* A driver to come, which wants what the room forbids: found out without a kernel, told
 * in every result, and refused where somebody has said so. */
Test(cuda_worker, a_driver_that_needs_more_room_gets_it_and_that_is_told,
     .timeout = 240) {
    room_open("wants_socket\n", NULL);
    autojson *limits = json_pack("[s]", "rlimits");
    for (int i = 0; i < 2; i++) {
        autojson *result = run("twice");
        expect_verdict(result, "pass", "");
        cr_expect_str_eq(told(result, "backend", "kind"), "cuda");
        cr_expect(json_equal(json_object_get(result, "confinement"), limits));
        const json_t *told_so = finding(result, "unconfined");
        cr_expect(strstr(json_get_string(told_so, "message", ""),
                         "CUDA_ERROR_OPERATING_SYSTEM"));
    }
    room_close();
}

Test(cuda_worker, a_driver_gets_no_more_room_than_was_settled, .timeout = 240) {
    room_open("wants_socket\n", "UPSKILLD_CUDA_CONFINEMENT=full");
    autojson *refused = run("twice");
    cr_expect_str_eq(told(refused, "backend", "kind"), "emulator");
    cr_expect(
        strstr(told(refused, "backend", "fallback"), "CUDA_ERROR_OPERATING_SYSTEM"));
    room_close();
}

/* What does not start anywhere changes nothing for the next. */
Test(cuda_worker, a_driver_that_starts_nowhere_widens_no_room, .timeout = 240) {
    room_open("", NULL);
    for (int i = 0; i < 5; i++) {
        conf_write("fail cuInit 1 304\n");
        autojson *without = run("twice");
        cr_expect_str_eq(told(without, "backend", "kind"), "emulator");
    }
    conf_write("");
    autojson *result = run("twice");
    cr_expect_str_eq(told(result, "backend", "kind"), "cuda");
    cr_expect_eq(json_array_size(json_object_get(result, "findings")), 0u);
    cr_expect_gt(json_array_size(json_object_get(result, "confinement")), 1u);
    room_close();
}

Test(cuda_worker, a_device_that_was_asked_for_is_not_replaced, .timeout = 240) {
    room_open("devices 0\n", NULL);
    json_t *spec = spec_of("twice");
    json_object_set_new(spec, "backend", json_string("cuda"));
    autojson *none = result_of(request_of(json_incref(spec), AMPLE_MS));
    expect_verdict(none, "error", "no_gpu");
    conf_write("devices 2\n");
    json_object_set_new(spec, "device", json_string("7"));
    autojson *other = result_of(request_of(json_incref(spec), AMPLE_MS));
    expect_verdict(other, "error", "no_gpu");
    json_object_set_new(spec, "device", json_string("1"));
    autojson *second = result_of(request_of(json_incref(spec), AMPLE_MS));
    expect_verdict(second, "pass", "");
    conf_write("capability 10.0\n");
    json_object_del(spec, "device");
    autojson *unfit = result_of(request_of(json_incref(spec), AMPLE_MS));
    expect_verdict(unfit, "error", "CUDA_ERROR_NO_BINARY_FOR_GPU");
    json_object_set_new(spec, "backend", json_string("emulator"));
    autojson *asked = result_of(request_of(spec, AMPLE_MS));
    expect_verdict(asked, "pass", "");
    cr_expect_str_eq(told(asked, "backend", "kind"), "emulator");
    cr_expect_null(json_object_get(json_object_get(asked, "backend"), "fallback"));
    room_close();
}
