/* How a worker's processes end, and what its parents with precompiled headers do. */
#include "base/clock.h"
#include "base/mem.h"
#include "worker_answers.h"
#include "worker_process.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- cancelling, ending --- */

Test(worker, a_cancelled_compile_is_dead_when_that_is_said) {
    struct worker_process w;
    pid_t before[64], after[64];
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    expect_axpy_compiles(&w, "the start");
    usleep(200000); /* the spare child is there now */
    size_t count = worker_children(&w, before, ARRAY_LEN(before));
    int id = worker_send(&w, "compile", compile_params(endless));
    usleep(200000);
    worker_notify(&w, "$/cancelRequest", json_pack("{s:i}", "id", id));
    uint64_t start = clock_ms();
    autojson *answer = worker_receive(&w);
    cr_expect_lt(clock_ms() - start, 500);
    cr_expect_eq(number_of(json_object_get(answer, "error"), "code"), -32800);
    cr_expect_eq((int)worker_children(&w, after, ARRAY_LEN(after)), (int)count);
    expect_axpy_compiles(&w, "a cancelled compile");
    cr_assert_eq(worker_end(&w), 0);
}

static size_t folders_left(pid_t pid) {
    autofree char *pattern = xasprintf("ls -d /dev/shm/upskilld-worker-%d-* "
                                       "${TMPDIR:-/tmp}/upskilld-worker-%d-* 2>/dev/null",
                                       (int)pid, (int)pid);
    FILE *list = popen(pattern, "r");
    size_t n = 0;
    for (int c; (c = fgetc(list)) != EOF;) {
        n += c == '\n';
    }
    pclose(list);
    return n;
}

Test(worker, leaves_nothing_behind_when_its_input_ends_in_the_middle) {
    struct worker_process w;
    pid_t pids[64];
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    expect_axpy_compiles(&w, "the start");
    for (int i = 0; i < 12; i++) {
        json_t *params = compile_params(endless);
        compile_add_file(params, "r0/h.cuh", "int x;\n");
        worker_send(&w, "compile", params);
    }
    usleep(300000);
    size_t count = worker_children(&w, pids, ARRAY_LEN(pids));
    cr_expect_geq(count, 3, "a parent and compiles should run");
    pid_t pid = w.pid;
    uint64_t start = clock_ms();
    cr_assert_eq(worker_end(&w), 0);
    cr_expect_lt(clock_ms() - start, 10000);
    for (size_t i = 0; i < count; i++) {
        for (int tries = 0; tries < 1000 && !process_is_gone(pids[i]); tries++) {
            usleep(10000); /* killed; the kernel takes it down in its own time */
        }
        cr_expect(process_is_gone(pids[i]));
    }
    cr_expect_eq(folders_left(pid), 0);
}

/* Whoever kills the worker without asking: nobody of its house survives it. */
Test(worker, its_children_die_with_it) {
    struct worker_process w;
    pid_t pids[64];
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    expect_axpy_compiles(&w, "the start");
    worker_send(&w, "compile", compile_params(endless));
    usleep(200000);
    size_t count = worker_children(&w, pids, ARRAY_LEN(pids));
    cr_expect_geq(count, 2);
    kill(w.pid, SIGKILL);
    cr_assert_eq(worker_end(&w), -SIGKILL);
    bool gone = false;
    for (int tries = 0; !gone && tries < 100; tries++) {
        usleep(20000);
        gone = true;
        for (size_t i = 0; i < count; i++) {
            gone &= process_is_gone(pids[i]);
        }
    }
    cr_expect(gone);
    autofree char *command = xasprintf("rm -rf /dev/shm/upskilld-worker-%d-* "
                                       "${TMPDIR:-/tmp}/upskilld-worker-%d-*",
                                       (int)w.pid, (int)w.pid);
    cr_expect_eq(system(command), 0);
}

/* Forking a process that has threads would leave their locks taken for ever. */
Test(worker, a_parent_has_one_thread) {
    struct worker_process w;
    pid_t pids[16];
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    expect_axpy_compiles(&w, "the start");
    usleep(100000);
    size_t count = worker_children(&w, pids, ARRAY_LEN(pids));
    cr_expect_geq(count, 1);
    for (size_t i = 0; i < count; i++) {
        autofree char *tasks = xasprintf("/proc/%d/task", (int)pids[i]);
        struct stat st;
        cr_expect(!stat(tasks, &st) && st.st_nlink == 3, "%d entries", (int)st.st_nlink);
    }
    cr_assert_eq(worker_end(&w), 0);
}

