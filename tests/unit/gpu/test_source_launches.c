/* The blocks that a source's own launches have, and what the check says of them. */
#include "base/buf.h"
#include "base/mem.h"
#include "gpu/lint/lint.h"
#include "gpu/lint/source_launches.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(source_launches);

static json_t *launches_of(const char *text) {
    struct source_file file = {
        .display = "k.cu", .text = (char *)(uintptr_t)text, .len = strlen(text)};
    return source_launches_read(&file);
}

/* "k@2 256x1x1+0; k<float,4>@3 16x16x1+?;" */
static char *told(const char *text) {
    autojson *list = launches_of(text);
    char *ret = xstrdup("");
    const json_t *one;
    size_t i;
    json_array_foreach(list, i, one) {
        const json_t *block = json_object_get(one, "block");
        autofree char *bytes =
            json_dumps(json_object_get(one, "dynamic_shared_bytes"), JSON_ENCODE_ANY);
        char *more = xasprintf(
            "%s%s@%lld %lldx%lldx%lld+%s;", ret, json_get_string(one, "kernel", ""),
            (long long)json_get_integer(one, "line", 0),
            (long long)json_integer_value(json_array_get(block, 0)),
            (long long)json_integer_value(json_array_get(block, 1)),
            (long long)json_integer_value(json_array_get(block, 2)), bytes ? bytes : "?");
        free(ret);
        ret = more;
    }
    return ret;
}

#define BODY(code) "void f(int n) {\n" code "\n}\n"

