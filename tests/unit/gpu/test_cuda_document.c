#include "base/clock.h"
#include "base/mem.h"
#include "check_room.h"
#include "gpu/editor/cuda_document.h"

#include <criterion/criterion.h>
#include <string.h>

static struct document *document_of(const char *path, const char *text) {
    struct document *d = xcalloc(1, sizeof *d);
    d->refs = 1;
    d->uri = path ? xasprintf("file://%s", path) : xstrdup("untitled:Untitled-1");
    d->path = path ? xstrdup(path) : NULL;
    d->language = xstrdup("cuda-cpp");
    d->text = xstrdup(text);
    d->len = strlen(text);
    return d;
}

static const char result_text[] =
    "{\"ok\": true, \"arch\": \"sm_90a\", \"diagnostics\": [], \"kernels\": ["
    "{\"name\": \"ns::axpy\", \"registers\": 40, \"spill_store_bytes\": 0,"
    " \"spill_load_bytes\": 0, \"stack_bytes\": 0, \"static_shared_bytes\": 4096,"
    " \"barriers\": 1, \"param_bytes\": 24, \"code_bytes\": 640, \"occupancy\": ["
    "{\"block_threads\": 128, \"blocks_per_sm\": 12, \"percent\": 75,"
    " \"limited_by\": [\"registers\"]},"
    "{\"block_threads\": 256, \"blocks_per_sm\": 6, \"percent\": 75,"
    " \"limited_by\": [\"registers\", \"shared_memory\"]}]},"
    "{\"name\": \"gemm<float, 4>\", \"registers\": 168, \"spill_store_bytes\": 16,"
    " \"spill_load_bytes\": 24, \"static_shared_bytes\": 100},"
    "{\"name\": \"gemm<int, 8>\", \"registers\": 32}]}";

static const char text[] =
    "// axpy\nnamespace ns {\n__global__ void axpy(float *x) {\n"
    "  __syncthreads();\n  x[threadIdx.x] = 1;\n}\n}\n"
    "template <class T, int N> __global__ void gemm(T *x) { x[0] = N; }\n"
    "__global__ void late(float *x) {}\n";

static size_t at(const char *word) {
    return (size_t)(strstr(text, word) - text);
}

/* Kernels are found by name in the text as it is now, whatever the result's lines say. */
Test(cuda_document, lenses_and_symbols) {
    struct document *d = document_of("/w/k.cu", text);
    autojson *result = json_loads(result_text, 0, NULL);
    autojson *lenses = cuda_document_kind.lenses(d, result);
    cr_assert_eq(json_array_size(lenses), 3 + 3); /* figures, and a check for each */
    const json_t *first = json_array_get(lenses, 0);
    cr_assert_str_eq(json_get_string(first, "title", ""),
                     "sm_90a · 40 regs · 0 spill · 4 KB shared · 75 % occupancy @256");
    cr_assert_eq(json_get_integer(first, "start", 0), (json_int_t)at("axpy(float"));
    cr_assert_eq(json_get_integer(first, "end", 0), (json_int_t)at("axpy(float") + 4);
    cr_assert_str_eq(json_get_string(json_array_get(lenses, 1), "title", ""),
                     "gemm<float, 4> · sm_90a · 168 regs · 40 B spill · 100 B shared");
    cr_assert_eq(json_get_integer(json_array_get(lenses, 2), "start", 0),
                 (json_int_t)at("gemm"));
    autojson *none = cuda_document_kind.lenses(d, NULL);
    cr_assert_eq(json_array_size(none), 3);
    const json_t *create = json_array_get(none, 0);
    cr_assert_str_eq(json_get_string(create, "operation", ""), "kernel/init");
    const json_t *params = json_object_get(create, "params");
    cr_assert_str_eq(json_get_string(params, "path", ""), "/w/k.cu");
    cr_assert_str_eq(json_get_string(params, "kernel", ""), "ns::axpy");
    autojson *symbols = cuda_document_kind.symbols(d);
    cr_assert_eq(json_array_size(symbols), 3);
    cr_assert_str_eq(json_get_string(json_array_get(symbols, 2), "name", ""), "late");
    const json_t *gemm = json_array_get(symbols, 1);
    cr_expect_eq(json_get_integer(gemm, "start", 0), (json_int_t)at("template"));
    cr_expect_eq(json_get_integer(gemm, "end", 0),
                 (json_int_t)at("\n__global__ void late"));
    cr_expect_eq(json_get_integer(gemm, "name_start", 0), (json_int_t)at("gemm"));
    cr_expect_eq(json_get_integer(gemm, "name_end", 0), (json_int_t)at("gemm") + 4);
    document_unref(d);
}

