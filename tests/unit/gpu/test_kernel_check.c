#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check_room.h"
#include "gpu/check/check_result.h"
#include "gpu/check/check_verdict.h"
#include "gpu/compile/toolkit.h"
#include "protocol/schema/schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AXPY                                                                             \
    "__global__ void axpy(int n, float a, const float *x, float *y) {\n"                 \
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                 \
    "  if (i < n) y[i] += a * x[i];\n"                                                   \
    "}\n"

static char *report_of(const json_t *result) {
    autobuf text = BUF_INIT(1u << 20);
    check_result_describe(result, &text);
    return buf_detach(&text);
}

static const json_t *diagnostic(const json_t *result, size_t i) {
    return json_array_get(json_object_get(result, "diagnostics"), i);
}

static const json_t *find_code(const json_t *result, const char *code) {
    const json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(result, "diagnostics"), i, finding) {
        if (strcmp(json_get_string(finding, "code", ""), code) == 0) {
            return finding;
        }
    }
    return NULL;
}

static bool is_ok(const json_t *result) {
    return json_is_true(json_object_get(result, "ok"));
}

/* --- without a compiler --- */

/* The table is sound: schemas compile, the example passes its own, help is short enough.
 */
Test(kernel_check, table) {
    struct err err = {0};
    struct operation_table *table = operation_table_new();
    int r = operation_table_add(table, gpu_operations, gpu_operation_count, &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    const struct operation *op = operation_find(table, "kernel/check");
    cr_assert_eq(op, operation_find_tool(table, "kernel_check"));
    autofree char *text = xstrdup(op->example);
    autojson *example = json_parse(text, strlen(text), &err);
    cr_assert_eq(schema_check(operation_params(table, op), example, NULL, &err), 0, "%s",
                 err.msg);
    cr_assert_lt(strlen(op->tool_help), 1536);
    const char *const texts[] = {op->tool_schema, op->result_schema};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct schema *schema;
        cr_assert_eq(schema_new(texts[i], &schema, &err), 0, "%s", err.msg);
        if (i == 0) {
            cr_assert_eq(schema_check(schema, example, NULL, &err), 0, "%s", err.msg);
            char *compact = json_dumps(schema_json(schema), JSON_COMPACT);
            cr_assert_lt(strlen(compact), 1800);
            free(compact);
        }
        schema_free(schema);
    }
    static const char *const wrong[] = {
        "{}",
        "{\"sourc\": \"x\"}",
        "{\"source\": 1}",
        "{\"source\": \"\", \"launch\": {}}",
        "{\"source\": \"\", \"launch\": {\"block\": 0}}",
        "{\"source\": \"\", \"name\": \"../x\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        json_t *params = json_loads(wrong[i], 0, NULL);
        cr_assert_lt(schema_check(operation_params(table, op), params, NULL, NULL), 0,
                     "%s", wrong[i]);
        json_decref(params);
    }
    operation_table_free(table);
}

static void expect_failure(struct check_room *room, json_t *params, enum call_fault fault,
                           const char *reason) {
    autojson *got = check_room_check(room, params);
    cr_assert_eq(json_get_integer(got, "fault", -1), (int)fault, "%s: %s", reason,
                 json_get_string(got, "message", "a result"));
    cr_assert_str_eq(json_get_string(got, "reason", ""), reason);
}

/* What cannot be asked is refused with a reason, before any worker starts. */
Test(kernel_check, refuses) {
    struct check_room room;
    check_room_open(&room, "/nonexistent/worker");
    check_room_write(&room, "k.cu", AXPY);
    expect_failure(&room, json_pack("{s:s}", "path", "/etc/passwd"), CALL_REFUSED,
                   "outside_roots");
    expect_failure(&room, json_pack("{s:s}", "path", "../../etc/passwd"), CALL_REFUSED,
                   "outside_roots");
    expect_failure(&room, json_pack("{s:s}", "path", "absent.cu"), CALL_NOT_FOUND,
                   "no_file");
    expect_failure(&room, json_pack("{s:s, s:s}", "source", AXPY, "arch", "sm_1"),
                   CALL_BAD_PARAMS, "bad_option");
    expect_failure(
        &room, json_pack("{s:s, s:[s]}", "source", AXPY, "options", "-include=/etc/x"),
        CALL_BAD_PARAMS, "bad_option");
    expect_failure(&room,
                   json_pack("{s:s, s:[s]}", "source", AXPY, "include_roots", "/etc"),
                   CALL_REFUSED, "outside_roots");
    expect_failure(&room, json_pack("{s:s}", "path", "k.cu"), CALL_UNAVAILABLE,
                   "no_worker");
    check_room_close(&room);
}

/* A machine without a compiler says how to get one; nothing else is harmed. */
Test(kernel_check, says_how_to_get_a_compiler) {
    static const char *const names[] = {"UPSKILLD_CUDA", "CUDA_HOME", "CUDA_PATH",
                                        "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        unsetenv(names[i]);
    }
    setenv("HOME", "/nonexistent", 1);
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    if (check_room_has_compiler()) {
        cr_skip_test("this machine has a compiler for all");
    }
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *got = check_room_check(&room, json_pack("{s:s}", "source", AXPY));
    cr_assert_str_eq(json_get_string(got, "reason", ""), "no_compiler");
    cr_assert_str_eq(json_get_string(got, "hint", ""), TOOLKIT_HINT);
    cr_assert_eq(json_get_integer(got, "fault", -1), CALL_UNAVAILABLE);
    autojson *status = gpu_status(room.gpu);
    cr_assert_eq(json_array_size(json_object_get(status, "missing")), 1);
    check_room_close(&room);
}

