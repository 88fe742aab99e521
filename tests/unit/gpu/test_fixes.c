#include "base/buf.h"
#include "base/lines.h"
#include "base/mem.h"
#include "check_room.h"
#include "gpu/fixes/cuda_builtins.h"
#include "gpu/fixes/fixes.h"
#include "protocol/finding.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static size_t offset_of(const struct lines *lines, const json_t *edit, const char *line,
                        const char *column) {
    size_t l = (size_t)json_integer_value(json_object_get(edit, line)) - 1;
    cr_assert_lt(l, lines->count);
    return lines->starts[l] + (size_t)json_integer_value(json_object_get(edit, column)) -
           1;
}

/* The text with the fix's edits made, the last place first. */
static char *apply(const char *text, const json_t *fix) {
    const json_t *edits = json_object_get(fix, "edits");
    char *now = xstrdup(text);
    cr_assert_gt(json_array_size(edits), 0);
    for (size_t i = json_array_size(edits); i-- > 0;) {
        const json_t *edit = json_array_get(edits, i);
        struct lines lines;
        lines_init(&lines, text, strlen(text));
        size_t start = offset_of(&lines, edit, "line", "column");
        size_t end = offset_of(&lines, edit, "end_line", "end_column");
        lines_finish(&lines);
        cr_assert_leq(start, end);
        cr_assert_leq(end, strlen(text));
        char *next = xasprintf("%.*s%s%s", (int)start, now,
                               json_get_string(edit, "text", ""), now + end);
        free(now);
        now = next;
    }
    return now;
}

/* What stands after the one finding's first fix; NULL when there is no fix. */
static char *fixed(const char *source, const char *message, int line, int column,
                   json_t **ret_finding) {
    struct source_set set = {0};
    cr_assert_eq(source_set_add(&set, "u/k.cu", "k.cu", source, strlen(source), NULL), 0);
    json_t *findings = json_array();
    struct finding_span span = {line, column, line, column + 1};
    json_array_append_new(
        findings, finding_new("nvrtc", "", FINDING_ERROR, message, "k.cu", &span));
    fixes_add(findings, &set, "sm_90");
    json_t *finding = json_incref(json_array_get(findings, 0));
    const json_t *fix = json_array_get(json_object_get(finding, "fixes"), 0);
    char *text = fix ? apply(source, fix) : NULL;
    json_decref(findings);
    source_set_finish(&set);
    if (ret_finding) {
        *ret_finding = finding;
    } else {
        json_decref(finding);
    }
    return text;
}

