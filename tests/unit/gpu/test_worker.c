/* The worker as a whole: the real binary over pipes. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/compile/cubin_text.h"
#include "gpu/worker/confine.h"
#include "worker_answers.h"
#include "worker_process.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Test(worker, greets_answers_status_and_refuses_what_it_does_not_know) {
    struct worker_process w;
    worker_spawn(&w, NULL);
    cr_assert_eq(number_of(w.hello, "protocol"), 4);
    cr_assert(json_is_array(json_object_get(w.hello, "toolkits")));
    cr_assert(json_array_size(json_object_get(w.hello, "confinement")) > 0);
    autojson *status = worker_call(&w, "worker/status", json_object());
    cr_assert_eq(number_of(json_object_get(status, "result"), "running"), 0);
    cr_assert_eq((int)json_array_size(
                     json_object_get(json_object_get(status, "result"), "parents")),
                 0);
    autojson *unknown = worker_call(&w, "kernel/check", json_object());
    cr_assert_eq(number_of(json_object_get(unknown, "error"), "code"), -32601);
    autojson *bad = worker_call(&w, "compile", json_object());
    cr_assert_eq(number_of(json_object_get(bad, "error"), "code"), -32602);
    uint64_t start = clock_ms();
    cr_assert_eq(worker_end(&w), 0);
    cr_assert_lt(clock_ms() - start, 100);
}

Test(worker, ends_cleanly_at_a_signal) {
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct worker_process w;
        worker_spawn(&w, NULL);
        kill(w.pid, signals[i]);
        autojson *end = worker_receive(&w);
        cr_assert_null(end);
        cr_assert_eq(worker_end(&w), 0);
    }
}

/* The sizes follow from the source by the language's rules. */
Test(worker, tells_each_kernels_resources) {
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    autojson *result = compile_result(
        &w,
        compile_params(
            "__global__ void __launch_bounds__(256) first(float *x, double *y, int n) {\n"
            "    __shared__ float tile[300];\n"
            "    tile[threadIdx.x] = x[threadIdx.x];\n"
            "    __syncthreads();\n"
            "    y[threadIdx.x] = tile[(threadIdx.x + n) % 300];\n"
            "}\n"
            "__global__ void second(int *x) { *x = 1; }\n"));
    expect_outcome(result, "compiled", "two kernels");
    const json_t *kernels = json_object_get(result, "kernels");
    cr_assert_eq((int)json_array_size(kernels), 2);
    const json_t *first = json_array_get(kernels, 0),
                 *second = json_array_get(kernels, 1);
    cr_expect_str_eq(text_of(first, "name"), "first");
    cr_expect_eq(number_of(first, "line"), 1);
    cr_expect_eq(number_of(first, "static_shared_bytes"), 1200);
    cr_expect_eq(number_of(first, "max_threads"), 256);
    cr_expect_eq(number_of(first, "param_bytes"), 20);
    cr_expect_eq(number_of(first, "barriers"), 1);
    cr_expect_str_eq(text_of(second, "name"), "second");
    cr_expect_eq(number_of(second, "static_shared_bytes"), 0);
    cr_expect_eq(number_of(second, "param_bytes"), 8);
    cr_expect_gt(number_of(second, "registers"), 0);
    cr_expect_eq((int)json_array_size(json_object_get(result, "diagnostics")), 0);
    const json_t *compiler = json_object_get(result, "compiler");
    cr_expect_str_eq(text_of(compiler, "name"), "nvrtc");
    cr_expect_gt((int)strspn(text_of(compiler, "version"), "0123456789."), 3);
    cr_assert_eq(worker_end(&w), 0);
}

Test(worker, hands_out_the_cubin_when_it_is_wanted) {
    static const unsigned char head[] = {0x7f, 'E', 'L', 'F', 2, 1};
    struct worker_process w;
    size_t len = 0;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    json_t *params = compile_params("__global__ void k(int *x) { *x = 1; }\n");
    autojson *without = compile_result(&w, json_deep_copy(params));
    cr_expect_null(json_object_get(without, "cubin"));
    json_object_set_new(json_object_get(params, "options"), "want_cubin", json_true());
    autojson *with = compile_result(&w, params);
    autofree unsigned char *cubin = cubin_from_text(json_object_get(with, "cubin"), &len);
    cr_assert(cubin && len > 64);
    cr_expect_eq(memcmp(cubin, head, sizeof head), 0);
    cr_expect_eq(cubin[18], 190, "EM_CUDA");
    cr_assert_eq(worker_end(&w), 0);
}