/* A parent that dies is replaced, and nobody who waits hears of it. */
Test(worker, a_killed_parent_costs_nobody_an_answer) {
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    expect_axpy_compiles(&w, "the start");
    autojson *status = worker_call(&w, "worker/status", json_object());
    const json_t *parents = json_object_get(json_object_get(status, "result"), "parents");
    pid_t parent = number_of(json_array_get(parents, 0), "pid");
    cr_assert_gt(parent, 0);
    kill(parent, SIGKILL);
    for (int i = 0; i < 3; i++) {
        expect_axpy_compiles(&w, "a killed parent");
    }
    cr_assert_eq(worker_end(&w), 0);
}

/* --- precompiled headers --- */

static json_t *prefixed(const char *prefix, const char *rest) {
    autofree char *text = xasprintf("%s%s", prefix, rest);
    json_t *params = compile_params(text);
    json_object_set_new(params, "prefix", json_string(prefix));
    return params;
}

/* Until no parent is being made any more. */
static void await_parents(struct worker_process *w) {
    for (int tries = 0; tries < 400; tries++) {
        autojson *status = worker_call(w, "worker/status", json_object());
        autofree char *text = json_dumps(status, JSON_COMPACT);
        if (!strstr(text, "\"starting\"")) {
            return;
        }
        usleep(25000);
    }
}

static json_t *without_times(json_t *result) {
    json_t *copy = json_deep_copy(result);
    json_object_del(copy, "compile_ms");
    json_object_del(copy, "precompiled");
    return copy;
}

static void expect_same_answer(struct worker_process *w, const char *prefix,
                               const char *rest) {
    json_t *plain_params = prefixed(prefix, rest);
    json_object_set_new(plain_params, "prefix", json_null());
    autojson *plain = compile_result(w, plain_params);
    autojson *fast = compile_result(w, prefixed(prefix, rest));
    autojson *a = without_times(plain), *b = without_times(fast);
    char *texts[] = {json_dumps(a, 0), json_dumps(b, 0)};
    cr_expect_str_eq(text_of(plain, "precompiled"), "none");
    cr_expect_str_eq(text_of(fast, "precompiled"), "used", "%.500s", texts[1]);
    cr_expect(json_equal(a, b), "%s\n%s", texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

Test(worker, precompiled_headers_change_nothing_but_the_time, .timeout = 60) {
    static const char prefix[] = "#include <cstdint>\n#include <cuda_fp16.h>\n"
                                 "#include <cuda/std/cstdint>\n";
    static const char *const rests[] = {
        "__global__ void k(__half *x) { x[threadIdx.x] = __hadd(x[0], x[1]); }\n",
        "__global__ void k(cuda::std::uint32_t *x) {\n"
        "    __shared__ __half s[64];\n"
        "    s[threadIdx.x] = __float2half(1.0f);\n"
        "    __syncthreads();\n"
        "    x[0] = __half2uint_rn(s[x[1]]);\n"
        "}\n",
        "__global__ void k(__half *x) { *x = undefined_name; }\n",
        "__global__ void k(__half *x) {\n    unsigned u = -1;\n    *x = "
        "__float2half(u);\n}\n",
        "__global__ void k(int *x) {\n    asm(\"no.such %0;\" :: \"r\"(x[0]));\n}\n",
    };
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    autojson *made = compile_result(&w, prefixed(prefix, rests[0]));
    cr_expect_str_eq(text_of(made, "precompiled"), "made");
    await_parents(&w);
    for (size_t i = 0; i < ARRAY_LEN(rests); i++) {
        expect_same_answer(&w, prefix, rests[i]);
    }
    cr_assert_eq(worker_end(&w), 0);
}

Test(worker, a_prefix_that_fails_is_not_tried_again) {
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    static const char *const words[] = {"made", "none", "none"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        autojson *result = compile_result(&w, prefixed("#include <no_such.h>\n", axpy));
        expect_outcome(result, "rejected", "a missing header");
        cr_expect_str_eq(text_of(result, "precompiled"), words[i]);
        cr_expect_eq(number_of(first_finding(result), "line"), 1);
        await_parents(&w);
    }
    cr_assert_eq(worker_end(&w), 0);
}

/* At most two such parents, whatever is asked for. */
Test(worker, keeps_at_most_two_precompiled_headers, .timeout = 60) {
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    for (int i = 0; i < 4; i++) {
        autofree char *prefix = xasprintf("#define N %d\n#include <cuda_fp16.h>\n", i);
        for (int again = 0; again < 2; again++) {
            autojson *result = compile_result(
                &w, prefixed(prefix, "__global__ void k(int *x) { *x = N; }\n"));
            expect_outcome(result, "compiled", prefix);
            cr_expect_str_eq(text_of(result, "precompiled"), again ? "used" : "made");
            await_parents(&w);
        }
    }
    autojson *status = worker_call(&w, "worker/status", json_object());
    const json_t *parents = json_object_get(json_object_get(status, "result"), "parents");
    cr_expect_eq((int)json_array_size(parents), 3);
    cr_assert_eq(worker_end(&w), 0);
}
