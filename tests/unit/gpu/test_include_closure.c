#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/source/include_closure.h"
#include "gpu/source/include_directives.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(include_closure, .timeout = 60);

/* A project in a fresh folder: proj/src, proj/include and, outside it, out/secret.txt. */
struct project {
    char dir[64];
    char *proj, *include;
    const char *roots[2], *dirs[2];
    struct include_options options;
    struct include_closure closure;
};

static void put(const struct project *p, const char *rel, const char *text) {
    struct root r;
    struct err err = {0};
    cr_assert(zero(int, root_open(&r, p->dir, &err)), "%s", err.msg);
    cr_assert(zero(int, root_write(&r, rel, text, strlen(text), 0644, &err)), "%s",
              err.msg);
    root_close(&r);
}

static void project_open(struct project *p) {
    memset(p, 0, sizeof *p);
    strcpy(p->dir, "/tmp/include-closure-XXXXXX");
    cr_assert_not_null(mkdtemp(p->dir));
    p->proj = xasprintf("%s/proj", p->dir);
    p->include = xasprintf("%s/proj/include", p->dir);
    p->roots[0] = p->proj;
    p->dirs[0] = p->include;
    p->options = (struct include_options){.roots = p->roots, .include_dirs = p->dirs};
    put(p, "proj/src/.keep", "");
    put(p, "proj/include/.keep", "");
    put(p, "out/secret.txt", "the secret\n");
}

static void project_close(struct project *p) {
    include_closure_finish(&p->closure);
    dir_remove(p->dir, NULL);
    free(p->proj);
    free(p->include);
}

static int build_unit(struct project *p, const char *text) {
    put(p, "proj/src/k.cu", text);
    autofree char *path = xasprintf("%s/src/k.cu", p->proj);
    struct err err = {0};
    include_closure_finish(&p->closure);
    int r =
        include_closure_build(path, "src/k.cu", NULL, 0, &p->options, &p->closure, &err);
    if (r == 0) {
        include_closure_find_prefix(&p->closure);
    }
    return r;
}

static const struct source_file *file(const struct project *p, const char *path) {
    return source_set_find(&p->closure.sources, path);
}

/* "code@line:column …" */
static char *spell_findings(const struct project *p) {
    struct buf out = BUF_INIT(1u << 16);
    size_t i;
    json_t *f;
    json_array_foreach(p->closure.findings, i, f) {
        buf_addf(&out, "%s%s@%d:%d", i ? " " : "", json_get_string(f, "code", ""),
                 (int)json_get_integer(f, "line", 0),
                 (int)json_get_integer(f, "column", 0));
        cr_expect(eq(str, (char *)json_get_string(f, "severity", ""), "error"));
        cr_expect(eq(str, (char *)json_get_string(f, "source", ""), "upskilld"));
    }
    return buf_detach(&out);
}

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