/* The report says the verdict first, quotes no more than it may, and counts the rest. */
Test(kernel_check, report) {
    json_t *many = json_array();
    for (int i = 0; i < 100; i++) {
        json_array_append_new(many,
                              json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i}", "source",
                                        "nvrtc", "code", "20", "severity", "error",
                                        "message", "identifier is undefined", "file",
                                        "k.cu", "line", i + 1, "column", 5));
    }
    autojson *result = json_pack(
        "{s:b, s:s, s:s, s:{s:s, s:s}, s:b, s:f, s:o, s:i, s:[]}", "ok", 0, "arch",
        "sm_90a", "mode", "device", "compiler", "name", "nvrtc", "version", "13.0.88",
        "cached", 0, "compile_ms", 61.4, "diagnostics", many, "omitted", 7, "kernels");
    check_verdict_set(result, false);
    autofree char *text = report_of(result);
    static const char first[] =
        "not ok: 100 errors, 7 more not shown (sm_90a, nvrtc 13.0.88, 61 ms)\n";
    cr_assert_eq(strncmp(text, first, strlen(first)), 0, "%s", text);
    cr_assert_not_null(
        strstr(text, "k.cu:1:5: error: identifier is undefined [nvrtc 20]\n"));
    cr_assert_not_null(strstr(text, "… and 67 more diagnostics\n"), "%s", text);
    cr_assert_lt(strlen(text), 36000);
}

/* --- with the real compiler --- */

#define NEED_COMPILER()                                                                  \
    if (!check_room_has_compiler()) {                                                    \
        cr_skip_test("no CUDA compiler");                                                \
    }

/* A good kernel gives exactly the shape that was promised. */
Test(kernel_check, good_kernel, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *result = check_room_check(&room, json_pack("{s:s}", "source", AXPY));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    static const char *const keys[] = {
        "ok",      "summary",     "arch",        "mode",       "compiler",
        "cached",  "omitted",     "diagnostics", "compile_ms", "confinement",
        "kernels", "precompiled", "worker"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        cr_assert_not_null(json_object_get(result, keys[i]), "%s", keys[i]);
    }
    cr_assert_eq(json_object_size(result), ARRAY_LEN(keys));
    cr_assert_str_eq(json_get_string(result, "arch", ""), "sm_90a");
    cr_assert_str_eq(json_get_string(result, "mode", ""), "device");
    const json_t *kernel = json_array_get(json_object_get(result, "kernels"), 0);
    cr_assert_str_eq(json_get_string(kernel, "name", ""), "axpy");
    cr_assert_eq(json_get_integer(kernel, "line", 0), 1);
    cr_assert_eq(json_get_integer(kernel, "param_bytes", 0), 24);
    cr_assert_gt(json_get_integer(kernel, "registers", 0), 4);
    cr_assert_gt(json_array_size(json_object_get(kernel, "occupancy")), 1);
    cr_assert_eq(strncmp(report, "ok: 1 kernel (sm_90a, nvrtc ", 28), 0, "%s", report);

    /* The same again comes from the cache, with the occupancy that was asked for. */
    autojson *again = check_room_check(
        &room, json_pack("{s:s, s:{s:i}}", "source", AXPY, "launch", "block", 96));
    cr_assert(json_is_true(json_object_get(again, "cached")));
    cr_assert(json_is_false(json_object_get(result, "cached")));
    const json_t *occupancy = json_object_get(
        json_array_get(json_object_get(again, "kernels"), 0), "occupancy");
    cr_assert_eq(json_array_size(occupancy), 1);
    cr_assert_eq(json_get_integer(json_array_get(occupancy, 0), "block_threads", 0), 96);
    check_room_close(&room);
}

/* Errors are answers, with their place; the file's name is the client's. */
Test(kernel_check, broken_kernel, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *result = check_room_check(
        &room,
        json_pack("{s:s, s:s}", "source",
                  "__global__ void k(float *x) {\n  y[0] = 1;\n}\n", "name", "mine.cu"));
    cr_assert(!is_ok(result));
    const json_t *finding = diagnostic(result, 0);
    cr_assert_str_eq(json_get_string(finding, "file", ""), "mine.cu");
    cr_assert_str_eq(json_get_string(finding, "severity", ""), "error");
    cr_assert_eq(json_get_integer(finding, "line", 0), 2);
    cr_assert_eq(json_get_integer(finding, "column", 0), 3);
    cr_assert_null(json_object_get(result, "outcome"));
    check_room_close(&room);
}

/* A whole .cu file is checked by its device part, and lines stay true. */
Test(kernel_check, host_code, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "src/full.cu",
                     "#include <cstdio>\n#include <vector>\n#include \"half.cuh\"\n" AXPY
                     "int main() {\n  std::vector<float> v(9);\n"
                     "  axpy<<<1, 9>>>(9, 1.f, v.data(), v.data());\n"
                     "  printf(\"%d\\n\", HALF);\n  return 0;\n}\n");
    check_room_write(&room, "src/half.cuh", "#pragma once\n#define HALF 2\n");
    autojson *result = check_room_check(&room, json_pack("{s:s}", "path", "src/full.cu"));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    cr_assert_str_eq(json_get_string(result, "mode", ""), "host-stripped");
    const json_t *kernel = json_array_get(json_object_get(result, "kernels"), 0);
    cr_assert_eq(json_get_integer(kernel, "line", 0), 4);
    cr_assert_str_eq(json_get_string(kernel, "file", ""), "src/full.cu");
    check_room_close(&room);
}