/* What the C++ standard makes of each; "" where it may be anything. */
Test(source_launches, reads_constant_blocks) {
    static const struct {
        const char *text, *told;
    } cases[] = {
        {BODY("k<<<n, 256>>>(x);"), "k@2 256x1x1+0;"},
        {BODY("k<<<dim3(n, 2), 0x80u, 0, s>>>(x);"), "k@2 128x1x1+0;"},
        {BODY("k<<<n, 32 * 4 + (64 - 32) / 2>>>(x);"), "k@2 144x1x1+0;"},
        {BODY("k<<<n, dim3(16, 8, 2), 1024>>>(x);"), "k@2 16x8x2+1024;"},
        {BODY("k<<<n, {16, 8}>>>(x);"), "k@2 16x8x1+0;"},
        {BODY("dim3 block(16, 16); k<<<n, block>>>(x);"), "k@2 16x16x1+0;"},
        {BODY("dim3 block{16, 16}, grid(n); k<<<grid, block>>>(x);"), "k@2 16x16x1+0;"},
        {BODY("dim3 grid(n / 16, n), block(16, 4); k<<<grid, block>>>(x);"),
         "k@2 16x4x1+0;"},
        {BODY("dim3 block = dim3(8, 8, 8); k<<<n, block>>>(x);"), "k@2 8x8x8+0;"},
        {BODY("const dim3 block = {8, 8}; k<<<n, block>>>(x);"), "k@2 8x8x1+0;"},
        {BODY("int t = 128; k<<<(n + t - 1) / t, t>>>(x);"), "k@2 128x1x1+0;"},
        {BODY("const unsigned w = 4, t = w * 32; k<<<n, t, t * 4>>>(x);"),
         "k@2 128x1x1+512;"},
        {BODY("int t = 128; k<<<ceil_div(n, t), dim3(t)>>>(x);"), "k@2 128x1x1+0;"},
        {BODY("k<<<n, unsigned(64)>>>(x);"), "k@2 64x1x1+0;"},
        {"#define T 256 // threads\n" BODY("k<<<n, T>>>(x);"), "k@3 256x1x1+0;"},
        {"#define W (32)\n#define T (W * 4)\n" BODY("k<<<n, T>>>(x);"), "k@4 128x1x1+0;"},
        {"#define B dim3(32, 8)\n" BODY("k<<<n, B>>>(x);"), "k@3 32x8x1+0;"},
        {"constexpr int THREADS = 128;\n" BODY("k<<<n, THREADS>>>(x);"),
         "k@3 128x1x1+0;"},
        {"namespace a { static const int T = 64, W = 2; }\nusing namespace a;\n" BODY(
             "k<<<n, W * T>>>(x);"),
         "k@4 128x1x1+0;"},
        {"const dim3 B(32, 2);\n" BODY("k<<<n, B>>>(x);"), "k@3 32x2x1+0;"},
        {BODY("ns::k<float, 4><<<n, 64>>>(x); k<A<B<int>>><<<n, 32>>>(x);"),
         "ns::k<float,4>@2 64x1x1+0;k<A<B<int>>>@2 32x1x1+0;"},
        {BODY("if (n) { k<<<n, 64>>>(x); } else { k<<<n, 128>>>(x); }"),
         "k@2 64x1x1+0;k@2 128x1x1+0;"},
        {"struct S { void go(int n) { k<<<n, 96>>>(x); } };\n", "k@1 96x1x1+0;"},
        {"__global__ void p(float *x) { k<<<1, 64>>>(x); }\n", "k@1 64x1x1+0;"},
        {BODY("k<<<n, 256, 256 * sizeof(float)>>>(x);"), "k@2 256x1x1+1024;"},
        {BODY("k<<<n, 256, n * sizeof(float)>>>(x);"), "k@2 256x1x1+?;"},
        {BODY("dim3 b(16, 4); k<<<dim3(n), dim3(b)>>>(x);"), "k@2 16x4x1+0;"},
        {BODY("k<<<n, 1 << 8>>>(x); k<<<n, max(64, 32)>>>(x);"),
         "k@2 256x1x1+0;k@2 64x1x1+0;"},
        {"#define T(n) 64\n" BODY("k<<<n, T(1)>>>(x);"), "k@3 64x1x1+0;"},
        {"#define A 8\n#define B 64\n" BODY("k<<<n, A * B / A>>>(x);"), "k@4 64x1x1+0;"},
        /* no constants */
        {BODY("k<<<n, n>>>(x);"), ""},
        {BODY("k<<<1, n / 2 + 32>>>(x);"), ""},
        {BODY("int t = 128; if (n > 9) t = 256; k<<<n, t>>>(x);"), ""},
        {BODY("int t = 32; t *= 2; k<<<n, t>>>(x);"), ""},
        {BODY("int t = 32; t <<= 2; k<<<n, t>>>(x);"), ""},
        {BODY("int t = 32; ++t; k<<<n, t>>>(x);"), ""},
        {BODY("int t = 32; choose(&t); k<<<n, t>>>(x);"), ""},
        {BODY("int t = 32; int &u = t; u = n; k<<<n, u>>>(x);"), ""},
        {BODY("int t = n > 512 ? 512 : 256; k<<<n, t>>>(x);"), ""},
        {BODY("int t; t = 256; k<<<n, t>>>(x);"), ""},
        {BODY("dim3 b(16, 16); b.x = n; k<<<n, b>>>(x);"), ""},
        {BODY("dim3 b; k<<<n, b>>>(x);"), ""},
        {BODY("{ int t = 64; g(t); } { int t = 128; k<<<n, t>>>(x); }"), ""},
        {BODY("for (int t = 32; t < 1025; t *= 2) k<<<n, t>>>(x);"), ""},
        {BODY("for (int t : {32, 64}) k<<<n, t>>>(x);"), ""},
        {BODY("k<<<n, C::T>>>(x); k<<<n, c.t>>>(x); k<<<n, min(n, 4)>>>(x);"), ""},
        {BODY("k<<<n, 0>>>(x); k<<<n, 4 / 0>>>(x); k<<<n, 1 - 2>>>(x);"), ""},
        {BODY("k<<<n, 99999999999999999999>>>(x); k<<<n, 65536 * 65536>>>(x);"), ""},
        {BODY("k<<<n, 256.f>>>(x); k<<<n, dim3(1, 2, 3, 4)>>>(x); k<<<n>>>(x);"), ""},
        {BODY("int t = t; k<<<n, t>>>(x); dim3 b(b.x); k<<<n, b>>>(x);"), ""},
        {"int T = 128;\n" BODY("k<<<n, T>>>(x);"), ""},
        {"const int T = 128;\nvoid f(int T) { k<<<1, T>>>(x); }\n", ""},
        {"void f(int T = 128) { k<<<1, T>>>(x); }\n", ""},
        {"template <int T> void f() { k<<<1, T>>>(x); }\n", ""},
        {"template <int T = 64> void f() { k<<<1, T>>>(x); }\n", ""},
        {"#define T 64\n#define T 128\n" BODY("k<<<n, T>>>(x);"), ""},
        {"#ifndef T\n#define T 64\n#endif\n" BODY("k<<<n, T>>>(x);"), ""},
        {"#define T(n) 64\n#define T(n) 32\n" BODY("k<<<n, T(1)>>>(x);"), ""},
        {"#define T 64\n#ifdef X\n#undef T\n#define T 32\n#endif\n" BODY(
             "k<<<n, T>>>(x);"),
         ""},
        {BODY("k<<<n, int(5.0 / 2) * 32>>>(x); k<<<n, (int)((float)5 / 2 * 32)>>>(x);"),
         ""},
        {BODY("k<<<n, ceil(100 / 32)>>>(x); k<<<n, atoi(argv[1])>>>(x);"), ""},
        {BODY("int t = atoi(argv[1]); k<<<n, t>>>(x);"), ""},
        {"int f(int t) { return t; }\n" BODY("k<<<n, f(64)>>>(x);"), ""},
        {BODY("int t = 64;\n#ifdef X\nk<<<n, t>>>(x);\n#endif"), ""},
        {BODY("#if 0\nk<<<n, 4096>>>(x);\n#endif"), ""},
        {"// k<<<1, 64>>>(x);\n" BODY("puts(\"k<<<1, 64>>>(x)\");"), ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *is = told(cases[i].text);
        cr_expect(eq(str, is, (char *)(uintptr_t)cases[i].told), "%s", cases[i].text);
    }
}

Test(source_launches, reads_constant_grids) {
    static const struct {
        const char *text, *grid;
    } cases[] = {
        {BODY("k<<<12, 256>>>(x);"), "[12,1,1]"},
        {BODY("dim3 grid(4, 3, 2); k<<<grid, 32>>>(x);"), "[4,3,2]"},
        {BODY("k<<<n, 32>>>(x);"), "none"},
        {BODY("k<<<dim3(4, n), 32>>>(x);"), "none"},
        {BODY("k<<<4294967295u, 32>>>(x);"), "none"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *list = launches_of(cases[i].text);
        cr_assert(eq(sz, json_array_size(list), 1), "%s", cases[i].text);
        const json_t *grid = json_object_get(json_array_get(list, 0), "grid");
        autofree char *is = grid ? json_dumps(grid, JSON_COMPACT) : NULL;
        cr_expect_str_eq(is ? is : "none", cases[i].grid, "%s", cases[i].text);
    }
}

/* Time and stack stay small, whatever the text. */
Test(source_launches, bears_hostile_text, .timeout = 60) {
    static const char *const rows[] = {"k<<<n, (",
                                       "k<",
                                       "int t = t2; ",
                                       "#define A A A\n",
                                       "k<<<n, t>>>(x); ",
                                       ">>><<<",
                                       "int a = b * b, b = a * a; "};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf text = BUF_INIT(1u << 20);
        buf_adds(&text, "#define A A A\nvoid f() { int t = A;\n");
        while (text.len < 400000) {
            buf_adds(&text, rows[i]);
        }
        buf_adds(&text, "k<<<n, t>>>(x); }");
        autofree char *is = told(text.data);
        cr_expect(eq(str, is, ""), "%s", rows[i]);
    }
}

static json_t *kernels_of(const char *const *names) {
    json_t *kernels = json_array();
    for (; *names; names++) {
        json_array_append_new(kernels,
                              json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "name", *names,
                                        "file", "k.cu", "line", 1, "column", 17,
                                        "registers", 40, "max_threads", 1024));
    }
    return kernels;
}