Test(worker, finds_the_jobs_files_and_no_others) {
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    json_t *params =
        compile_params("#include \"near/a.cuh\"\n#include \"far.cuh\"\n"
                       "__global__ void k(int *x) { *x = near() + far(); }\n");
    compile_add_file(params, "r0/near/a.cuh", "#include \"../b.cuh\"\n");
    compile_add_file(params, "r0/b.cuh", "__device__ int near() { return 1; }\n");
    compile_add_file(params, "r1/include/far.cuh",
                     "__device__ int far() { return 2; }\n");
    json_array_append_new(json_object_get(params, "include_dirs"),
                          json_string("r1/include"));
    autojson *result = compile_result(&w, params);
    expect_outcome(result, "compiled", "files");

    autojson *broken = compile_result(&w, compile_params("#include \"b.cuh\"\n"));
    expect_outcome(broken, "rejected", "the earlier job's file is gone");
    cr_expect_str_eq(text_of(first_finding(broken), "file"), "k.cu");
    cr_expect_eq(number_of(first_finding(broken), "line"), 1);

    json_t *escape = compile_params(axpy);
    json_array_append_new(json_object_get(escape, "include_dirs"), json_string("../.."));
    autojson *refused = worker_call(&w, "compile", escape);
    cr_expect_eq(number_of(json_object_get(refused, "error"), "code"), -32602);
    cr_assert_eq(worker_end(&w), 0);
}

Test(worker, places_what_ptxas_says_in_the_source) {
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    autojson *result =
        compile_result(&w, compile_params("__global__ void k(int *x) {\n"
                                          "    int y = x[0];\n"
                                          "    asm(\"no.such %0;\" :: \"r\"(y));\n"
                                          "}\n"));
    expect_outcome(result, "rejected", "inline assembly");
    cr_expect_str_eq(text_of(first_finding(result), "source"), "ptxas");
    cr_expect_str_eq(text_of(first_finding(result), "file"), "k.cu");
    cr_expect_eq(number_of(first_finding(result), "line"), 3);

    autojson *shared =
        compile_result(&w, compile_params("\n__global__ void big(int *x) {\n"
                                          "    __shared__ int s[75000];\n"
                                          "    s[threadIdx.x] = x[0];\n"
                                          "    __syncthreads();\n"
                                          "    x[1] = s[x[2]];\n"
                                          "}\n"));
    expect_outcome(shared, "rejected", "300,000 bytes of shared memory");
    cr_expect_str_eq(text_of(first_finding(shared), "source"), "ptxas");
    cr_expect_geq(number_of(first_finding(shared), "line"), 2);
    cr_expect_leq(number_of(first_finding(shared), "line"), 3);
    cr_assert_eq(worker_end(&w), 0);
}

Test(worker, quick_finds_the_same_mistakes) {
    static const char *const sources[] = {
        "__global__ void k(int *x) { *x = undefined_name; }\n",
        "__global__ void k(int *x) {\n    unsigned u = -1;\n    int unused;\n    *x = u "
        "}\n",
        "#include <no_such_header.h>\n",
        "template <class T> __device__ T f(T t) { return t.m; }\n"
        "__global__ void k(int *x) { *x = f(1); }\n",
    };
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        json_t *params = compile_params(sources[i]);
        json_object_set_new(json_object_get(params, "options"), "quick", json_true());
        autojson *quick = compile_result(&w, params);
        autojson *full = compile_result(&w, compile_params(sources[i]));
        expect_outcome(quick, "rejected", sources[i]);
        cr_expect(json_equal(json_object_get(quick, "diagnostics"),
                             json_object_get(full, "diagnostics")));
    }
    cr_assert_eq(worker_end(&w), 0);
}

/* --- sources that are out to hurt --- */

static char *repeat(const char *head, const char *part, size_t times, const char *tail) {
    size_t part_len = strlen(part);
    char *text = xmalloc(strlen(head) + part_len * times + strlen(tail) + 1);
    char *at = stpcpy(text, head);
    for (size_t i = 0; i < times; i++) {
        at = stpcpy(at, part);
    }
    strcpy(at, tail);
    return text;
}

static char *macro_bomb(void) {
    char *text = xstrdup("#define A0 x x\n");
    for (int i = 1; i < 27; i++) {
        char *longer = xasprintf("%s#define A%d A%d A%d\n", text, i, i - 1, i - 1);
        free(text);
        text = longer;
    }
    char *whole = xasprintf("%s__global__ void k(int *x) { A26; }\n", text);
    free(text);
    return whole;
}

struct danger {
    const char *what;
    char *text;
    unsigned wall_ms, cpu_s, memory_mib;
    const char *outcomes;  /* any of these words */
    const char *code;      /* of a finding, or NULL */
    bool by_address_space; /* a limit that cannot be set under AddressSanitizer */
};