/* Include folders are found by nvcc's spelling too, and a toolkit's are not needed. */
Test(kernel_check, include_folders, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "lib/include/one.cuh", "#define ONE 1\n");
    check_room_write(&room, "cuda/include/cuda_runtime.h", "#error not this one\n");
    autofree char *cuda = path_join(room.dir, "cuda/include");
    static const char *const spellings[][2] = {{"-Ilib/include", NULL},
                                               {"-I", "lib/include"},
                                               {"-isystem=lib/include", NULL},
                                               {NULL, NULL}};
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        json_t *params = json_pack("{s:s, s:[]}", "source",
                                   "#include <cuda_runtime.h>\n#include <one.cuh>\n"
                                   "__global__ void k(float *x) { x[0] = ONE; }\n",
                                   "options");
        json_t *options = json_object_get(params, "options");
        json_array_append_new(options, json_string("-I"));
        json_array_append_new(options, json_string(cuda));
        for (size_t k = 0; k < 2 && spellings[i][k]; k++) {
            json_array_append_new(options, json_string(spellings[i][k]));
        }
        autojson *result = check_room_check(&room, params);
        autofree char *report = report_of(result);
        cr_assert_eq(is_ok(result), spellings[i][0] != NULL, "%s", report);
    }
    expect_failure(&room, json_pack("{s:s, s:[s]}", "source", AXPY, "options", "-I/etc"),
                   CALL_REFUSED, "outside_roots");
    check_room_close(&room);
}

/* No text of a foreign file comes back, whatever the source includes. */
Test(kernel_check, foreign_files, .timeout = 60) {
    NEED_COMPILER();
    static const char *const targets[] = {"\"/etc/passwd\"", "</etc/passwd>",
                                          "\"../../../../../../etc/passwd\"",
                                          "\"link.h\""};
    struct check_room room;
    check_room_open(&room, NULL);
    autofree char *link = path_join(room.dir, "link.h");
    cr_assert_eq(symlink("/etc/passwd", link), 0);
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        autofree char *source = xasprintf("#include %s\n" AXPY, targets[i]);
        autojson *result = check_room_check(&room, json_pack("{s:s}", "source", source));
        char *text = json_dumps(result, 0);
        cr_assert(!is_ok(result), "%s", text);
        cr_assert_null(strstr(text, "root:"), "%s", text);
        cr_assert_eq(json_get_integer(diagnostic(result, 0), "line", 0), 1, "%s", text);
        cr_assert_eq(json_array_size(json_object_get(result, "diagnostics")), 1, "%s",
                     text);
        free(text);
    }
    check_room_close(&room);
}

/* Compilations that are on their way. */
static json_int_t submitted(struct gpu *gpu) {
    autojson *status = gpu_status(gpu);
    const json_t *worker = json_array_get(json_object_get(status, "workers"), 0);
    return json_get_integer(worker, "running", 0) + json_get_integer(worker, "queued", 0);
}

static void join_and_cancel(struct check_room *room, const char *source, bool compiling) {
    struct check_answer a[4] = {0};
    struct kernel_check *c[4];
    autofree char *text = xasprintf("%s\n", source);
    autojson *params = json_pack("{s:s}", "source", source);
    autojson *other = json_pack("{s:s}", "source", text);
    for (int i = 0; i < 4; i++) {
        c[i] = kernel_check_start(room->gpu, i < 3 ? params : other, &room->origin,
                                  check_answer_take, &a[i]);
    }
    while (compiling && submitted(room->gpu) < 2) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    kernel_check_cancel(c[1]);
    kernel_check_cancel(c[3]);
    cr_assert_eq(a[1].calls, 0);
    check_room_run(room, a, 4);
    cr_assert(is_ok(a[0].result));
    cr_assert(json_is_null(a[1].result));
    cr_assert(json_is_null(a[3].result));
    cr_assert(json_equal(json_object_get(a[0].result, "compile_ms"),
                         json_object_get(a[2].result, "compile_ms")));
    for (int i = 0; i < 4; i++) {
        json_decref(a[i].result);
    }
}

/* Two identical checks at once are one compilation; a cancelled one leaves the other be,
 * whether its input is still read or is compiled by now. */
Test(kernel_check, joins_and_cancels, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    join_and_cancel(&room, AXPY, false);
    join_and_cancel(&room, AXPY "\n\n", true);
    check_room_close(&room);
}

static json_int_t cached(struct gpu *gpu) {
    autojson *status = gpu_status(gpu);
    return json_get_integer(json_object_get(status, "cache"), "entries", 0);
}

/* Two of the same whose answer has come, and is being made a result. */
static void start_making(struct check_room *room, const char *source,
                         struct check_answer a[2], struct kernel_check *c[2]) {
    autojson *params = json_pack("{s:s}", "source", source);
    for (int i = 0; i < 2; i++) {
        a[i] = (struct check_answer){0};
        c[i] = kernel_check_start(room->gpu, params, &room->origin, check_answer_take,
                                  &a[i]);
    }
    while (!submitted(room->gpu)) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    while (submitted(room->gpu)) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    cr_assert_eq(a[0].calls, 0);
}

/* Cancelled while its result is made: the other still gets it, and so does who asks
 * later. The end of everything in between does no harm. */
