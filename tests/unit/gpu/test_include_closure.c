#include "base/err.h"
#include "base/mem.h"
#include "gpu/source/include_closure.h"
#include "gpu/source/include_directives.h"
#include "include_room.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

TestSuite(include_closure, .timeout = 60);

Test(include_closure, follows_quoted_and_angled_includes_beneath_the_roots) {
    struct project p;
    project_open(&p);
    put(&p, "proj/src/a.h",
        "#pragma once\n#include \"../include/b.h\"\n#include <deep/c.h>\n");
    put(&p, "proj/include/b.h", "int b;\n");
    put(&p, "proj/include/deep/c.h", "#include \"../b.h\"\n#include \"z.h\"\n");
    cr_assert(zero(
        int, build_unit(&p, "#include \"a.h\"\n#include <b.h>\n#include <cuda_fp16.h>\n"
                            "#include \"mma.h\"\n#include <nowhere.h>\n")));
    cr_expect(eq(sz, p.closure.sources.count, 4));
    cr_expect(eq(str, p.closure.sources.files[0].path, "r0/src/k.cu"));
    cr_expect(eq(str, p.closure.sources.files[0].display, "src/k.cu"));
    cr_assert_not_null(file(&p, "r0/src/a.h"));
    cr_expect(eq(str, file(&p, "r0/src/a.h")->display, "src/a.h"));
    cr_expect_not_null(file(&p, "r0/include/b.h"));
    cr_expect_not_null(file(&p, "r0/include/deep/c.h"));
    cr_expect(zero(sz, json_array_size(p.closure.findings)));
    cr_expect(eq(str, p.closure.include_dirs[0], "r0/include"));
    cr_expect_null(p.closure.include_dirs[1]);
    cr_expect_null(p.closure.sources.files[0].original);
    autofree char *real = include_closure_real_path(&p.closure, "r0/src/a.h");
    autofree char *want = xasprintf("%s/src/a.h", p.proj);
    cr_expect(eq(str, real, want));
    cr_expect_null(include_closure_real_path(&p.closure, "h/a.h"));
    cr_expect_null(include_closure_real_path(&p.closure, "r7/a.h"));
    project_close(&p);
}

/* A build names its folders; where they have the usual names, a source is read without.
 */
Test(include_closure, folders_with_the_usual_names_are_looked_into_and_told) {
    struct project p;
    project_open(&p);
    p.options.include_dirs = NULL;
    put(&p, "proj/inc/common/x.h", "#include \"common/y.h\"\n");
    put(&p, "proj/inc/common/y.h", "#include <z.h>\n");
    put(&p, "proj/inc/z.h", "");
    put(&p, "proj/top.h", "");
    put(&p, "proj/other/w.h", "");
    cr_assert(zero(int, build_unit(&p, "#include \"common/x.h\"\n#include \"top.h\"\n"
                                       "#include \"w.h\"\n#include \"secret.txt\"\n"
                                       "#include <top2.h>\n#include \"mma.h\"\n")));
    autofree char *inc = xasprintf("common/x.h was found in %s/inc, which no option "
                                   "names: if it is the right one, give the folder with "
                                   "-I",
                                   p.proj);
    cr_expect(eq(sz, json_array_size(p.closure.findings), 2));
    for (size_t i = 0; i < 2; i++) {
        const json_t *f = json_array_get(p.closure.findings, i);
        cr_expect(eq(str, (char *)json_get_string(f, "severity", ""), "info"));
        cr_expect(
            eq(str, (char *)json_get_string(f, "code", ""), "include_folder_assumed"));
        cr_expect(eq(int, (int)json_get_integer(f, "line", 0), (int)i + 1));
    }
    cr_expect(
        eq(str,
           (char *)json_get_string(json_array_get(p.closure.findings, 0), "message", ""),
           inc));
    cr_expect(eq(str, p.closure.include_dirs[0], "r0/inc"));
    cr_expect(eq(str, p.closure.include_dirs[1], "r0"));
    cr_expect_null(p.closure.include_dirs[2]);
    cr_expect(eq(sz, p.closure.sources.count, 5)); /* k.cu x.h y.h z.h top.h */
    project_close(&p);
}

/* A folder and one around it are one place. */
Test(include_closure, roots_may_lie_beneath_each_other) {
    struct project p;
    project_open(&p);
    autofree char *inner = xasprintf("%s/src", p.proj);
    const char *roots[] = {inner, p.proj, NULL}, *dirs[] = {p.proj, NULL};
    p.options = (struct include_options){.roots = roots, .include_dirs = dirs};
    put(&p, "proj/src/there.h", "");
    cr_assert(
        zero(int, build_unit(&p, "#include \"src/there.h\"\n#include <src/there.h>\n"
                                 "#include \"../src/there.h\"\n")));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(str, findings, ""));
    cr_expect(eq(sz, p.closure.sources.count, 2));
    project_close(&p);
}