static void danger_check(struct worker_process *w, struct danger *d) {
    json_t *params = compile_params(d->text);
    json_object_set_new(params, "limits",
                        json_pack("{s:i,s:i,s:I}", "wall_ms", (int)d->wall_ms, "cpu_s",
                                  (int)d->cpu_s, "memory_bytes",
                                  (json_int_t)d->memory_mib << 20));
    uint64_t start = clock_ms();
    autojson *result = compile_result(w, params);
    cr_expect_lt(clock_ms() - start, d->wall_ms + 1500, "%s", d->what);
    char *answer = json_dumps(result, 0);
    cr_expect(strstr(d->outcomes, outcome_of(result)) != NULL, "%s: %.600s", d->what,
              answer);
    cr_expect(strcmp(outcome_of(result), "timeout") != 0 ||
                  json_get_integer(result, "compile_ms", 0) > 0,
              "%s took no time", d->what);
    cr_expect(!d->code || strstr(answer, d->code), "%s: %.600s", d->what, answer);
    cr_expect_gt((int)json_array_size(json_object_get(result, "diagnostics")), 0, "%s",
                 d->what);
    cr_expect(!strstr(answer, "root:"), "%s: text of a foreign file", d->what);
    free(answer);
    free(d->text);
    expect_axpy_compiles(w, d->what);
}

Test(worker, outlives_dangerous_sources, .timeout = 60) {
    char folder[] = "/tmp/worker-test-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    autofree char *fifo = xasprintf("%s/fifo", folder);
    cr_assert(!mkfifo(fifo, 0600));
    struct danger dangers[] = {
        {"a FIFO", xasprintf("#include \"%s\"\n", fifo), 2000, 5, 2048,
         "rejected timeout", NULL},
        {"a foreign file", xstrdup("#include \"/etc/passwd\"\n"), 5000, 5, 2048,
         "rejected", NULL},
        {"a foreign file, relative", xstrdup("#include \"../../../../etc/passwd\"\n"),
         5000, 5, 2048, "rejected", NULL},
        {"templates without end", xstrdup(endless), 1000, 20, 4096, "timeout",
         "compile_timeout"},
        {"templates and a processor limit", xstrdup(endless), 8000, 1, 4096, "timeout",
         "compile_timeout"},
        {"templates and a memory limit", xstrdup(endless), 8000, 20, 400, "memory",
         "compile_memory", .by_address_space = true},
        {"a macro bomb", macro_bomb(), 1000, 20, 4096, "timeout memory", NULL},
        {"a huge array",
         xstrdup("__device__ char big[1ull << 31] = {1};\n"
                 "__global__ void k(char *x) { *x = big[1]; }\n"),
         1500, 20, 4096, "timeout memory", NULL},
        {"300,000 stars", repeat("__global__ void k(int ", "*", 300000, "x) {}\n"), 60000,
         60, 6144, "crashed", "compiler_crashed"},
        {"parentheses beyond memory",
         repeat("__global__ void k(int *x) { *x = ", "(", 2000000, "1; }\n"), 8000, 20,
         512, "memory crashed rejected", NULL, .by_address_space = true},
        {"a thousand errors",
         repeat("__global__ void k(int *x) {\n", "x = undefined;\n", 1500, "}\n"), 8000,
         20, 4096, "rejected", NULL},
    };
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    expect_axpy_compiles(&w, "the start");
    for (size_t i = 0; i < ARRAY_LEN(dangers); i++) {
        if (CONFINE_UNDER_ASAN && dangers[i].by_address_space) {
            free(dangers[i].text);
        } else {
            danger_check(&w, &dangers[i]);
        }
    }
    cr_assert_eq(worker_end(&w), 0);
    unlink(fifo);
    rmdir(folder);
}

/* --- what is only forwarded --- */

/* The supervisor sees none of it; the child that does says so. */
Test(worker, sources_that_are_none_fail_that_compile) {
    static const char *const rows[] = {"{]", "[]", "{\"files\":7}", "\n",
                                       "{}\nContent-Length: 2\r\n\r\n{}"};
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *params = compile_params(axpy);
        json_object_del(params, "sources");
        int id = worker_send_bytes(&w, "compile", params, xstrdup(rows[i]));
        autojson *answer = worker_receive(&w);
        cr_expect_eq(number_of(answer, "id"), id);
        expect_outcome(json_object_get(answer, "result"), "failed", rows[i]);
    }
    worker_send_bytes(&w, "validate", json_object(), NULL);
    autojson *without = worker_receive(&w);
    cr_expect_eq(number_of(json_object_get(without, "error"), "code"), -32602);
    expect_axpy_compiles(&w, "sources that are none");
    cr_assert_eq(worker_end(&w), 0);
}

/* Milliseconds of processor time. */
static double spent_ms(pid_t pid) {
    autofree char *path = xasprintf("/proc/%d/schedstat", (int)pid);
    unsigned long long ns = 0;
    FILE *f = fopen(path, "re");
    cr_assert(f && fscanf(f, "%llu", &ns) == 1);
    fclose(f);
    return (double)ns / 1e6;
}