/* The blocks that begin each kernel's list as the source's: "256@2 ;128@3 ;" */
static char *judged(const char *const *names, const char *text, const json_t *launch,
                    json_t *findings) {
    struct source_file file = {
        .display = "k.cu", .text = (char *)(uintptr_t)text, .len = strlen(text)};
    struct source_set sources = {.files = &file, .count = 1};
    autojson *kernels = kernels_of(names);
    autobuf out = BUF_INIT(4096);
    lint_compiled(kernels, &(struct compile_options){.arch = "sm_90a"}, &sources, findings);
    lint_launched(kernels, "sm_90a", launch, findings);
    const json_t *kernel, *entry;
    size_t i, n;
    json_array_foreach(kernels, i, kernel) {
        cr_expect(json_object_get(kernel, "source_launches") == NULL);
        json_array_foreach(json_object_get(kernel, "occupancy"), n, entry) {
            if (json_get_bool(entry, "source_launch", 0)) {
                buf_addf(&out, "%lld@%lld ",
                         (long long)json_get_integer(entry, "block_threads", 0),
                         (long long)json_get_integer(entry, "line", 0));
                cr_expect(n == 0 ||
                          json_get_bool(
                              json_array_get(json_object_get(kernel, "occupancy"), n - 1),
                              "source_launch", 0));
            }
        }
        buf_addc(&out, ';');
    }
    return buf_detach(&out);
}