/* Where sources say in one way what a macro includes, that is included, wherever the
 * macro is defined; CUTLASS names the standard headers so. */
Test(include_closure, a_header_that_a_macro_names_is_found) {
    struct project p;
    project_open(&p);
    put(&p, "proj/include/names.h",
        "#pragma once\n#define STD(x) <sys/x>\n# define  MINE(x) \"x.h\" // here\n"
        "#if NEW\n#define PICK(x) <new/x>\n#else\n#define PICK(x) <x>\n#endif\n"
        "#define UP(x) <../x>\n#define TWO(x, y) <x/y>\n#define CODE(x) x + 1\n"
        "#define PLAIN <plain.h>\n#define LONG <a/rather/long/name/of/a/header.h>\n");
    put(&p, "proj/include/mine.h", "#include \"names.h\"\n#include MINE(deep)\n");
    put(&p, "proj/include/deep.h", "int deep;\n");
    const char *source =
        "#include STD(cassert) // std\n"
        "  #include PICK(cstdint)\n"
        "#include \"mine.h\"\n"
        "#  include  /* ? */  PLAIN\n"
        "#ifdef A\n#define OFTEN_TOLD <cerrno>\n#else\n#define OFTEN_TOLD // no\n"
        "#endif\n// #define OFTEN_TOLD <no>\n#include OFTEN_TOLD\n";
    cr_assert(zero(int, build_unit(&p, source)));
    cr_expect(
        eq(str, p.closure.sources.files[0].text,
           "#include<sys/cassert> // std\n"
           "  #include<cstdint>     \n"
           "#include \"mine.h\"\n"
           "                          \n"
           "#ifdef A\n#define OFTEN_TOLD <cerrno>\n#else\n#define OFTEN_TOLD // no\n"
           "#endif\n// #define OFTEN_TOLD <no>\n#include<cerrno>   \n"));
    cr_expect_not_null(file(&p, "r0/include/deep.h"));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(str, findings, "include_computed@4:1"));

    /* What leads out, is no header's name or has no room is refused; what is defined
     * nowhere is an error for every compiler that reaches it. */
    cr_assert(zero(int, build_unit(&p, "#include \"mine.h\"\n#include UP(s)\n"
                                       "#include TWO(a, b)\n#include CODE(a)\n"
                                       "#include LONG\n#include NOWHERE(a)\n"
                                       "#include STD(a) b\n#include ELSEWHERE_H\n")));
    autofree char *refused = spell_findings(&p);
    cr_expect(eq(str, refused,
                 "include_not_found@2:1 include_computed@3:1 include_computed@4:1 "
                 "include_computed@5:1 include_computed@7:1"));
    cr_expect_null(strstr(p.closure.sources.files[0].text, "#include<"));
    cr_expect_not_null(strstr(p.closure.sources.files[0].text, "#error   NOWHERE(a)\n"));
    cr_expect_not_null(strstr(p.closure.sources.files[0].text, "#error   ELSEWHERE_H\n"));
    project_close(&p);
}

/* The compiler of a whole program resolves them itself: it gets every file that a
 * definition names, and what those include. */
Test(include_closure, files_that_a_macro_may_name_are_there) {
    struct project p;
    project_open(&p);
    put(&p, "proj/include/deep/inside/one.h", "#include \"all.h\"\n");
    put(&p, "proj/include/deep/inside/two.h", "#include \"gone.h\"\n#include OTHER\n");
    put(&p, "proj/include/deep/inside/all.h", "#define OTHER <deep/inside/x.h>\n");
    put(&p, "proj/include/deep/inside/x.h", "int x;\n");
    put(&p, "outside.h", "int o;\n");
    cr_assert(zero(int, build_unit(&p, "#if A\n#define PICK <deep/inside/one.h>\n#elif B\n"
                                       "#define PICK \"deep/inside/two.h\"\n#elif C\n"
                                       "#define PICK \"../../outside.h\"\n#elif D\n"
                                       "#define PICK <deep/inside/none.h>\n#endif\n"
                                       "#include PICK\n")));
    cr_expect_not_null(file(&p, "r0/include/deep/inside/one.h"));
    cr_expect_not_null(file(&p, "r0/include/deep/inside/two.h"));
    cr_expect_not_null(file(&p, "r0/include/deep/inside/all.h"));
    cr_expect_not_null(file(&p, "r0/include/deep/inside/x.h"));
    cr_expect(eq(sz, p.closure.sources.count, 5));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(str, findings, "include_computed@10:1 include_computed@2:1"));
    project_close(&p);
}