/* It passes a descriptor on. To read 18 MB and write them took 10 to 44 ms. A second of
 * processor time here goes to writing the request and compiling it. */
Test(worker, a_large_source_costs_the_supervisor_little, .timeout = 60) {
    enum { MOST_MS = CONFINE_UNDER_ASAN ? 40 : 10 };
    struct worker_process w;
    worker_spawn(&w, NULL);
    worker_need_compiler(&w);
    expect_axpy_compiles(&w, "the start");
    autofree char *text =
        repeat(axpy, "// a \"comment\" of no importance whatsoever\n", 18000000 / 43, "");
    double before = spent_ms(w.pid);
    autojson *answer =
        worker_answer(&w, worker_send_parcel(&w, "compile", compile_params(text)));
    double spent = spent_ms(w.pid) - before;
    expect_outcome(json_object_get(answer, "result"), "compiled", "18 MB");
    cr_log_info("%.1f ms", spent);
    cr_expect_lt(spent, MOST_MS, "%.1f ms", spent);
    cr_assert_eq(worker_end(&w), 0);
}

/* --- what it needs of a machine --- */

Test(worker, says_how_to_get_a_compiler_when_there_is_none) {
    static const char *const env[] = {
        "HOME=/nonexistent", "XDG_DATA_HOME",   "CUDA_HOME", "CUDA_PATH",
        "UPSKILLD_CUDA",     "LD_LIBRARY_PATH", NULL};
    struct worker_process w;
    worker_spawn(&w, env);
    if (json_array_size(json_object_get(w.hello, "toolkits"))) {
        cr_skip_test("a system-wide CUDA is installed here");
    }
    autojson *response = worker_call(&w, "compile", compile_params(axpy));
    const json_t *data = json_object_get(json_object_get(response, "error"), "data");
    cr_expect_str_eq(text_of(data, "reason"), "no_compiler");
    cr_expect_gt(strlen(text_of(data, "hint")), 20);
    cr_assert_eq(worker_end(&w), 0);
}

/* As on a system without libstdc++, which NVIDIA's builtins need. */
Test(worker, tells_that_the_builtins_cannot_be_loaded) {
    static const char *const files[] = {
        "lib/libnvrtc.so.13", "lib/libnvrtc-builtins.so.13.9", "include/cuda_fp16.h"};
    char folder[] = "/tmp/toolkit-test-XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    struct root root;
    cr_assert(!root_open(&root, folder, NULL));
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        cr_assert(!root_write(&root, files[i], "no library", 10, 0644, NULL));
    }
    autofree char *cuda = xasprintf("UPSKILLD_CUDA=%s", folder);
    const char *const env[] = {cuda,        "HOME=/nonexistent", "XDG_DATA_HOME",
                               "CUDA_HOME", "CUDA_PATH",         "LD_LIBRARY_PATH",
                               NULL};
    struct worker_process w;
    worker_spawn(&w, env);
    if (json_array_size(json_object_get(w.hello, "toolkits")) == 1) {
        autojson *response = worker_call(&w, "compile", compile_params(axpy));
        const char *message = text_of(json_object_get(response, "error"), "message");
        cr_expect_not_null(strstr(message, "libnvrtc-builtins.so.13.9"), "%s", message);
    }
    cr_assert_eq(worker_end(&w), 0);
    root_close(&root);
    dir_remove(folder, NULL);
}

#if !CONFINE_UNDER_ASAN
/* The worker is copied to other machines: it may need only an old C library, as far as
 * the one that it is built with allows: with 2.38 strtol() and its like became new
 * functions. */
Test(worker, needs_only_the_c_library_of_2021) {
    const int newest = __GLIBC_PREREQ(2, 38) ? 38 : 34;
    autofree char *command =
        xasprintf("objdump -p '%s' | sed -n 's/^ *NEEDED *//p'; "
                  "objdump -T '%s' | grep -o 'GLIBC_[0-9.]*' | sort -u",
                  getenv("UPSKILLD_WORKER"), getenv("UPSKILLD_WORKER"));
    FILE *lines = popen(command, "r");
    char line[256];
    size_t count = 0;
    while (fgets(line, sizeof line, lines)) {
        int minor = 0;
        line[strcspn(line, "\n")] = '\0';
        count++;
        if (sscanf(line, "GLIBC_2.%d", &minor) == 1) {
            cr_expect_leq(minor, newest, "%s", line);
        } else {
            cr_expect(!strncmp(line, "libc.so", 7) || !strncmp(line, "ld-linux", 8) ||
                          !strncmp(line, "libm.so", 7) || !strncmp(line, "libdl.so", 8),
                      "needs %s", line);
        }
    }
    pclose(lines);
    cr_assert_gt(count, 1);
}

#endif