Test(kernel_check, cancels_what_is_being_made, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    struct check_answer a[2];
    struct kernel_check *c[2];
    check_room_open(&room, NULL);
    start_making(&room, AXPY, a, c);
    kernel_check_cancel(c[0]);
    check_room_run(&room, a, 2);
    cr_assert(json_is_null(a[0].result));
    cr_assert(is_ok(a[1].result));
    json_decref(a[1].result);

    start_making(&room, AXPY "\n", a, c);
    kernel_check_cancel(c[0]);
    kernel_check_cancel(c[1]);
    check_room_run(&room, a, 2);
    cr_assert(json_is_null(a[1].result));
    while (cached(room.gpu) < 2) {
        uv_run(&room.loop, UV_RUN_ONCE);
    }
    autojson *kept = check_room_check(&room, json_pack("{s:s}", "source", AXPY "\n"));
    cr_assert(json_is_true(json_object_get(kept, "cached")));

    start_making(&room, AXPY "\n\n", a, c);
    kernel_check_cancel(c[1]);
    check_room_close(&room);
    cr_assert_eq(a[0].calls + a[1].calls, 2);
    json_decref(a[0].result);
}

/* The occupancy of many kernels is told on a thread; who cancels meanwhile gets nothing,
 * and the next one all of it. */
Test(kernel_check, cancels_what_is_being_completed, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    struct check_answer answer = {0};
    autobuf text = BUF_INIT(8192);
    for (int i = 0; i < 80; i++) {
        buf_addf(&text, "__global__ void k%d(int *p) { *p = %d; }\n", i, i);
    }
    check_room_open(&room, NULL);
    autojson *params = json_pack("{s:s}", "source", text.data);
    struct kernel_check *check =
        kernel_check_start(room.gpu, params, &room.origin, check_answer_take, &answer);
    while (!cached(room.gpu)) {
        uv_run(&room.loop, UV_RUN_ONCE);
    }
    cr_assert_eq(answer.calls, 0);
    kernel_check_cancel(check);
    check_room_run(&room, &answer, 1);
    cr_assert(json_is_null(answer.result));
    autojson *again = check_room_check(&room, json_incref(params));
    cr_assert_eq(json_array_size(json_object_get(again, "kernels")), 80);
    cr_assert(json_is_true(json_object_get(again, "cached")));
    check_room_close(&room);
}

/* Sources that are written on a thread are compiled like others; who cancels meanwhile
 * hears so, and so does who comes when it is too late. */
Test(kernel_check, long_sources, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    autobuf text = BUF_INIT(1u << 22);
    while (text.len < (1u << 20)) {
        buf_adds(&text, "// one of many lines\n");
    }
    buf_adds(&text, AXPY);
    check_room_open(&room, NULL);
    join_and_cancel(&room, text.data, false);
    struct check_answer a[2] = {0};
    buf_addc(&text, '\n');
    buf_addc(&text, '\n');
    autojson *params = json_pack("{s:s}", "source", text.data);
    struct kernel_check *c =
        kernel_check_start(room.gpu, params, &room.origin, check_answer_take, &a[0]);
    uv_run(&room.loop, UV_RUN_ONCE); /* it was read, and is written */
    kernel_check_cancel(c);
    check_room_run(&room, a, 1);
    kernel_check_start(room.gpu, params, &room.origin, check_answer_take, &a[1]);
    uv_run(&room.loop, UV_RUN_ONCE);
    check_room_close(&room);
    cr_assert_eq(a[1].calls, 1);
    cr_assert(json_is_null(a[0].result));
    cr_assert(json_is_null(a[1].result));
}

/* The advice that saves days. */
Test(kernel_check, advice, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *template =
        check_room_check(&room, json_pack("{s:s}", "source",
                                          "template <class T> __global__ void t(T *x) {\n"
                                          "  x[0] = T(1);\n}\n"));
    const json_t *finding = find_code(template, "not_compiled");
    cr_assert(!is_ok(template));
    cr_assert_not_null(
        strstr(json_get_string(finding, "message", ""), "template __global__"));
    cr_assert_eq(json_get_integer(finding, "line", 0), 1);
    cr_assert_eq(json_get_integer(finding, "column", 0), 36);

    autojson *some = check_room_check(
        &room, json_pack("{s:s}", "source",
                         "__global__ void one(int *x) { *x = 1; }\n"
                         "template <class T> __global__ void used(T *x) { *x = 1; }\n"
                         "template __global__ void used<int>(int *);\n"
                         "enum Mode { A, B };\n"
                         "template <Mode M> __global__ void left(int *x) { *x = M; }\n"
                         "template <int N> __global__ void too(int *x) { *x = N; }\n"));
    finding = find_code(some, "not_compiled");
    cr_assert_eq(json_array_size(json_object_get(some, "kernels")), 2);
    cr_assert_eq(json_get_integer(finding, "line", 0), 5);
    cr_assert_not_null(strstr(json_get_string(finding, "message", ""), "left<Mode(0)>"));
    cr_assert_not_null(strstr(json_get_string(finding, "message", ""), "1 more: too"));

    autojson *wgmma = check_room_check(
        &room, json_pack("{s:s, s:s}", "source",
                         "__global__ void w() {\n"
                         "  asm volatile(\"wgmma.fence.sync.aligned;\");\n}\n",
                         "arch", "sm_90"));
    cr_assert(!is_ok(wgmma));
    finding = diagnostic(wgmma, 0);
    cr_assert_not_null(
        strstr(json_get_string(finding, "message", ""), "arch \"sm_90a\""));
    cr_assert_eq(json_get_integer(finding, "line", 0), 2);

    autojson *shared = check_room_check(
        &room,
        json_pack("{s:s}", "source",
                  "__global__ void s(float *x) {\n  __shared__ float a[75000];\n"
                  "  for (int i = threadIdx.x; i < 75000; i += 32) a[i] = x[i];\n"
                  "  __syncthreads();\n  x[threadIdx.x] = a[74999 - threadIdx.x];\n}\n"));
    autojson *half = check_room_check(
        &room,
        json_pack("{s:s}", "source",
                  "__global__ void s(float *x) {\n  __shared__ float a[20000];\n"
                  "  for (int i = threadIdx.x; i < 20000; i += 32) a[i] = x[i];\n"
                  "  __syncthreads();\n  x[threadIdx.x] = a[19999 - threadIdx.x];\n}\n"));
    cr_assert(is_ok(half));
    finding = find_code(half, "static_shared_too_large");
    cr_assert_eq(json_get_integer(finding, "line", 0), 1);
    cr_assert_eq(json_array_size(json_object_get(finding, "fixes")), 1);

    autofree char *report = report_of(shared);
    cr_assert(!is_ok(shared), "%s", report);
    cr_assert_not_null(strstr(report, "300000"), "%s", report);
    check_room_close(&room);
}