Test(include_closure, regions_that_nvrtc_skips_are_no_errors) {
    static const char *const conditions[] = {"#if 0",
                                             "#ifndef __CUDACC_RTC__",
                                             "#if !defined(__CUDACC_RTC__)",
                                             "#if ! defined __CUDACC_RTC__",
                                             "#ifdef _WIN32",
                                             "#ifdef _MSC_VER",
                                             "#ifdef __CUDACC_RTC__\n#else",
                                             "#if 1\n#else",
                                             "#if 0\n#if X\n#else"};
    struct project p;
    project_open(&p);
    for (size_t i = 0; i < ARRAY_LEN(conditions); i++) {
        autofree char *source =
            xasprintf("%s\n#include \"/etc/passwd\"\n", conditions[i]);
        cr_assert(zero(int, build_unit(&p, source)));
        cr_expect(zero(sz, json_array_size(p.closure.findings)), "%s", conditions[i]);
        /* and yet hidden: a macro might make the region live */
        cr_expect_null(strstr(p.closure.sources.files[0].text, "passwd"));
    }
    cr_assert(
        zero(int, build_unit(&p, "#if UNKNOWN\n#include \"/etc/passwd\"\n#endif\n")));
    cr_expect(eq(sz, json_array_size(p.closure.findings), 1));
    project_close(&p);
}

Test(include_closure, the_compiler_gets_true_lines_and_plain_bytes) {
    struct project p;
    project_open(&p);
    const char source[] =
        "\xef\xbb\xbf#line 500 \"/etc/other.cu\"\n# 33 \"x\"\r#pragma once\n"
        "a\0b\xff\n// c \\ \nd\r\n";
    struct err err = {0};
    cr_assert(zero(int, include_closure_build(p.proj, "src.cu", source, sizeof source - 1,
                                              &p.options, &p.closure, &err)));
    const struct source_file *unit = &p.closure.sources.files[0];
    cr_expect(eq(str, unit->path, "r0/src.cu"));
    cr_expect(eq(
        str, unit->text,
        "                            \n        \n#pragma once\na b?\n// c  \\\nd\r\n"));
    cr_expect(eq(sz, unit->len, sizeof source - 1));
    cr_expect(zero(int, memcmp(unit->original, source, sizeof source)));
    project_close(&p);
}

Test(include_closure, headers_of_the_request_come_before_include_folders) {
    struct project p;
    project_open(&p);
    put(&p, "proj/include/a.h", "from the folder\n");
    autojson *headers =
        json_pack("{s:s, s:s}", "a.h", "#include \"sub/b.h\"\n", "sub/b.h",
                  "#include \"../a.h\"\n#include \"../../x.h\"\n");
    p.options.headers = headers;
    const char *text = "#include \"a.h\"\n";
    cr_assert(zero(int, include_closure_build(NULL, "kernel.cu", text, strlen(text),
                                              &p.options, &p.closure, NULL)));
    cr_expect(eq(str, p.closure.sources.files[0].path, "u/kernel.cu"));
    cr_expect_not_null(file(&p, "h/a.h"));
    cr_expect_not_null(file(&p, "h/sub/b.h"));
    cr_expect_null(file(&p, "r0/include/a.h"));
    cr_expect(eq(str, p.closure.include_dirs[0], "h"));
    cr_expect(eq(str, p.closure.include_dirs[1], "r0/include"));
    project_close(&p);
}

Test(include_closure, a_header_is_checked_through_a_unit_that_includes_it) {
    struct project p;
    project_open(&p);
    put(&p, "proj/src/the.cuh", "#include \"other.h\"\n");
    put(&p, "proj/src/other.h", "");
    autofree char *path = xasprintf("%s/src/the.cuh", p.proj);
    cr_assert(zero(int, include_closure_build(path, "src/the.cuh", NULL, 0, &p.options,
                                              &p.closure, NULL)));
    cr_expect(eq(str, p.closure.sources.files[0].path, "unit.cu"));
    cr_expect(eq(str, p.closure.sources.files[0].text, "#include \"r0/src/the.cuh\"\n"));
    cr_expect(eq(str, p.closure.sources.files[0].display, "src/the.cuh"));
    cr_expect_not_null(file(&p, "r0/src/the.cuh"));
    cr_expect_not_null(file(&p, "r0/src/other.h"));
    cr_expect_null(p.closure.prefix);
    project_close(&p);
}