/* A kernel without figures says why, where that is known. */
Test(cuda_document, kernels_that_were_not_compiled_say_so) {
    static const char source[] =
        "template <class T> __global__ void t(T *x) { *x = 1; }\n"
        "#if OLD\n__global__ void k(int *x) { *x = 1; }\n#endif\n";
    static const struct {
        const char *result, *lenses[2];
    } cases[] = {
        {"{\"outcome\": \"nothing_compiled\", \"diagnostics\": []}",
         {"not compiled: nothing instantiates this template",
          "not compiled: an #if leaves it out"}},
        {"{\"diagnostics\": [], \"kernels\": [{\"name\": \"other\"}]}",
         {"not compiled: nothing instantiates this template", NULL}},
        {"{\"outcome\": \"timeout\", \"diagnostics\": []}", {NULL}},
        {"{\"diagnostics\": [{\"severity\": \"error\"}]}", {NULL}},
    };
    struct document *d = document_of("/w/k.txt", source);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *result = json_loads(cases[i].result, 0, NULL);
        autojson *lenses = cuda_document_kind.lenses(d, result);
        for (size_t k = 0; k < 2; k++) {
            const char *wanted = cases[i].lenses[k];
            size_t start, end,
                word = (size_t)(strstr(source, k ? "k(int" : "t(T") - source);
            autofree char *hover =
                cuda_document_kind.hover(d, result, word, &start, &end);
            const json_t *lens = json_array_get(lenses, k);
            cr_expect_str_eq(json_get_string(lens, "title", ""), wanted ? wanted : "");
            cr_expect_str_eq(hover ? hover : "", wanted ? wanted : "");
        }
    }
    document_unref(d);
}

/* So does a template that is no kernel, from what the check says of it. */
Test(cuda_document, templates_that_were_not_compiled_say_so) {
    struct document *d =
        document_of("/w/k.txt", "template <class T> __device__ T f(T x) { return x; }\n"
                                "template <class T> __device__ T g(T x) { return x; }\n");
    autojson *result =
        json_pack("{s:[], s:[s, s]}", "diagnostics", "uncompiled", "g", "h");
    autojson *lenses = cuda_document_kind.lenses(d, result);
    const json_t *lens = json_array_get(lenses, 0);
    cr_assert_eq(json_array_size(lenses), 1);
    cr_expect_str_eq(json_get_string(lens, "title", ""),
                     "not compiled: nothing instantiates this template");
    cr_expect_eq(json_get_integer(lens, "start", 0), 53 + 32);
    document_unref(d);
}

/* Hovers: a kernel's figures, a built-in's one line, and nothing for other words. */
Test(cuda_document, hovers) {
    static const struct {
        const char *word, *says;
    } cases[] = {
        {"axpy(float", "| 256 | 6 | 75 % | registers, shared_memory |"},
        {"axpy(float", "| 40 | 0 B | 0 B | 4 KB | 1 | 24 B | 640 B |"},
        {"gemm", "gemm<int, 8>"},
        {"__syncthreads", "All threads must reach it"},
        {"threadIdx", "place in its block"},
        {"x[threadIdx", NULL},
        {"late", NULL},
        {"axpy\n", NULL}, /* in a comment */
    };
    struct document *d = document_of("/w/k.cu", text);
    autojson *result = json_loads(result_text, 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t start = 0, end = 0;
        autofree char *got =
            cuda_document_kind.hover(d, result, at(cases[i].word), &start, &end);
        if (!cases[i].says) {
            cr_assert_null(got, "%s: %s", cases[i].word, got);
            continue;
        }
        cr_assert_not_null(got, "%s", cases[i].word);
        cr_assert_not_null(strstr(got, cases[i].says), "%s", got);
        cr_assert_eq(start, at(cases[i].word));
    }
    size_t start, end;
    cr_assert_null(cuda_document_kind.hover(d, NULL, at("axpy(float"), &start, &end));
    cr_assert_null(cuda_document_kind.hover(d, NULL, d->len, &start, &end));
    document_unref(d);
}

struct checked {
    int calls;
    json_t *findings, *result;
};

static void on_done(struct document_check *check, json_t *findings, json_t *result) {
    struct checked *c = check->data;
    c->calls++;
    c->findings = findings;
    c->result = result;
}

static struct checked check_now(struct check_room *room, struct document *d,
                                enum document_depth depth, bool cancel) {
    struct checked c = {0};
    struct document_check check = {.document = d,
                                   .depth = depth,
                                   .origin = &room->origin,
                                   .done = on_done,
                                   .data = &c};
    cuda_document_kind.check(&check);
    cr_assert_eq(c.calls, 0);
    if (cancel) {
        check.cancel(&check);
    }
    for (uint64_t end = clock_ms() + 60000; !c.calls && clock_ms() < end;) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    cr_assert_eq(c.calls, 1);
    return c;
}