/* What reached no assembler is not ok, and what was left out is not passed over. */
Test(kernel_check, what_was_not_compiled_is_not_ok, .timeout = 60) {
    NEED_COMPILER();
    static const struct {
        const char *source, *outcome, *summary;
        bool ok, host;
    } rows[] = {
        {"template <class T> __global__ void t(T *x) { *x = 1; }\n", "nothing_compiled",
         "nothing was compiled: the kernel template t is not instantiated", false, false},
        {"template <class T> __global__ void t(T *x) { *x = 1; }\n"
         "namespace n { template <int N> __global__ void u(int *x) { *x = N; } }\n"
         "int main() { return 0; }\n",
         "nothing_compiled",
         "nothing was compiled: the 2 kernel templates are not instantiated; host code "
         "not "
         "looked at",
         false, true},
        {"#if __CUDA_ARCH__ < 500\n__global__ void k(int *x) { *x = 1; }\n#endif\n",
         "nothing_compiled", "nothing was compiled: the kernel k is left out by an #if",
         false, false},
        {"__device__ int f() { return 1; }\n", "nothing_compiled",
         "nothing was compiled: no kernel here uses the device code", false, false},
        {"struct Op { template <class T> __host__ __device__ T operator()(T x) const {\n"
         "  return undeclared(x); } };\n",
         "nothing_compiled", "nothing was compiled: no kernel here uses the device code",
         false, false},
        {"void host(float *p) { run(p, [=] __device__(int i) { p[i] = 1; }); }\n",
         "nothing_compiled",
         "nothing was compiled: no kernel here uses the device code; host code not "
         "looked at",
         false, true},
        {"#define DEVICE __device__ inline\nDEVICE int f() { return 1; }\n",
         "nothing_compiled", "nothing was compiled: no kernel here uses the device code",
         false, false},
        {"", "no_kernels", "there is no device code, so nothing was compiled", true,
         false},
        {"__global__ void k(int *);\n__constant__ int c = 1;\n", "no_kernels",
         "there is no device code, so nothing was compiled", true, false},
        {"int q = ;\n__global__ void k(int *x) { *x = 1; }\n", NULL,
         "device code ok: 1 kernel; host code not looked at", true, true},
        {"__global__ void k(int *x) { *x = 1; }\nvoid host() { int x = ; }\n", NULL,
         "device code ok: 1 kernel; host code not looked at", true, true},
        {"#include <vector>\n__global__ void k(int *x) { *x = 1; }\n", NULL,
         "ok: 1 kernel", true, false},
        /* However a kernel is spelt. */
        {"__attribute__((global)) void k(int *x) { *x = 1; }\n", NULL, "ok: 1 kernel",
         true, false},
        {"#define KERNEL __attribute__((global))\nKERNEL void k(int *x) { *x = 1; }\n",
         NULL, "ok: 1 kernel", true, false},
        {"#define CAT(a, b) a##b\nCAT(__glo, bal__) void k(int *x) { *x = 1; }\n",
         "nothing_compiled",
         "nothing was compiled: no kernel was found, and macros may hide one; host code "
         "not looked at",
         false, true},
        {"#define CAT(a, b) a##b\nint CAT(x, 1)() { return 1; }\n", "no_kernels",
         "there is no device code, so nothing was compiled; host code not looked at",
         true, true},
    };
    struct check_room room;
    check_room_open(&room, NULL);
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        size_t row = i / 2;
        autojson *result =
            check_room_check(&room, json_pack("{s:s, s:b}", "source", rows[row].source,
                                              "quick", (int)(i % 2)));
        const char *outcome = json_get_string(result, "outcome", "");
        cr_expect_eq(is_ok(result), rows[row].ok, "%s", rows[row].source);
        cr_expect_str_eq(outcome, rows[row].outcome ? rows[row].outcome : "");
        cr_expect_str_eq(json_get_string(result, "summary", ""), rows[row].summary);
        cr_expect_eq(json_object_get(result, "host_code") != NULL, rows[row].host);
        cr_expect_eq(find_code(result, "not_compiled") != NULL, !rows[row].ok);
    }
    autojson *relocatable = check_room_check(
        &room, json_pack("{s:s, s:[s]}", "source", "__device__ int f() { return 1; }\n",
                         "options", "-rdc=true"));
    cr_expect(is_ok(relocatable));
    cr_expect_str_eq(json_get_string(relocatable, "summary", ""),
                     "ok: 1 device function");
    check_room_close(&room);
}

/* What stands in a template that nothing instantiates is not looked at, whatever else was
 * compiled: the summary and "uncompiled" say so, a note says it of each kind. */
