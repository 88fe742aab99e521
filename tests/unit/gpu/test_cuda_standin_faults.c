/* The stand-in of libcuda where something goes wrong: kernels, images, what conf breaks,
 * processes that die. */
#include "tests/unit/gpu/standin_room.h"

#include "base/mem.h"
#include "standin_kernels.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Test(cuda_standin, no_device_and_bad_conf) {
    struct standin_room *r = room_load("devices 0\n");
    cr_expect_eq(r->api.init(0), CUDA_NO_DEVICE);
    room_end(r);
    r = room_load("# a comment\ndevises 3\n");
    cr_expect_eq(r->api.init(0), CUDA_UNKNOWN);
    room_end(r);
}

Test(cuda_standin, captures_that_break) {
    struct standin_room *r = room_start("", NOTHING);
    cuda_graph_ref graph = NULL;
    cr_expect_eq(r->api.stream_begin_capture(NULL, 1), 900);
    cr_expect_eq(r->api.stream_end_capture(r->stream, &graph), 401);
    cr_expect_eq(r->api.stream_begin_capture(r->stream, 1), 0);
    cr_expect_eq(r->api.stream_begin_capture(r->stream, 1), 401);
    cr_expect_eq(r->api.stream_query(r->stream), 900);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 901);
    cr_expect_eq(r->api.stream_end_capture(r->stream, &graph), 901);
    cr_expect_null(graph);
    cr_expect_eq(r->api.stream_begin_capture(r->stream, 1), 0);
    cr_expect_eq(r->api.context_synchronize(), 900);
    cr_expect_eq(r->api.stream_end_capture(r->stream, &graph), 901);
    cr_expect_eq(r->api.stream_begin_capture(r->stream, 1), 0);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    cuda_stream_ref own = r->stream;
    r->stream = NULL;
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 906);
    cr_expect_eq(r->api.stream_end_capture(own, &graph), 901);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    cr_expect_eq(r->api.context_synchronize(), 0);
    cr_expect_eq(r->api.stream_destroy(own), 0);
    cr_expect_eq(r->api.stream_destroy(own), 400);
    room_end(r);
}

/* ---- what goes wrong ---- */

static void sticky_check(const char *ptx, const char *kernel, uint64_t at, int code) {
    struct standin_room *r = room_start("", ptx);
    const struct cuda_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = r->stream};
    cuda_function_ref f = room_function(r, kernel);
    void *params[] = {&at};
    int n;
    cr_expect_eq(r->api.launch(&launch, f, params, NULL), 0, "later, not now");
    cr_expect_eq(room_wait(r), code);
    cr_expect_eq(r->api.context_synchronize(), code);
    cr_expect_eq(r->api.memory_alloc(&(cuda_address){0}, 4), code);
    cr_expect_eq(r->api.launch(&launch, f, params, NULL), code);
    cr_expect_eq(r->api.device_count(&n), 0);
    room_end(r);
}

Test(cuda_standin, errors_stay) {
    sticky_check(POKE, "poke", 16, CUDA_ILLEGAL_ADDRESS);
    sticky_check(POKE, "poke", 0x200000000004, CUDA_ILLEGAL_ADDRESS);
    sticky_check(".visible .entry trap_(.param .u64 at) { trap; ret; }\n", "trap_", 0,
                 CUDA_LAUNCH_FAILED);
}

Test(cuda_standin, misaligned) {
    struct standin_room *r = room_start("", POKE);
    cuda_address a = device_words(r, 4) + 2;
    cr_expect_eq(room_launch(r, "poke", 1, 1, (void *[]){&a}), 0);
    cr_expect_eq(room_wait(r), CUDA_MISALIGNED_ADDRESS);
    room_end(r);
}