/* The text in the editor is what is checked, with its neighbours on disk. */
Test(cuda_document, checks_the_open_text, .timeout = 60) {
    if (!check_room_has_compiler()) {
        cr_skip_test("no CUDA compiler");
    }
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "k.cu", "this is what is on disk\n");
    check_room_write(&room, "sizes.cuh", "#pragma once\n#define SIZE 4\n");
    autofree char *path = xasprintf("%s/k.cu", room.dir);
    struct document *d = document_of(
        path, "#include \"sizes.cuh\"\n__global__ void k(float *x) { x[SIZE] = y; }\n");
    struct checked c = check_now(&room, d, DOCUMENT_QUICK, false);
    cr_assert_eq(json_array_size(c.findings), 1);
    const json_t *finding = json_array_get(c.findings, 0);
    cr_assert_str_eq(json_get_string(finding, "file", ""), path);
    cr_assert_eq(json_get_integer(finding, "line", 0), 2);
    cr_assert_null(c.result);
    json_decref(c.findings);
    document_unref(d);

    d = document_of(
        path, "#include \"sizes.cuh\"\n__global__ void k(float *x) { x[SIZE] = 1; }\n");
    c = check_now(&room, d, DOCUMENT_FULL, false);
    cr_assert_eq(json_array_size(c.findings), 0);
    autojson *lenses = cuda_document_kind.lenses(d, c.result);
    cr_assert_eq(json_array_size(lenses), 1 + 1);
    json_decref(c.findings);
    json_decref(c.result);
    c = check_now(&room, d, DOCUMENT_QUICK, true);
    cr_assert_null(c.findings);
    cr_assert_null(c.result);
    document_unref(d);

    d = document_of(NULL, "__global__ void k(float *x) { x[0] = y; }\n");
    c = check_now(&room, d, DOCUMENT_FULL, false);
    cr_assert_eq(json_array_size(c.findings), 1);
    cr_assert_str_eq(json_get_string(json_array_get(c.findings, 0), "file", ""),
                     "Untitled-1");
    json_decref(c.findings);
    json_decref(c.result);
    document_unref(d);
    check_room_close(&room);
}

/* An editor is told once, not by an error, that there is no compiler or worker. */
Test(cuda_document, tells_what_is_missing) {
    struct check_room room;
    check_room_open(&room, "/nonexistent/worker");
    struct document *d = document_of("/w/k.cu", text);
    struct checked c = check_now(&room, d, DOCUMENT_QUICK, false);
    cr_assert_eq(json_array_size(c.findings), 1);
    const json_t *finding = json_array_get(c.findings, 0);
    cr_assert_str_eq(json_get_string(finding, "severity", ""), "info");
    cr_assert_str_eq(json_get_string(finding, "code", ""), "no_worker");
    json_decref(c.findings);
    document_unref(d);
    check_room_close(&room);
}

/* A whole program has one over its main, which takes the text as it is. */
Test(cuda_document, runs_a_program) {
    static const char program[] =
        "__global__ void k() {}\nstruct main_loop { int main(int); };\n"
        "/* int main( */\nint main() { k<<<1, 1>>>(); }\n";
    struct document *d = document_of("/w/k.cu", program);
    autojson *lenses = cuda_document_kind.lenses(d, NULL);
    const json_t *run = json_array_get(lenses, json_array_size(lenses) - 1);
    size_t place = (size_t)(strstr(program, "main() {") - program);
    cr_assert_str_eq(json_get_string(run, "title", ""), "Run");
    cr_assert_str_eq(json_get_string(run, "operation", ""), "kernel/run");
    cr_assert_eq(json_get_integer(run, "start", 0), (json_int_t)place);
    cr_assert_eq(json_get_integer(run, "end", 0), (json_int_t)place + 4);
    autojson *params = cuda_document_kind.operation_params(
        d, "kernel/run", json_object_get(run, "params"));
    cr_assert_str_eq(json_get_string(params, "source", ""), program);
    cr_assert_str_eq(json_get_string(params, "path", ""), "/w/k.cu");
    autojson *answer = json_loads(
        "{\"verdict\": \"timeout\", \"summary\": \"timeout, 1 finding\", \"error\": {\"stage\": \"run\", \"code\": "
        "\"wall_time\","
        " \"message\": \"ended\"}, \"findings\": [{\"file\": \"/w/k.cu\", \"line\": 1,"
        " \"severity\": \"error\", \"message\": \"m\"}], \"launches\": []}",
        0, NULL);
    json_t *findings = NULL, *outcome = NULL;
    cuda_document_kind.operation_outcome(d, "kernel/run", answer, &findings, &outcome);
    cr_assert_eq(json_array_size(findings), 2);
    const json_t *error = json_array_get(findings, 1);
    cr_assert_eq(json_get_integer(error, "line", 0), 4);
    cr_assert_str_eq(json_get_string(error, "code", ""), "wall_time");
    d->outcome = outcome;
    autojson *after = cuda_document_kind.lenses(d, NULL);
    run = json_array_get(after, json_array_size(after) - 1);
    cr_assert_str_eq(json_get_string(run, "title", ""), "timeout, 1 finding");
    json_decref(findings);
    document_unref(d);
    d = document_of("/w/k.cu", "__global__ void k() {}\nvoid f() { main(1); }\n");
    autojson *none = cuda_document_kind.lenses(d, NULL);
    cr_assert_eq(json_array_size(none), 1); /* the kernel's */
    document_unref(d);
}