Test(kernel_check, templates_beside_a_kernel_that_were_not_compiled, .timeout = 60) {
    NEED_COMPILER();
    static const char good[] = "__global__ void k(int *x) { *x = 1; }\n";
    static const struct {
        const char *source, *summary;
        size_t names, notes;
    } rows[] = {
        {"template <class T> __global__ void t(T *x) { int q = ; }\n",
         "ok: 1 kernel, 1 note; 1 template was not compiled: nothing instantiates it", 1,
         1},
        {"template <class T> __device__ T f(T x) { return undeclared; }\n",
         "ok: 1 kernel, 1 note; 1 template was not compiled: nothing instantiates it", 1,
         1},
        {"template <class T> struct S { __device__ T get() { return nothing; } };\n"
         "template <class T> __device__ T f(T x) { return g(S<T>().get()); }\n"
         "template <class T> __device__ T g(T x) { return f(x); } // f\n",
         "ok: 1 kernel, 1 note; 3 templates were not compiled: nothing instantiates them",
         3, 1},
        {"template <class T> __device__ T f(T x) { return x; }\n"
         "template <class T> __device__ T g(T x) { return f(x); }\n"
         "__global__ void u(int *x) { *x = g(*x); }\n",
         "ok: 2 kernels", 0, 0},
        {"template <class T> __device__ T f(T x) { return x; }\n"
         "template <> __device__ int f(int x) { return 1; }\n",
         "ok: 1 kernel", 0, 0},
        {"#define CAT(a, b) a##b\n"
         "template <class T> __device__ T f_of(T x) { return x; }\n"
         "__global__ void u(int *x) { *x = CAT(f_, of)(*x); }\n",
         "ok: 2 kernels", 0, 0},
    };
    struct check_room room;
    check_room_open(&room, NULL);
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        size_t row = i / 2;
        autofree char *source = xasprintf("%s%s", good, rows[row].source);
        autojson *result = check_room_check(
            &room, json_pack("{s:s, s:b}", "source", source, "quick", (int)(i % 2)));
        const char *summary = json_get_string(result, "summary", "");
        const json_t *names = json_object_get(result, "uncompiled");
        cr_expect(is_ok(result), "%s", source);
        cr_expect_eq(json_array_size(names), rows[row].names, "%s", source);
        cr_expect(strncmp(summary, rows[row].summary, strlen("ok: 1 kernel")) == 0);
        if (i % 2 == 0) { /* a quick check gives no notes */
            const json_t *findings = json_object_get(result, "diagnostics");
            cr_expect_str_eq(summary, rows[row].summary);
            cr_expect_eq(json_array_size(findings), rows[row].notes, "%s", source);
        }
    }
    check_room_close(&room);
}

/* A file without device code of its own whose header has kernels that nothing asked for;
 * and one whose header has functions alone, which are not what was asked about. */
Test(kernel_check, kernels_of_headers_that_nothing_asks_for, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "t.cuh",
                     "#pragma once\n"
                     "template <class T> __global__ void t(T *x) { *x = 1; }\n");
    check_room_write(&room, "f.cuh", "#pragma once\n__device__ int f() { return 1; }\n");
    check_room_write(&room, "t.cu", "#include \"t.cuh\"\nint main() {}\n");
    check_room_write(&room, "f.cu", "#include \"f.cuh\"\nint main() {}\n");
    static const char *const paths[] = {"t.cuh", "f.cuh", "t.cu", "f.cu"};
    static const char *const summaries[] = {
        "nothing was compiled: the kernel template t is not instantiated",
        "nothing was compiled: no kernel here uses the device code",
        "nothing was compiled: the kernel template t of t.cuh is not instantiated; host "
        "code "
        "not looked at",
        "there is no device code, so nothing was compiled; host code not looked at"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        autojson *result = check_room_check(&room, json_pack("{s:s}", "path", paths[i]));
        cr_expect_str_eq(json_get_string(result, "summary", ""), summaries[i]);
        cr_expect_eq(is_ok(result), i == 3);
    }
    check_room_close(&room);
}

/* Constants that host code alone uses are not unused; what nobody uses is, and so is a
 * variable of a kernel that has the name of one of the host's. */
Test(kernel_check, what_host_code_uses_is_not_unused, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "sizes.cuh", "#pragma once\nstatic const int LANES = 32;\n");
    check_room_write(&room, "k.cu",
                     "#include \"sizes.cuh\"\n"
                     "constexpr int HOSTS = 3;\n"
                     "static const int NOBODYS = 4;\n"
                     "namespace n { const float inside = 2; }\n"
                     "extern \"C\" { static const int linked = 1; }\n"
                     "struct S { int x; };\n"
                     "__global__ void k(int *x) { int HOSTS; *x = 1; }\n"
                     "int main() { return HOSTS + LANES + n::inside + linked; }\n");
    autojson *result = check_room_check(&room, json_pack("{s:s}", "path", "k.cu"));
    autofree char *report = report_of(result);
    const json_t *findings = json_object_get(result, "diagnostics");
    cr_assert_eq(json_array_size(findings), 2, "%s", report);
    cr_expect_eq(json_get_integer(diagnostic(result, 0), "line", 0), 3, "%s", report);
    cr_expect_eq(json_get_integer(diagnostic(result, 1), "line", 0), 7, "%s", report);
    check_room_close(&room);
}

#define SCRIPT                                                                           \
    "a = RawKernel(r'''\n"                                                               \
    "__device__ int one(int x) { return x + 1; }\n"                                      \
    "__global__ void k(int *x) { *x = one(*x); }''', 'k')\n"                             \
    "b = RawKernel(r'''\n"                                                               \
    "__device__ int one(int x) { return x - 1; }\n"