Test(cuda_standin, launches_that_cannot_be) {
    struct standin_room *r = room_start(
        "sms 2\n", NOTHING ".visible .entry small() .maxntid 64, 1, 1 { ret; }\n"
                           ".visible .entry exact() .reqntid 96, 1, 1 { ret; }\n");
    struct cuda_launch_attribute attribute = {.id = CUDA_LAUNCH_CLUSTER};
    cuda_function_ref nothing = room_function(r, "nothing");
    struct cuda_launch l = {.grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .stream = r->stream,
                            .attributes = &attribute};
    cr_expect_eq(room_launch(r, "nothing", 0, 1, NULL), 1);
    cr_expect_eq(room_launch(r, "nothing", 1, 0, NULL), 1);
    cr_expect_eq(room_launch(r, "nothing", 1, 1025, NULL), 1);
    cr_expect_eq(room_launch(r, "nothing", 0x80000000, 1, NULL), 1);
    cr_expect_eq(room_launch(r, "small", 1, 65, NULL), 701);
    cr_expect_eq(room_launch(r, "exact", 1, 64, NULL), 1);
    cr_expect_eq(room_launch(r, "exact", 1, 96, NULL), 0);
    l.shared_bytes = 49153;
    cr_expect_eq(r->api.launch(&l, nothing, NULL, NULL), 1, "needs the opt-in");
    cr_expect_eq(r->api.function_set_attribute(nothing, 8, 232449), 1);
    cr_expect_eq(r->api.function_set_attribute(nothing, 8, 232448), 0);
    l.shared_bytes = 232448;
    cr_expect_eq(r->api.launch(&l, nothing, NULL, NULL), 0);
    l.shared_bytes = 0;
    l.attribute_count = 1;
    attribute.value.cluster.x = 2;
    attribute.value.cluster.y = attribute.value.cluster.z = 1;
    cr_expect_eq(r->api.launch(&l, nothing, NULL, NULL), 1, "no multiple of the cluster");
    l.grid[0] = 32;
    attribute.value.cluster.x = 16;
    cr_expect_eq(r->api.launch(&l, nothing, NULL, NULL), 912);
    attribute = (struct cuda_launch_attribute){.id = CUDA_LAUNCH_COOPERATIVE};
    attribute.value.cooperative = 1;
    l.grid[0] = 64;
    l.block[0] = 64;
    cr_expect_eq(r->api.launch(&l, nothing, NULL, NULL), 0);
    l.grid[0] = 65;
    cr_expect_eq(r->api.launch(&l, nothing, NULL, NULL), 720);
    cr_expect_eq(r->api.launch(&l, (cuda_function_ref)(void *)r, NULL, NULL), 400);
    cr_expect_eq(room_wait(r), 0, "none of these is remembered");
    room_end(r);
}

/* ---- images ---- */

static int load(struct standin_room *r, const char *ptx, char *log, size_t room) {
    int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)room};
    cuda_module_ref m;
    log[0] = 0;
    return r->api.module_load(&m, ptx, 2, options, values);
}

Test(cuda_standin, images_that_cannot_be_loaded) {
    struct standin_room *r = room_start("driver 12040\n", NULL);
    char log[512];
    const char head[] = ".target sm_90\n.address_size 64\n" NOTHING;
    autofree char *too_new = xasprintf(".version 8.5\n%s", head);
    autofree char *fine = xasprintf(".version 8.4\n%s", head);
    autofree char *wrong = xasprintf(".version 8.4\n%sbogus\n", head);
    cr_expect_eq(load(r, "\177ELF", log, sizeof log), CUDA_NO_BINARY_FOR_GPU);
    cr_expect_eq(load(r, too_new, log, sizeof log), CUDA_UNSUPPORTED_PTX_VERSION);
    cr_expect_eq(load(r, fine, log, sizeof log), 0);
    cr_expect_eq(load(r, wrong, log, sizeof log), CUDA_INVALID_PTX);
    cr_expect(strstr(log, "line 5") && strstr(log, "ptxas"), "%s", log);
    cr_expect_eq(load(r, wrong, log, 10), CUDA_INVALID_PTX);
    cr_expect_eq(strlen(log), 9);
    cr_expect_eq(load(r, ".version 8.4\n.target sm_100a\n.address_size 64\n" NOTHING, log,
                      sizeof log),
                 CUDA_NO_BINARY_FOR_GPU);
    cr_expect_eq(load(r, "", log, sizeof log), CUDA_INVALID_PTX);
    room_end(r);
    r = room_start("cubin 200\n", NULL);
    cr_expect_eq(load(r, "\177ELF", log, sizeof log), 200);
    room_end(r);
}

