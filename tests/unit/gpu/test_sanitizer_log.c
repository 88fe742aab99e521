/* Logs in the shapes that NVIDIA's manual and published logs show, older and newer; they
 * are the seeds of the fuzz target too. */
#include "gpu/driver/sanitizer_log.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct sanitizer_log read_log(const char *name) {
    autofree char *path = xasprintf("%s/%s", TEST_LOGS, name);
    static char text[1 << 14];
    struct sanitizer_log log;
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s", path);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    sanitizer_log_read(&log, text, len);
    return log;
}

struct expected {
    const char *log;
    size_t i, count; /* finding i of so many */
    const char *code, *severity, *kernel, *file;
    int line;
    int thread[3], block[3]; /* thread[0] < 0: none */
    int times;
    const char *says;
};

static void check_triple(const json_t *f, const char *name, const int *expected,
                         const char *log) {
    const json_t *at = json_object_get(f, name);
    cr_expect_eq(json_array_size(at), expected[0] < 0 ? 0 : 3, "%s: %s", log, name);
    for (size_t i = 0; i < json_array_size(at); i++) {
        cr_expect_eq(json_integer_value(json_array_get(at, i)), expected[i], "%s: %s",
                     log, name);
    }
}

static void check(const struct expected *e) {
    struct sanitizer_log log = read_log(e->log);
    cr_assert_eq(json_array_size(log.findings), e->count, "%s: %zu findings", e->log,
                 json_array_size(log.findings));
    const json_t *f = json_array_get(log.findings, e->i);
    const int none[3] = {-1, 0, 0};
    cr_expect_str_eq(json_get_string(f, "source", ""), "run");
    cr_expect_str_eq(json_get_string(f, "code", ""), e->code, "%s", e->log);
    cr_expect_str_eq(json_get_string(f, "severity", ""), e->severity, "%s", e->log);
    cr_expect_str_eq(json_get_string(f, "kernel", ""), e->kernel, "%s", e->log);
    cr_expect_str_eq(json_get_string(f, "file", ""), e->file, "%s", e->log);
    cr_expect_eq(json_get_integer(f, "line", 0), e->line, "%s", e->log);
    cr_expect_eq(json_get_integer(f, "count", 1), e->times, "%s", e->log);
    check_triple(f, "thread", e->thread, e->log);
    check_triple(f, "block", e->thread[0] < 0 ? none : e->block, e->log);
    cr_expect(strstr(json_get_string(f, "message", ""), e->says), "%s: %s", e->log,
              json_get_string(f, "message", ""));
    sanitizer_log_finish(&log);
}

#define AXPY "axpy(float *, const float *, float, int)"
#define SUM "sum(int *, const int *)"
#define NONE                                                                             \
    { -1, 0, 0 }

static const struct expected expected_shapes[] = {
    {"memcheck_new",
     0,
     1,
     "out_of_bounds",
     "error",
     AXPY,
     "kernel.cu",
     7,
     {232, 0, 0},
     {3, 0, 0},
     2,
     "1 bytes after the nearest allocation, which has 4000"},
    {"memcheck_old",
     0,
     2,
     "misaligned",
     "error",
     "ns::tile<float, 4>(float *)",
     "src/unaligned kernel.cu",
     53,
     {1, 2, 3},
     {4, 5, 6},
     1,
     "Invalid __shared__ read of size 8 bytes: the address is misaligned"},
    {"memcheck_old",
     1,
     2,
     "out_of_bounds",
     "error",
     "plain(int *)",
     "",
     0,
     {0, 0, 0},
     {0, 0, 0},
     1,
     "__local__ atomic"},
    {"racecheck_analysis", 0, 2, "race", "error", SUM, "kernel.cu", 27, NONE, NONE,
     4194304, "one is a Write"},
    {"racecheck_analysis", 1, 2, "race", "warning", SUM, "kernel.cu", 33, NONE, NONE, 32,
     "one is a Read"},
    {"racecheck_hazards",
     0,
     2,
     "race",
     "error",
     "sum(int *)",
     "kernel.cu",
     12,
     {33, 0, 0},
     {1, 0, 0},
     1,
     "RAW"},
    {"racecheck_hazards",
     1,
     2,
     "race",
     "error",
     "first(int*)",
     "kernel.cu",
     9,
     {31, 0, 0},
     {0, 0, 0},
     1,
     "WAW"},
    {"synccheck",
     0,
     2,
     "barrier_divergence",
     "error",
     "divergent(int *)",
     "kernel.cu",
     5,
     {16, 0, 0},
     {0, 0, 0},
     1,
     "Divergent thread(s) in block"},
    {"synccheck",
     1,
     2,
     "invalid_mask",
     "error",
     "warps(int *)",
     "kernel.cu",
     11,
     {0, 0, 0},
     {0, 0, 0},
     1,
     "Invalid arguments"},
    {"initcheck",
     0,
     1,
     "uninitialized",
     "error",
     "copy(float *, const float *)",
     "kernel.cu",
     3,
     {7, 0, 0},
     {2, 0, 0},
     1,
     "Uninitialized __global__ memory read"},
    {"others", 0, 2, "launch_error", "warning", "", "", 0, NONE, NONE, 1,
     "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"others",
     1,
     2,
     "launch_error",
     "error",
     "deep(int)",
     "kernel.cu",
     40,
     {0, 0, 0},
     {0, 0, 0},
     1,
     "Stack overflow"},
    /* The kernel is the outermost frame, and so is a library's caller. */
    {"frames",
     0,
     5,
     "out_of_bounds",
     "error",
     "outer(float *, int)",
     "r0/part.cuh",
     39,
     {3, 0, 0},
     {1, 0, 0},
     1,
     "before the nearest allocation"},
    {"frames",
     1,
     5,
     "invalid_mask",
     "error",
     "warps(int *)",
     "r0/k.cu",
     48,
     {0, 0, 0},
     {0, 0, 0},
     1,
     "Invalid arguments"},
    {"frames",
     2,
     5,
     "barrier_divergence",
     "error",
     "both(int *, int *)",
     "r0/k.cu",
     42,
     {32, 0, 0},
     {0, 0, 0},
     1,
     "Divergent"},
    {"frames",
     3,
     5,
     "out_of_bounds",
     "error",
     "remote(int *, int)",
     "r0/k.cu",
     10,
     {0, 0, 0},
     {0, 0, 0},
     1,
     "Potential invalid __shared__ read"},
    {"frames", 4, 5, "race", "warning", "raw()", "r0/k.cu", 40, NONE, NONE, 4,
     "one is a Write"},
    {"unknown", 0, 1, "launch_error", "error", "", "", 0, NONE, NONE, 1,
     "3 errors of an unknown kind: Something of another kind 5"},
};