Test(include_closure, the_prefix_is_the_leading_run_of_costly_headers) {
    static const struct {
        const char *source, *prefix;
    } cases[] = {
        {"#include <cooperative_groups.h>\nint x;", "#include <cooperative_groups.h>\n"},
        {"// c\n#pragma once\n#define A 1 /* x */\n\n# include <cuda_fp16.h>\n#include "
         "<cub/cub.cuh> // y\n#define B\nint x;",
         "#pragma once\n#define A 1\n#include <cuda_fp16.h>\n#include <cub/cub.cuh>\n"},
        {"#include <cuda/barrier>\n#include \"mine.h\"\n#include <cuda/pipeline>\n",
         "#include <cuda/barrier>\n"},
        {"#include \"mine.h\"\n#include <cuda/barrier>\n", NULL},
        {"#include <vector>\n#include <cuda/barrier>\n", "#include <cuda/barrier>\n"},
        {"#include <cuda_fp16.h>\n#include <mma.h>\n", NULL},
        {"#ifdef A\n#include <cuda/barrier>\n#endif\n", NULL},
        {"int x;\n#include <cuda/barrier>\n", NULL},
        {"#include <type_traits>\n", "#include <type_traits>\n"},
        {"#define A \\\n 1\n#include <cuda/atomic>\n",
         "#define A 1\n#include <cuda/atomic>\n"},
    };
    struct project p;
    project_open(&p);
    put(&p, "proj/src/mine.h", "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_assert(zero(int, build_unit(&p, cases[i].source)));
        cr_expect(eq(int, !p.closure.prefix, !cases[i].prefix), "case %zu", i);
        if (p.closure.prefix && cases[i].prefix) {
            cr_expect(eq(str, p.closure.prefix, (char *)cases[i].prefix), "case %zu", i);
        }
    }
    project_close(&p);
}

Test(include_closure, a_folder_outside_the_roots_is_a_root_of_its_own) {
    struct project p;
    project_open(&p);
    put(&p, "out/k.cu", "#include \"secret.txt\"\n#include \"../proj/src/a.h\"\n");
    put(&p, "proj/src/a.h", "");
    autofree char *path = xasprintf("%s/out/k.cu", p.dir);
    cr_assert(zero(
        int, include_closure_build(path, path, NULL, 0, &p.options, &p.closure, NULL)));
    cr_expect(eq(str, p.closure.sources.files[0].path, "r1/k.cu"));
    cr_assert_not_null(file(&p, "r1/secret.txt"));
    autofree char *display = xasprintf("%s/out/secret.txt", p.dir);
    cr_expect(eq(str, file(&p, "r1/secret.txt")->display, display));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(str, findings, "include_outside_roots@2:1"));
    project_close(&p);
}

/* Malformed bytes become '?', and two of those with a '/' would be a trigraph. */
Test(include_closure, a_settled_text_stays_as_it_is) {
    static const char *const texts[] = {
        "?\x92/\n#include <x>", "\x92?/", "?\?/", "?\?\?\?/", "a\r\r\nb",
        "\xef\xbb\xbf?\?="};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[64];
        size_t len = strlen(texts[i]);
        memcpy(text, texts[i], len + 1);
        cr_assert(source_text_settle(text, len), "%zu", i);
        cr_assert(memmem(text, len, (char[]){'?', '?', '/'}, 3) == NULL, "%zu", i);
        cr_assert(source_text_settle(text, len) == false, "%zu", i);
    }
}

/* A script's kernels, as Python hands them on; every offset as it was. */
Test(include_closure, of_a_python_script_the_cuda_is_kept) {
    static const struct {
        const char *script, *cuda;
    } cases[] = {
        {"import cupy # it's \"\"\"\nk = RawKernel(r'''\n__global__ void k() {}\n''')\n",
         "                      \n                  \n__global__ void k() {}\n    \n"},
        {"s = \"\"\"void host();\"\"\"\nd = f\"\"\"__device__ int n = {{1}};\"\"\"\n",
         "                      \n        __device__ int n =  {1 };   \n"},
        {"a = \"\"\"#define A \\\\\n 1 // \\\"\\\"\\\"\n__global__ void k();\"\"\"",
         "       #define A  \\\n 1 // \\\"\\\"\\\"\n__global__ void k();   "},
        {"from torch.utils.cpp_extension import load_inline\n"
         "m = load_inline(cuda_sources='''__global__ void k();''')\n",
         "#include <torch/extension.h>                     \n"
         "                                __global__ void k();    \n"},
        {"x = 'unclosed\ny = \"\"\"__global__ without an end\n",
         "             \n       __global__ without an end\n"},
        {"g = '*/*.cu'\nk = '''\n#include <a.h>\n__global__ void k();\n'''\n",
         "            \n       \n#include <a.h>\n__global__ void k();\n   \n"},
        {"print('__global__')\n", "                   \n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        struct include_closure c;
        const struct include_options none = {0};
        const char *script = cases[i].script;
        cr_assert(zero(int, include_closure_build(NULL, "m.py", script, strlen(script),
                                                  &none, &c, &err)));
        cr_expect(eq(str, c.sources.files[0].text, (char *)cases[i].cuda));
        cr_expect(eq(str, c.sources.files[0].original, (char *)script));
        include_closure_finish(&c);
    }
}
