/* Includes that are out to hurt: what leads out, hides or multiplies, and the time that
 * it takes. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/source/include_closure.h"
#include "gpu/source/include_directives.h"
#include "include_room.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(include_closure, .timeout = 60);

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