/* The strings of a Python file are compiled one by one; the result is one. */
Test(kernel_check, strings_of_a_script_are_units, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *apart = check_room_check(
        &room,
        json_pack("{s:s, s:s}", "name", "m.py", "source",
                  SCRIPT "__global__ void k(int *x) { *x = one(*x); }''', 'k')\n"));
    autofree char *report = report_of(apart);
    const json_t *kernels = json_object_get(apart, "kernels");
    cr_assert(is_ok(apart), "%s", report);
    cr_assert_eq(json_array_size(kernels), 2);
    cr_assert_eq(json_get_integer(json_array_get(kernels, 0), "line", 0), 3);
    cr_assert_eq(json_get_integer(json_array_get(kernels, 1), "line", 0), 6);

    autojson *wrong = check_room_check(
        &room, json_pack("{s:s, s:s}", "name", "m.py", "source",
                         SCRIPT "__global__ void j(int *x) { *x = one(y); }''', 'j')\n"
                                "c = RawKernel('''__global__ void l() { k(0); }''')\n"));
    cr_assert(!is_ok(wrong));
    cr_assert_eq(json_array_size(json_object_get(wrong, "diagnostics")), 2);
    cr_assert_eq(json_get_integer(diagnostic(wrong, 0), "line", 0), 6);
    cr_assert_eq(json_get_integer(diagnostic(wrong, 1), "line", 0), 7);
    cr_assert_eq(json_array_size(json_object_get(wrong, "kernels")), 1);

    autojson *part =
        check_room_check(&room, json_pack("{s:s, s:s}", "name", "m.py", "source",
                                          "f('''__device__ int unused;''')\n"
                                          "g('''__global__ void k() {}''')\n"));
    cr_assert(is_ok(part));
    cr_assert_null(find_code(part, "no_kernels"));

    /* Helpers are nothing to speak of beside a kernel; alone they are all there is. */
    autojson *helped =
        check_room_check(&room, json_pack("{s:s, s:s}", "name", "m.py", "source",
                                          "f('''__device__ int one() { return 1; }''')\n"
                                          "g('''__global__ void k() {}''')\n"));
    cr_assert(is_ok(helped));
    cr_assert_null(find_code(helped, "not_compiled"));
    autojson *alone =
        check_room_check(&room, json_pack("{s:s, s:s}", "name", "m.py", "source",
                                          "f('''__device__ int one() { return 1; }''')\n"
                                          "g('''__device__ int unused;''')\n"));
    cr_assert(!is_ok(alone));
    cr_assert_str_eq(json_get_string(alone, "outcome", ""), "nothing_compiled");
    check_room_close(&room);
}

/* A string that a run fills and that does not compile without is no mistake; one that
 * does compile is checked, and so are the others. */
Test(kernel_check, strings_that_a_run_fills_are_no_mistake, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *filled = check_room_check(
        &room, json_pack("{s:s, s:s}", "name", "m.py", "source",
                         "f('''__global__ void k() {}''')\n"
                         "g('''\n__global__ void $name() { $body }''')\n"));
    cr_assert(is_ok(filled));
    cr_assert_eq(json_array_size(json_object_get(filled, "kernels")), 1);
    const json_t *note = find_code(filled, "script_field");
    cr_assert_not_null(note);
    cr_assert_eq(json_get_integer(note, "line", 0), 3);
    cr_assert_eq(json_get_integer(note, "column", 0), 17);

    autojson *wrong = check_room_check(
        &room, json_pack("{s:s, s:s}", "name", "m.py", "source",
                         "f('''__global__ void k() { missing(); }''')\n"
                         "g('''__global__ void $name() { $body }''')\n"));
    cr_assert(!is_ok(wrong));
    check_room_close(&room);
}

/* The same under the names of PyTorch's stable interface, with what its numbers' headers
 * add to CUDA's own functions. */
Test(kernel_check, pytorch_s_stable_interface, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    static const char source[] =
        "#include <torch/csrc/stable/tensor.h>\n"
        "#include <torch/headeronly/core/TensorAccessor.h>\n"
        "template <typename T> using Acc = torch::headeronly::\n"
        "    HeaderOnlyGenericPackedTensorAccessor<T, 2, "
        "torch::headeronly::RestrictPtrTraits, int32_t>;\n"
        "static_assert(sizeof(Acc<float>) == 8 + 4 * 4);\n"
        "static_assert(at::numeric_limits<float>::lowest() < 0);\n"
        "static_assert(sizeof(torch::headeronly::Float8_e4m3fnuz) == 1);\n"
        "template <typename T> __global__ void k(Acc<T> a, c10::complex<double> *z,\n"
        "                                        int64_t *n, const c10::Half *h) {\n"
        "  a[0][1] = T(float(__ldg(h)) + a.size(1));\n"
        "  gpuAtomicAdd(z, z[1]);\n  atomicAdd(z, z[1]);\n  atomicAdd(n, n[1]);\n"
        "}\n"
        "void run(torch::stable::Tensor t) {\n"
        "  if (t.scalar_type() == torch::headeronly::ScalarType::Half)\n"
        "    k<torch::headeronly::Half><<<1, 1>>>(packed(t), 0, 0, 0);\n"
        "  else k<torch::headeronly::BFloat16><<<1, 1>>>(packed(t), 0, 0, 0);\n"
        "}\n";
    autojson *result = check_room_check(&room, json_pack("{s:s}", "source", source));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    cr_assert_eq(json_array_size(json_object_get(result, "kernels")), 2, "%s", report);
    check_room_close(&room);
}