Test(sanitizer_log, shapes) {
    for (size_t i = 0; i < ARRAY_LEN(expected_shapes); i++) {
        check(&expected_shapes[i]);
    }
}

Test(sanitizer_log, the_other_access_is_related) {
    struct sanitizer_log log = read_log("racecheck_analysis");
    const json_t *related =
        json_array_get(json_object_get(json_array_get(log.findings, 0), "related"), 0);
    cr_expect_eq(json_get_integer(related, "line", 0), 30);
    cr_expect(strstr(json_get_string(related, "message", ""), "Read"));
    sanitizer_log_finish(&log);
    log = read_log("frames");
    related =
        json_array_get(json_object_get(json_array_get(log.findings, 0), "related"), 0);
    cr_expect_eq(json_get_integer(related, "line", 0), 44);
    cr_expect_str_eq(json_get_string(related, "file", ""), "r0/k.cu");
    sanitizer_log_finish(&log);
}

Test(sanitizer_log, how_it_ended) {
    static const struct {
        const char *log;
        bool ended;
        uint64_t reported;
        const char *trouble;
    } all[] = {
        {"memcheck_new", true, 2, ""},
        {"racecheck_analysis", true, 2, ""},
        {"initcheck", true, 1, ""},
        {"others", true, 3, ""},
        {"troubles", false, 0, "Error: No attachable process found"},
        /* Both as version 2025.3 and 2026.4 wrote them: without a part of the package,
         * and without a driver. */
        {"launcher_incomplete", false, 0, "Error: Target application terminated"},
        {"launcher_crash", false, 0, "Error: process didn't terminate"},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct sanitizer_log log = read_log(all[i].log);
        cr_expect_eq(log.ended, all[i].ended, "%s", all[i].log);
        cr_expect_eq(log.reported, all[i].reported, "%s", all[i].log);
        cr_expect(!strncmp(log.trouble, all[i].trouble, strlen(all[i].trouble)));
        cr_expect_eq(!*log.trouble, !*all[i].trouble);
        sanitizer_log_finish(&log);
    }
}

/* Only lines of the tool count; a cut log keeps what it has. */
Test(sanitizer_log, cut_and_mixed) {
    static const char text[] = "Invalid __global__ write of size 4 bytes\n"
                               "======== Invalid __global__ write of size 4 bytes\n"
                               "========= Invalid __global__ write of size 4 bytes\r\n"
                               "=========     at k(int)+0x10 in k.cu:3";
    struct sanitizer_log log;
    for (size_t len = 0; len < sizeof text; len++) {
        sanitizer_log_read(&log, text, len);
        cr_expect_leq(json_array_size(log.findings), 1);
        cr_expect(!log.ended);
        sanitizer_log_finish(&log);
    }
    sanitizer_log_read(&log, text, sizeof text - 1);
    cr_assert_eq(json_array_size(log.findings), 1);
    cr_expect_eq(json_get_integer(json_array_get(log.findings, 0), "line", 0), 3);
    sanitizer_log_finish(&log);
}

Test(sanitizer_log, many) {
    struct sanitizer_log log;
    static char text[1 << 15];
    size_t len = 0;
    for (int i = 1; i <= 150; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "========= Invalid __global__ read of size 1 bytes\n"
                                "=========     at k(int)+0x10 in k.cu:%d\n=========\n",
                                i);
    }
    sanitizer_log_read(&log, text, len);
    cr_expect_eq(json_array_size(log.findings), SANITIZER_LOG_MAX_FINDINGS);
    cr_expect_eq(log.omitted, 50);
    sanitizer_log_finish(&log);
}