Test(source_launches, belong_to_the_kernel_they_name) {
    static const struct {
        const char *names[4], *text, *told;
    } cases[] = {
        {{"k"},
         BODY("k<<<n, 256>>>(x);\nk<<<n, 96>>>(x);k<<<2, 96>>>(x);"),
         "256@2 96@3 ;"},
        {{"k", "other_k"}, BODY("k<<<n, 256>>>(x);"), "256@2 ;;"},
        {{"a::k", "a::q"},
         BODY("a::k<<<n, 256>>>(x);\nq<<<n, 32>>>(x);"),
         "256@2 ;32@3 ;"},
        {{"a::k", "b::k"}, BODY("k<<<n, 256>>>(x);"), ";;"},
        {{"a::k", "b::k"}, BODY("b::k<<<n, 256>>>(x);"), ";256@2 ;"},
        {{"k<float, 4>", "k<int, 4>"}, BODY("k<int,4><<<n, 64>>>(x);"), ";64@2 ;"},
        {{"k<float, 4>", "k<int, 4>"}, BODY("k<T, 4><<<n, 64>>>(x);"), ";;"},
        {{"k<float>"}, BODY("k<<<n, 64>>>(x);"), "64@2 ;"},
        {{"k", "k"}, BODY("k<<<n, 64>>>(x);"), ";;"},
        {{"k"}, BODY("k<<<n, 256, n>>>(x);"), ";"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *findings = json_array();
        autofree char *is = judged(cases[i].names, cases[i].text, NULL, findings);
        cr_expect(eq(str, is, (char *)(uintptr_t)cases[i].told), "%s", cases[i].text);
        cr_expect(eq(u64, json_array_size(findings), 0));
        autojson *launch = json_pack("{s:[i,i,i]}", "block", 32, 1, 1);
        autofree char *given = judged(cases[i].names, cases[i].text, launch, findings);
        cr_expect(strchr(given, '@') == NULL);
    }
}

/* An error at the launch, although there are several kernels. */
Test(source_launches, that_fail_are_errors_where_they_stand) {
    static const char *const names[] = {"k", "q", NULL};
    static const char *const texts[] = {
        BODY("dim3 b(64, 32);\n  k<<<n, b>>>(x);"),
        BODY("\n  k<<<n, 2048, n * 4>>>(x);"),
        BODY("\n  k<<<n, dim3(1, 1, 128)>>>(x);"),
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        autojson *findings = json_array();
        autofree char *is = judged(names, texts[i], NULL, findings);
        cr_assert(eq(u64, json_array_size(findings), 1), "%s", texts[i]);
        const json_t *finding = json_array_get(findings, 0);
        cr_expect(eq(str, (char *)(uintptr_t)json_get_string(finding, "code", ""),
                     "not_launchable"));
        cr_expect(eq(str, (char *)(uintptr_t)json_get_string(finding, "severity", ""),
                     "error"));
        cr_expect(
            eq(str, (char *)(uintptr_t)json_get_string(finding, "file", ""), "k.cu"));
        cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), 3));
        cr_expect(eq(int, (int)json_get_integer(finding, "column", 0), 3));
        cr_expect(eq(int, (int)json_get_integer(finding, "end_column", 0), 4));
    }
}