/* What kernels use of PyTorch's headers beside numbers: layouts as its own headers have
 * them, arithmetic as anyone's. */
Test(kernel_check, pytorch_s_device_types, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    static const char source[] =
        "#include <THC/THCAtomics.cuh>\n"
        "#include <torch/extension.h>\n"
        "using complex_t = c10::complex<float>;\n"
        "static_assert(sizeof(complex_t) == 8 && alignof(complex_t) == 8);\n"
        "static_assert(complex_t(1, 2) * complex_t(3, 4) == complex_t(-5, 10));\n"
        "static_assert(complex_t(-5, 10) / complex_t(3, 4) == complex_t(1, 2));\n"
        "static_assert(2 * complex_t(1, 2) - 1 == complex_t(1, 4));\n"
        "using Info = at::cuda::detail::TensorInfo<int64_t, int>;\n"
        "static_assert(sizeof(Info) == 8 + 2 * 25 * 4 + 8);\n"
        "struct Params { float *x; at::PhiloxCudaState philox; at::ScalarType type; };\n"
        "static_assert(int(at::ScalarType::BFloat16) == 15 &&\n"
        "              int(torch::headeronly::ScalarType::Float8_e4m3fn) == 24);\n"
        "namespace nn = torch::nn;\n"
        "struct Id { static constexpr int of(int n) { TORCH_CHECK(n > 0, \"n\"); "
        "return n; } };\n"
        "template <typename scalar_t> __global__ void k(scalar_t *x, Info info, Params "
        "p) "
        "{\n"
        "  int i = at::cuda::detail::IndexToOffset<int64_t, int, -1>::get(Id::of(3), "
        "info);\n"
        "  auto seed = at::cuda::philox::unpack(p.philox);\n"
        "  complex_t z = std::conj(complex_t(p.x[0], p.x[1]));\n"
        "  gpuAtomicAdd(x + i, scalar_t(std::get<0>(seed) + z.imag_));\n"
        "}\n"
        "void run(at::Tensor t, Info info, Params p) {\n"
        "  AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), \"k\", [&] {\n"
        "    k<scalar_t><<<1, 1>>>(t.data_ptr<scalar_t>(), info, p); });\n"
        "}\n"
        "STABLE_TORCH_LIBRARY_IMPL(own, CUDA, m) { m.impl(\"run\", TORCH_BOX(run)); }\n";
    autojson *result = check_room_check(&room, json_pack("{s:s}", "source", source));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    cr_assert_eq(json_array_size(json_object_get(result, "kernels")), 1, "%s", report);
    check_room_close(&room);
}

/* What nvcc takes with g++ beside it, and NVRTC alone does not; each without its cure is
 * an error. The last of each pair is what nvcc refuses as well. */
Test(kernel_check, what_only_g__s_side_of_nvcc_takes, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    static const struct {
        const char *source;
        bool ok;
    } cases[] = {
        {"__global__ void k(int *p) { __const__ int n = 1; __signed__ int s = n;\n"
         "  __asm__ __volatile__(\"\" ::: \"memory\"); __asm(\"\");\n"
         "  *(__volatile int *)p = s; }\n",
         true},
        {"__global__ void k(int *p) { __asm___(\"\"); *p = 1; }\n", false},
        {"#include <cublas_v2.h>\n#include <nccl.h>\n#include <cusparse.h>\n"
         "cublasHandle_t handle;\n"
         "__global__ void k(__nv_bfloat16 *p, half *h, cuComplex *c) {\n"
         "  p[0] = __float2bfloat16(__half2float(h[0]) + cuCrealf(c[0])); }\n",
         true},
        {"#include <cufft.h>\nstruct Wave { cufftComplex *x; cufftReal scale; };\n"
         "#ifndef __linux__\n#error no system\n#endif\nstruct Process { pid_t id; };\n"
         "__global__ void k(Wave w) { w.x[0].x *= w.scale; }\n",
         true},
        {"#include <cudnn.h>\n__global__ void k(__nv_bfloat16 *p) { p[0] = p[1]; }\n",
         false},
        {"template <int A> struct S { int n;\n"
         "  template <int B = A> __device__ __host__ static constexpr\n"
         "  std::enable_if_t<(B > 0), int> get() { return B; }\n"
         "  template <int B = A> __device__ __host__\n"
         "  std::enable_if_t<(B == -1), int> get() const { return n; } };\n"
         "__global__ void k(int *p, const S<3> a, const S<-1> b) {\n"
         "  *p = a.get() + b.get() + S<3>::get(); }\n",
         true},
        {"template <typename C> __host__ consteval int blocks() { return C::n; }\n"
         "struct C { static constexpr int n = 2; };\n"
         "__device__ __host__ constexpr int size = 4;\n"
         "__launch_bounds__(128, blocks<C>()) __global__ void k(int *p) { *p = size; }\n",
         true},
        {"template <int NUM_DEVICES> struct S { int n;\n"
         "  static constexpr int __b__ = 1;\n"
         "  __host__ inline S(S<S<1>::__b__> *p) : S(Of<NUM_DEVICES>{}, p) {}\n"
         "  __device__ S(int i) : n(i) {} };\n"
         "__global__ void k(int *p) { *p = S<2>(1).n; }\n",
         true},
        {"__devcie__ int f() { return 1; }\n__global__ void k(int *p) { *p = 1; }\n",
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *result = check_room_check(
            &room, json_pack("{s:s, s:s}", "source", cases[i].source, "std", "c++20"));
        autofree char *report = report_of(result);
        cr_expect_eq(is_ok(result), cases[i].ok, "%s: %s", cases[i].source, report);
    }
    check_room_close(&room);
}