Test(include_closure, what_leads_out_is_a_finding_and_hidden_from_the_compiler) {
    struct project p;
    project_open(&p);
    autofree char *link = xasprintf("%s/src/link.h", p.proj);
    autofree char *fifo = xasprintf("%s/src/fifo.h", p.proj);
    autofree char *folder = xasprintf("%s/src/folder.h", p.proj);
    cr_assert(zero(int, symlink("../../out/secret.txt", link)));
    cr_assert(zero(int, mkfifo(fifo, 0600)));
    cr_assert(zero(int, mkdir(folder, 0700)));
    const char *source = "#include \"/etc/passwd\"\n"
                         "  #include \"../../out/secret.txt\"\n"
                         "#include <../../out/secret.txt>\n"
                         "#include \"link.h\" // why\n"
                         "#include \"fifo.h\"\n"
                         "#include \"folder.h\"\n"
                         "#define NAME PRE \"a.h\"\n"
                         "#include NAME\n"
                         "# \\\n include \"/etc/hosts\"\n"
                         "%:include </etc/hostname>\n"
                         "// not one \\\n#include \"/etc/passwd\"\n"
                         "/* x */ #include_next \"/etc/passwd\"\n"
                         "#import \"/etc/passwd\"\n";
    cr_assert(zero(int, build_unit(&p, source)));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(
        str, findings,
        "include_outside_roots@1:1 include_outside_roots@2:3 include_outside_roots@3:1 "
        "include_outside_roots@4:1 include_not_regular@5:1 "
        "include_outside_roots@9:1 include_outside_roots@11:1 "
        "include_outside_roots@14:9 include_outside_roots@15:1 include_computed@8:1"));
    /* a folder is no file of that name: the compiler looks on, and says what it misses */
    const struct source_file *unit = &p.closure.sources.files[0];
    cr_expect_not_null(strstr(unit->text, "#include \"folder.h\""));
    cr_expect(eq(sz, p.closure.sources.count, 1));
    cr_expect_null(strstr(unit->text, "passwd\"\n#"));
    cr_expect_null(strstr(unit->text, "etc/host"));
    cr_expect_null(strstr(unit->text, "secret"));
    cr_expect_null(strstr(unit->text, "include NAME"));
    cr_expect(eq(str, unit->original, (char *)source));
    cr_expect(eq(sz, strlen(unit->text), strlen(source)));
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
    autofree char *inc = xasprintf("common/x.h is taken from %s/inc, which nobody named: "
                                   "give the folder by -I where it is the right one",
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
        "#endif\n#include OFTEN_TOLD\n";
    cr_assert(zero(int, build_unit(&p, source)));
    cr_expect(
        eq(str, p.closure.sources.files[0].text,
           "#include<sys/cassert> // std\n"
           "  #include<cstdint>     \n"
           "#include \"mine.h\"\n"
           "                          \n"
           "#ifdef A\n#define OFTEN_TOLD <cerrno>\n#else\n#define OFTEN_TOLD // no\n"
           "#endif\n#include<cerrno>   \n"));
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

Test(include_closure, existence_outside_the_roots_can_not_be_asked_for) {
    struct project p;
    project_open(&p);
    put(&p, "proj/src/there.h", "");
    cr_assert(zero(
        int, build_unit(
                 &p, "#if __has_include(\"/etc/passwd\") || \\\n"
                     "  __has_include(<../../out/secret.txt>)\n"
                     "#elif __has_include(\"there.h\") && __has_include(<cuda_fp16.h>)\n"
                     "#endif\n")));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(str, findings, "include_outside_roots@1:19 include_outside_roots@2:17"));
    cr_expect(eq(str, p.closure.sources.files[0].text,
                 "#if __has_include(\"___________\") || \\\n"
                 "  __has_include(<____________________>)\n"
                 "#elif __has_include(\"there.h\") && __has_include(<cuda_fp16.h>)\n"
                 "#endif\n"));
    cr_expect_not_null(file(&p, "r0/src/there.h"));

    cr_assert(zero(int, build_unit(&p, "#if __has_\\\ninclude(\"/etc/passwd\")\n#endif\n"
                                       "#define ASK __has_include(</etc/passwd>)\n"
                                       "#if __has_include(NAME)\n#endif\n")));
    autofree char *more = spell_findings(&p);
    cr_expect(
        eq(str, more,
           "include_outside_roots@2:9 include_outside_roots@4:27 include_computed@5:19"));
    cr_expect_null(strstr(p.closure.sources.files[0].text, "passwd"));
    cr_expect_null(strstr(p.closure.sources.files[0].text, "NAME"));

    /* a macro that asks for what it is given is told "no" */
    cr_assert(zero(int, build_unit(&p, "#ifdef __has_include\n"
                                       "# define HAS(x) (__has_include( x ) && 1)\n"
                                       "#endif\n#if HAS(\"/etc/passwd\")\n#endif\n")));
    autofree char *none = spell_findings(&p);
    cr_expect(eq(str, none, ""));
    cr_expect_not_null(strstr(p.closure.sources.files[0].text,
                              "# define HAS(x) (                 0 && 1)\n"));
    project_close(&p);
}

/* In each of these NVRTC was seen to take the include, in some standard, where C++17 has
 * a comment, a literal or nothing. */
Test(include_closure, no_include_is_left_that_only_the_compiler_sees) {
    static const struct {
        const char *source, *settled;
    } cases[] = {
        {"?\?=include \"/etc/passwd\"\n", "? =include \"/etc/passwd\"\n"},
        {"?\?\?=include <a.h>\n", "?? =include <a.h>\n"},
        {"char a[] = \"?\?/\" /*\";\n#include <x>\n//*/\n",
         "char a[] = \"? /\" /*\";\n_include <x>\n//*/\n"},
        {"char a[] = R\"(\n#include <x>\n)\";\n",
         "char a[] = R\"(\n_include <x>\n)\";\n"},
        {"int a=0'a/*'/**/;\n # include <x>\n//*/\n",
         "int a=0'a/*'/**/;\n # include <x>\n//*/\n"},
        {"int a=0'a/*';\n # include <x>\n//*/\n",
         "int a=0'a/*';\n _ include <x>\n//*/\n"},
        {"#if 0\n0'a/*'\n#endif\n#include <x>\n//*/\n",
         "#if 0\n0'a/*'\n#endif\n_include <x>\n//*/\n"},
        {"0'a/*'\n/**/#include <x>\n", "0'a/*'\n/**/_include <x>\n"},
        {"0'a/*'\n%:import <x>\n", "0'a/*'\n_:import <x>\n"},
        {"0'a/*'\n%\\\n:/* */\\\nin\\\nclude <x>\n",
         "0'a/*'\n_\\\n:/* */\\\nin\\\nclude <x>\n"},
        {"#define X 0'a/*'\n#include <x>\n//*/\n",
         "#define X 0'a/*'\n_include <x>\n//*/\n"},
        {"#define A(x) #x x##include\nint b = a % include;\n",
         "#define A(x) #x x##include\nint b = a % include;\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *text = xstrdup(cases[i].source);
        bool changed = source_text_settle(text, strlen(text));
        cr_expect(eq(str, text, (char *)cases[i].settled));
        cr_expect(eq(int, changed, strcmp(cases[i].source, cases[i].settled) != 0));
    }
}

/* The compiler would look for it from CUDA's own folders on. */
Test(include_closure, names_that_lead_up_are_found_or_hidden) {
    struct err err = {0};
    struct include_closure c;
    const struct include_options none = {0};
    const char *text = "#include \"../../../../etc/passwd\"\n"
                       "#include <../../../../etc/passwd>\n"
                       "#include <x/../../../../etc/passwd>\n"
                       "#if __has_include(<../../../../etc/passwd>)\n#endif\n"
                       "#define _WIN32\n#ifdef _WIN32\n"
                       "#include <x/../../../etc/passwd>\n#endif\n";
    cr_assert(zero(
        int, include_closure_build(NULL, "k.cu", text, strlen(text), &none, &c, &err)));
    cr_expect_null(strstr(c.sources.files[0].text, "passwd"));
    cr_expect(eq(sz, json_array_size(c.findings), 3));
    include_closure_finish(&c);

    struct project p;
    project_open(&p);
    cr_assert(zero(int, build_unit(&p, "#include \"../missing.h\"\n"
                                       "#if __has_include(\"../missing.h\")\n#endif\n")));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(str, findings, "include_not_found@1:1"));
    cr_expect_null(strstr(p.closure.sources.files[0].text, "missing"));
    project_close(&p);
}