/* Messages as NVRTC 13.0.88 writes them, and what the source is after the fix. */
Test(fixes, edit_the_source) {
    static const struct {
        const char *source, *message;
        int line, column;
        const char *want;
    } cases[] = {
        {"void k(uint32_t n);\n", "identifier \"uint32_t\" is undefined", 1, 8,
         "#include <cstdint>\nvoid k(uint32_t n);\n"},
        {"#pragma once\n#include <a.h>\n#ifdef X\n#include <b.h>\n#endif\nhalf h;\n",
         "identifier \"half\" is undefined", 6, 1,
         "#pragma once\n#include <a.h>\n#include <cuda_fp16.h>\n#ifdef X\n#include "
         "<b.h>\n#endif\nhalf h;\n"},
        {"int a = thredIdx.x;", "identifier \"thredIdx\" is undefined", 1, 9,
         "int a = threadIdx.x;"},
        {"x = __shfl_down(v, 1);", "identifier \"__shfl_down\" is undefined", 1, 5,
         "x = __shfl_down_sync(0xffffffff, v, 1);"},
        {"int a = 1\nint b;", "expected a \";\"", 2, 1, "int a = 1;\nint b;"},
        {"int a = 1 /* one */\n\nint b;", "expected a \";\"", 3, 1,
         "int a = 1; /* one */\n\nint b;"},
        {"x = std::max(a, b);", "namespace \"std\" has no member \"max\"", 1, 10,
         "x = max(a, b);"},
        {"auto b = cg::this_grid();",
         "name followed by \"::\" must be a class or namespace name", 1, 10,
         "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\nauto b = "
         "cg::this_grid();"},
        {"namespace cg = cooperative_groups;", "name must be a namespace name", 1, 16,
         "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"},
        {"#include <cuda_fp16.hh>\nint a;", "cannot open source file \"cuda_fp16.hh\"", 1,
         24, "#include <cuda_fp16.h>\nint a;"},
        {"void k(int n, const float *x) { x[0] = 1; }",
         "expression must be a modifiable lvalue", 1, 33,
         "void k(int n, float *x) { x[0] = 1; }"},
        {"void k() {", "expected a \"}\"", 0, 0, "void k() {\n}\n"},
        {"int v = some_name;", "identifier \"some_name\" is undefined", 1, 9, NULL},
        {"#include <cmath>\nfloat v = NAN;", "identifier \"NAN\" is undefined", 2, 11,
         NULL},
        {"", "identifier \"half\" is undefined", 900, 900, "#include <cuda_fp16.h>\n"},
        {"", "expected a \";\"", 1, 1, NULL},
        {"", "cannot open source file \"\"", 1, 1, NULL},
        {"", "namespace \"\"", 1, 1, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = fixed(cases[i].source, cases[i].message, cases[i].line,
                                   cases[i].column, NULL);
        if (cases[i].want) {
            cr_assert_not_null(got, "%s", cases[i].message);
            cr_assert_str_eq(got, cases[i].want, "%s gave:\n%s", cases[i].message, got);
        } else {
            cr_assert_null(got, "%s gave:\n%s", cases[i].message, got);
        }
    }
}

/* The mask of all lanes is given only where all lanes come. */
Test(fixes, give_no_full_mask_at_a_condition) {
    static const char *const all[] = {
        "int i = 2; if (i) { f(); } y = __shfl(x, 1);",
        "if (i >= n) return; y = __shfl(x, 1);",
        "for (int o = 16; o > 0; o /= 2) x += __shfl(x, o);",
        "for (int o = W / 2; o; o >>= 1) { x += __shfl(x, o); }",
        "if (__shfl(x, 1)) y = 1;",
        "{ f(a && b); y = __shfl(x, 1); }",
    };
    static const char *const some[] = {
        "if (i < n) y = x - __shfl(x, 1);",
        "if (i < n) { f(); y = __shfl(x, 1); }",
        "if (i < n) f(); else y = __shfl(x, 1);",
        "if (i < n) { if (W) f(); y = __shfl(x, 1); }",
        "for (int o = i; o > 0; o--) x += __shfl(x, o);",
        "for (int o = WW; o > 0; o--) x += __shfl(x, o);",
        "for (; o < n; o++) { x += __shfl(x, 1); }",
        "while (o) x += __shfl(x, 1);",
        "do { x += __shfl(x, 1); } while (o);",
        "y = i < n ? __shfl(x, 1) : 0;",
        "if (i < n && __shfl(x, 1)) y = 1;",
        "switch (i) { case 1: y = __shfl(x, 1); }",
    };
    for (size_t i = 0; i < ARRAY_LEN(all) + ARRAY_LEN(some); i++) {
        bool gives = i < ARRAY_LEN(all);
        autofree char *text = xasprintf("#define W 32\nvoid k(int WW) { %s }",
                                        gives ? all[i] : some[i - ARRAY_LEN(all)]);
        int column = (int)(strstr(text, "__shfl") - strchr(text, '\n'));
        json_t *finding;
        autofree char *got =
            fixed(text, "identifier \"__shfl\" is undefined", 2, column, &finding);
        const char *message = json_get_string(finding, "message", "");
        cr_expect_eq(gives, got && strstr(got, "__shfl_sync(0xffffffff, x"), "%s", text);
        cr_expect_eq(!gives, strstr(message, "before the condition") != NULL, "%s: %s",
                     text, message);
        json_decref(finding);
    }
}

Test(fixes, the_package_of_a_header_that_gcc_lacks_is_named) {
    static const struct {
        const char *source, *message;
        bool names;
    } cases[] = {
        {"gcc", "curand_kernel.h: No such file or directory", true},
        {"gcc", "cutlass/cutlass.h: No such file or directory", true},
        {"gcc", "mine.h: No such file or directory", false},
        {"ld", "curand_kernel.h: No such file or directory", false},
        {"gcc", "'curand_init' was not declared", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *list = json_pack("[{s:s, s:s}]", "source", cases[i].source, "message",
                                   cases[i].message);
        fixes_name_packages(list);
        const char *got = json_get_string(json_array_get(list, 0), "message", "");
        cr_expect_eq(cases[i].names, strstr(got, "Python package nvidia-c") != NULL, "%s",
                     got);
        cr_expect_eq(strncmp(got, cases[i].message, strlen(cases[i].message)), 0);
    }
}

/* Where no edit helps the message says what does. */
Test(fixes, tell_the_way_out) {
    static const struct {
        const char *message, *says;
    } cases[] = {
        {"Instruction 'wgmma.fence' not supported on .target 'sm_90'", "sm_90a"},
        {"Entry function 'k' uses too much shared data (300000 bytes, 232448 max)",
         "max); above 48 KB (49152) declare the array"},
        {"device-side kernel launch could not be processed as the required runtime APIs "
         "are "
         "not declared",
         "launch from the host"},
        {"cannot open source file \"mine.cuh\"", "with -I"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *finding;
        autofree char *got =
            fixed("#include \"mine.cuh\"\n", cases[i].message, 1, 10, &finding);
        const char *message = json_get_string(finding, "message", "");
        cr_assert_null(got);
        cr_assert_not_null(strstr(message, cases[i].says), "%s", message);
        json_decref(finding);
    }
}

/* A library's header is not cured by an edit; the message says whose it is. */
Test(fixes, tell_which_package_has_a_header) {
    json_t *finding;
    autofree char *got =
        fixed("#include <curand_kernel.h>\n",
              "cannot open source file \"curand_kernel.h\"", 1, 10, &finding);
    const char *message = json_get_string(finding, "message", "");
    cr_expect_null(got);
    cr_expect_not_null(strstr(message, "nvidia-curand"), "%s", message);
    cr_expect_not_null(strstr(message, "with -I"), "%s", message);
    json_decref(finding);
}

/* Whatever a compiler says of whatever text, the edits stay inside it. */
Test(fixes, survive_any_message) {
    static const char *const messages[] = {
        "identifier \"half\" is undefined",
        "identifier \"thredIdx\" is undefined",
        "identifier \"f\" is undefined",
        "identifier \"\" is undefined",
        "identifier \"__shfl\" is undefined",
        "namespace \"std\" has no member \"max\"",
        "namespace \"cuda\" has no member \"",
        "name must be a namespace name",
        "name followed by \"::\" must be a class or namespace name",
        "expected a \";\"",
        "expected a \"}\"",
        "cannot open source file \"a\"",
        "cannot open source file \"\"",
        "expression must be a modifiable lvalue",
        "uses too much shared data (0x1 max",
        "uses too much shared data ( max",
        ". Consider using",
        "",
        "bytes of static shared memory",
    };
    static const char *const pieces[] = {
        "half",       "thredIdx", "__shfl", "(",       ")",    "{",
        "}",          ";",        "\n",     "std",     "::",   "max",
        "cg",         "const",    "*",      "f",       "\"",   "#include \"a\"\n",
        "__shared__", "[",        "]",      "/*",      "R\"(", "'",
        "\\\n",       "\xc3\xa9", "cuda",   "#if 0\n", " ",    "template <",
        ",",          "\r\n",     "//",
    };
    unsigned seed = 20261121;
    for (int round = 0; round < 4000; round++) {
        autobuf source = BUF_INIT(1u << 16);
        for (int i = rand_r(&seed) % 40; i > 0; i--) {
            buf_adds(&source, pieces[(size_t)rand_r(&seed) % ARRAY_LEN(pieces)]);
        }
        autofree char *got =
            fixed(source.data, messages[(size_t)rand_r(&seed) % ARRAY_LEN(messages)],
                  rand_r(&seed) % 6, rand_r(&seed) % 30, NULL);
        (void)got;
    }
}

/* A ";" is offered where it is missing, not where a declaration went wrong. */
Test(fixes, tell_missing_semicolons_apart) {
    static const struct {
        const char *source, *earlier;
        int earlier_column, column;
        bool fixed;
    } cases[] = {
        {"x[0] = thredIdx.x }", "identifier \"thredIdx\" is undefined", 8, 19, true},
        {"uint32_t n = 1;", "identifier \"uint32_t\" is undefined", 1, 10, false},
        {"f(uint8_t a, b) { }", "attribute \"__global__\" does not apply here", 1, 17,
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct source_set set = {0};
        const char *text = cases[i].source;
        source_set_add(&set, "k.cu", "k.cu", text, strlen(text), NULL);
        struct finding_span at = {1, cases[i].earlier_column, 1,
                                  cases[i].earlier_column + 1};
        autojson *findings = json_array();
        json_array_append_new(findings, finding_new("nvrtc", "", FINDING_ERROR,
                                                    cases[i].earlier, "k.cu", &at));
        at.column = cases[i].column;
        json_array_append_new(findings, finding_new("nvrtc", "", FINDING_ERROR,
                                                    "expected a \";\"", "k.cu", &at));
        fixes_add(findings, &set, "sm_90a");
        const json_t *fixes = json_object_get(json_array_get(findings, 1), "fixes");
        cr_assert_eq(json_array_size(fixes) == 1, cases[i].fixed, "%s", text);
        source_set_finish(&set);
    }
}

/* A misspelt name is near one built-in name or near none. */
Test(fixes, know_near_names) {
    static const struct {
        const char *name, *near;
    } cases[] = {
        {"thredIdx", "threadIdx"},
        {"blockDIm", "blockDim"},
        {"__syncthread", "__syncthreads"},
        {"atomicadd", "atomicAdd"},
        {"rsqrt_f", "rsqrtf"},
        {"gird", NULL},
        {"x", NULL},
        {"", NULL},
        {"completely_else", NULL},
        {"__sycnthreads", "__syncthreads"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *near = cuda_builtin_nearest(cases[i].name, strlen(cases[i].name));
        cr_assert_eq(near != NULL, cases[i].near != NULL, "%s: %s", cases[i].name,
                     near ? near : "-");
        cr_assert(!near || strcmp(near, cases[i].near) == 0, "%s", near);
    }
}

static json_t *check_source(struct check_room *room, const char *source) {
    return check_room_check(room, json_pack("{s:s}", "source", source));
}

static char *report_of(const json_t *result) {
    autobuf text = BUF_INIT(1u << 20);
    gpu_operations[0].describe(result, &text);
    return buf_detach(&text);
}

#define KERNEL(body) "__global__ void k(float *x, int n) {\n  " body "\n}\n"

/* One mistake each. */
static const char *const broken[] = {
    "__global__ void k(uint32_t *x) { x[0] = 1; }\n",
    "__global__ void k(half *x) { x[0] = __float2half(1.f); }\n",
    "__global__ void k(__nv_bfloat16 *x) { x[0] = x[1]; }\n",
    "__global__ void k(__nv_fp8_e4m3 *x) { x[0] = x[1]; }\n",
    KERNEL("x[0] = FLT_MAX;"),
    KERNEL("x[0] = CUDART_INF_F;"),
    KERNEL("x[thredIdx.x] = 1;"),
    KERNEL("x[blockDIm.x] = 1;"),
    KERNEL("__syncthread(); x[0] = 1;"),
    KERNEL("atomicadd(x, 1.f);"),
    ("__global__ void k(float *x) {\n  __shared__ float s[75000];\n"
     "  for (int i = threadIdx.x; i < 75000; i += 32) s[i] = x[i];\n  __syncthreads();\n"
     "  x[threadIdx.x] = s[(threadIdx.x * 77) % 75000];\n}\n"),
    KERNEL("x[0] = 1\n  x[1] = 2;"),
    "struct pair { int a; }\n__global__ void k(float *x) { x[0] = 1; }\n",
    "__global__ void k(float *x) { x[0] = 1;",
    KERNEL("x[0] = __shfl_down(x[0], 1);"),
    KERNEL("x[0] = __shfl_xor(x[0], 1);"),
    KERNEL("x[0] = std::max(x[0], x[1]);"),
    KERNEL("x[0] = std::numeric_limits<float>::lowest();"),
    "__global__ void k(const float *x) { x[0] = 1; }\n",
    KERNEL("auto b = cg::this_thread_block(); b.sync();"),
    KERNEL("if (__any(x[0] > 0)) x[0] = 1;"),
    KERNEL("x[0] = __ballot(x[1] > 0);"),
    "__global__ void k(const __grid_constant__ CUtensorMap map) {}\n",
    KERNEL("__shared__ cub::BlockReduce<float, 128>::TempStorage s; "
           "x[0] = cub::BlockReduce<float, 128>(s).Sum(x[threadIdx.x]);"),
    KERNEL("cuda::atomic_ref<float, cuda::thread_scope_device> a(*x); a.fetch_add(1.f);"),
    ("#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
     "__global__ void k(float *x) {\n"
     "  auto w = cg::tiled_partition<32>(cg::this_thread_block());\n"
     "  x[0] = cg::reduce(w, x[threadIdx.x], cg::plus<float>());\n}\n"),
    ("using namespace nvcuda;\n__global__ void k(float *x) {\n"
     "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;\n"
     "  wmma::fill_fragment(c, 0.f);\n"
     "  wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major);\n}\n"),
    KERNEL("__shared__ cuda::barrier<cuda::thread_scope_block> b; b.arrive_and_wait();"),
    KERNEL("__shared__ float4 s; __pipeline_memcpy_async(&s, x, 16); "
           "__pipeline_commit(); __pipeline_wait_prior(0); x[0] = s.x;"),
    "#include <cuda_fp16.hh>\n__global__ void k(half *x) { x[0] = x[1]; }\n",
    ("int calls = 3;\n#define ONE 1\nstatic float table[2] = {1, 2};\n"
     "__global__ void k(float *x) { x[0] = table[ONE]; }\n"),
    ("float twice(float a) { return 2 * a; }\n"
     "__global__ void k(float *x) { x[0] = twice(x[1]); }\n"),
};

/* Applies every fix of a broken source; returns how many there were, and -1 when one of
 * them did not cure it, or when it was not broken. */
static int cure(struct check_room *room, const char *source) {
    autojson *result = check_source(room, source);
    autofree char *report = report_of(result);
    bool cured = json_is_false(json_object_get(result, "ok"));
    int fixes = 0;
    size_t f, k;
    const json_t *finding, *fix;
    json_array_foreach(json_object_get(result, "diagnostics"), f, finding) {
        json_array_foreach(json_object_get(finding, "fixes"), k, fix) {
            autofree char *after = apply(source, fix);
            autojson *again = check_source(room, after);
            if (!json_is_true(json_object_get(again, "ok"))) {
                autofree char *words = report_of(again);
                fprintf(stderr, "%s\n%s\n%s\n", report, after, words);
                cured = false;
            }
            fixes++;
        }
    }
    if (!fixes) {
        fprintf(stderr, "no fix for:\n%s\n%s\n", source, report);
    }
    return cured ? fixes : -1;
}

/* NVIDIA's compiler is not instrumented: under sanitizers every third mistake is enough.
 */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define MISTAKES_STEP 3
#endif
#endif
#ifndef MISTAKES_STEP
#define MISTAKES_STEP 1
#endif

/* Every fix, applied, makes the compiler accept the file. */
Test(fixes, cure_what_they_are_for, .timeout = 200) {
    if (!check_room_has_compiler()) {
        cr_skip_test("no CUDA compiler");
    }
    struct check_room room;
    int incurable = 0;
    check_room_open(&room, NULL);
    for (size_t i = 0; i < ARRAY_LEN(broken); i += MISTAKES_STEP) {
        incurable += cure(&room, broken[i]) <= 0;
    }
    check_room_close(&room);
    cr_assert_eq(incurable, 0, "of %zu", ARRAY_LEN(broken));
}

/* What nvcc 13.0 and g++ 12 take without an include: their <cuda_runtime.h> brings
 * <cmath>, <climits>, <utility> and <sys/types.h>. A source may have such a macro of its
 * own. */
Test(fixes, nothing_is_said_of_what_nvcc_takes) {
    if (!check_room_has_compiler()) {
        cr_skip_test("no CUDA compiler");
    }
    static const char *const taken[] = {
        KERNEL("x[0] = -INFINITY + NAN * M_PI + HUGE_VALF; n = INT_MAX - CHAR_BIT;\n"
               "  uint a = n; int64_t b = a; std::size_t c = b; ptrdiff_t d = c;\n"
               "  x[d] = std::sqrt(x[1]) + std::fabs(x[2]);"),
        ("template <class F> __device__ void each(float *x, F f) { *x = f(*x); "
         "}\n" KERNEL("each(x, [=](auto a) { return a * n; });\n"
                      "  each(x, [] __host__ __device__(float a) { return a + 1; });")),
        ("template <class T> __device__ int is() { return std::is_same_v<T, int>; }\n"
         "struct both { __extension__ union { int i; float f; }; };\n"
         "struct pair { int a; float b; };\n"
         "__device__ pair make(int a) { return {.a = a, .b = 1}; }\n" KERNEL(
             "register float f = x[0]; both b; b.f = f; __int128 wide = n;\n"
             "  x[1] = b.i + make(n).a + is<int>() + sizeof(std::make_unsigned_t<int>);\n"
             "  cudaGridDependencySynchronize(); x[2] = (float)(int)(wide >> 2);\n"
             "  cudaTriggerProgrammaticLaunchCompletion();")),
        ("#define M_PI 3.14159f\n#define INFINITY 1e38f\ntypedef unsigned int uint;\n"
         "#include <cuda/std/cmath>\n#include <climits>\n#include <cstdint>\n"
         "#include <cub/cub.cuh>\n" KERNEL(
             "static_assert(M_PI == 3.14159f, \"\"); x[0] = 1;")),
    };
    struct check_room room;
    check_room_open(&room, NULL);
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        autojson *result = check_source(&room, taken[i]);
        autofree char *report = report_of(result);
        cr_expect_eq(json_array_size(json_object_get(result, "diagnostics")), 0, "%s",
                     report);
    }
    check_room_close(&room);
}

/* A file beneath a folder of the project is another than the standard header of its
 * name, but for those who include it from beside it. */
Test(fixes, a_file_named_like_a_standard_header_is_another) {
    if (!check_room_has_compiler()) {
        cr_skip_test("no CUDA compiler");
    }
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "lib/common/assert.h", "#pragma once\n#define MINE 1\n");
    check_room_write(&room, "lib/own/float.h", "#pragma once\n#define MINE 1\n");
    check_room_write(&room, "lib/own/use.h", "#include \"float.h\"\n");
    static const char *const fine[] = {
        "#include \"lib/common/assert.h\"\n#include <assert.h>\n"
        "__global__ void k(int *p) { assert(p); *p = MINE; }\n",
        "#include \"lib/own/use.h\"\n__global__ void k(int *p) { *p = MINE; }\n"};
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        check_room_write(&room, "k.cu", fine[i]);
        autojson *result = check_room_check(&room, json_pack("{s:s}", "path", "k.cu"));
        autofree char *report = report_of(result);
        cr_expect(json_is_true(json_object_get(result, "ok")), "%s", report);
    }
    check_room_close(&room);
}