/* ---- what conf breaks ---- */

Test(cuda_standin, calls_that_fail) {
    struct standin_room *r =
        room_start("fail cuMemAlloc_v2 2 2\nfail cuMemcpyDtoHAsync_v2 3 "
                   "700\nfail cuMemGetInfo_v2 * 5\nfault 2 719\n",
                   NOTHING);
    cuda_address a = device_words(r, 1), b;
    unsigned word;
    size_t some, all;
    cr_expect_eq(r->api.memory_alloc(&b, 4), 2);
    cr_expect_eq(r->api.memory_alloc(&b, 4), 0);
    cr_expect_eq(r->api.memory_info(&some, &all), 5);
    cr_expect_eq(r->api.memory_info(&some, &all), 5);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    cr_expect_eq(r->api.copy_to_host(&word, a, 4, r->stream), 0);
    cr_expect_eq(r->api.copy_to_host(&word, a, 4, r->stream), 0);
    cr_expect_eq(r->api.copy_to_host(&word, a, 4, r->stream), 700);
    cr_expect_eq(r->api.memory_free(a), 700, "such an error stays");
    room_end(r);
    r = room_start("fault 2 719\n", NOTHING);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    cr_expect_eq(room_wait(r), 0);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    cr_expect_eq(room_wait(r), 719);
    room_end(r);
}

/* The status of a process that loads the library with `conf` and asks for devices. */
static int child_status(const char *conf) {
    pid_t pid = fork();
    if (pid == 0) {
        int n;
        struct standin_room *r = room_load(conf);
        r->api.init(0);
        r->api.device_count(&n);
        _exit(5);
    }
    int status = -1;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return status;
}

Test(cuda_standin, processes_that_die) {
    int s = child_status("");
    cr_expect(WIFEXITED(s) && WEXITSTATUS(s) == 5);
    s = child_status("crash cuDeviceGetCount 1 segv\n");
    cr_expect(WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV);
    s = child_status("crash cuDeviceGetCount * abort\n");
    cr_expect(WIFSIGNALED(s) && WTERMSIG(s) == SIGABRT);
    s = child_status("crash cuInit 1 exit\n");
    cr_expect(WIFEXITED(s) && WEXITSTATUS(s) == 0);
}

Test(cuda_standin, process_that_hangs) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct standin_room *r = room_load("hang cuDeviceGetCount 1\n");
        int n = r->api.init(0);
        (void)!write(ends[1], "x", 1);
        r->api.device_count(&n);
        _exit(5);
    }
    char c;
    int status;
    cr_assert_eq(read(ends[0], &c, 1), 1);
    /* It ignores signals once it hangs; until then they may still end it. */
    usleep(50000);
    cr_assert_eq(waitpid(pid, &status, WNOHANG), 0, "it should hang");
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* A driver that was used cannot be used in a child of fork; the child ends all the same.
 */
Test(cuda_standin, fork_after_use) {
    struct standin_room *r = room_start("", NOTHING);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    pid_t pid = fork();
    if (pid == 0) {
        cuda_address a;
        int code = r->api.memory_alloc(&a, 4);
        dlclose(r->library);
        _exit(code == CUDA_NOT_INITIALIZED ? 7 : 8);
    }
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    cr_expect_eq(room_wait(r), 0);
    room_end(r);
}

Test(cuda_standin, released_context) {
    struct standin_room *r = room_start("", AXPY);
    device_words(r, 10);
    cr_expect_eq(r->api.context_release(0), 0);
    cr_expect_eq(r->api.context_release(0), 201);
    cr_expect_eq(r->api.stream_query(r->stream), 201);
    cuda_context_ref context;
    cr_assert_eq(r->api.context_retain(&context, 0), 0);
    cr_assert_eq(r->api.context_set_current(context), 0);
    cr_expect_eq(r->api.stream_query(r->stream), 400, "it went with its context");
    cr_expect_eq(r->api.context_set_current((cuda_context_ref)(void *)r), 201);
    room_end(r);
}