/* Looking at every '#' is bounded work. */
Test(include_closure, hashes_before_endless_comments_take_bounded_time) {
    struct buf text = BUF_INIT(SOURCE_SET_MAX_BYTES);
    while (text.len < (4u << 20)) {
        buf_adds(&text, "#/*");
    }
    struct err err = {0};
    struct include_closure c;
    const struct include_options none = {0};
    cr_assert(zero(
        int, include_closure_build(NULL, "k.cu", text.data, text.len, &none, &c, &err)));
    include_closure_finish(&c);
    buf_finish(&text);
}

/* Nor are the lines of a large text counted anew for every finding. */
Test(include_closure, many_findings_in_a_large_text_take_bounded_time) {
    struct buf text = BUF_INIT(SOURCE_SET_MAX_BYTES);
    while (text.len < (8u << 20)) {
        buf_adds(&text, "\n\n\n\n\n\n\n\n");
    }
    for (int i = 0; i < 200; i++) {
        buf_adds(&text, "#include \"/etc/passwd\"\n");
    }
    struct err err = {0};
    struct include_closure c;
    const struct include_options none = {0};
    uint64_t start = clock_ms();
    cr_assert(zero(
        int, include_closure_build(NULL, "k.cu", text.data, text.len, &none, &c, &err)));
    cr_log_info("%u ms", (unsigned)(clock_ms() - start));
    cr_expect(lt(u64, clock_ms() - start, 60000));
    cr_expect(eq(sz, json_array_size(c.findings), 200));
    const json_t *last = json_array_get(c.findings, 199);
    cr_expect(eq(int, (int)json_get_integer(last, "line", 0), (8 << 20) + 200));
    include_closure_finish(&c);
    buf_finish(&text);
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

Test(include_closure, a_unit_that_can_not_be_read_is_an_error) {
    struct project p;
    project_open(&p);
    struct err err = {0};
    autofree char *missing = xasprintf("%s/src/missing.cu", p.proj);
    cr_expect(
        eq(int,
           include_closure_build(missing, "m.cu", NULL, 0, &p.options, &p.closure, &err),
           -ENOENT));
    autofree char *up = xasprintf("%s/src/link.cu", p.proj);
    cr_assert(zero(int, symlink("/etc/passwd", up)));
    cr_expect(lt(int,
                 include_closure_build(up, "l.cu", NULL, 0, &p.options, &p.closure, &err),
                 0));
    memset(&p.closure, 0, sizeof p.closure);
    project_close(&p);
}

Test(include_closure, depth_and_number_are_bounded) {
    struct project p;
    project_open(&p);
    for (int i = 0; i < 80; i++) {
        autofree char *name = xasprintf("proj/src/d%d.h", i);
        autofree char *text = xasprintf("#include \"d%d.h\"\n", i + 1);
        put(&p, name, text);
    }
    cr_assert(zero(int, build_unit(&p, "#include \"d0.h\"\n")));
    autofree char *findings = spell_findings(&p);
    cr_expect(eq(str, findings, "include_too_deep@1:1"));
    cr_expect(eq(sz, p.closure.sources.count, 65));

    struct buf many = BUF_INIT(1u << 22);
    for (int i = 0; i < 21000; i++) {
        buf_addf(&many, "#include \"n%d.h\"\n", i);
    }
    cr_assert(zero(int, build_unit(&p, many.data)));
    cr_expect(gt(sz, json_array_size(p.closure.findings), 0));
    cr_expect(le(sz, json_array_size(p.closure.findings), 200));
    buf_finish(&many);
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
