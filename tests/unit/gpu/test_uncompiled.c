/* kernel/check says what was not compiled: templates, headers, strings of a script. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check_answers.h"
#include "check_room.h"

#include <criterion/criterion.h>
#include <string.h>

/* Of a quick check that compiled something, the summary also says whose figures it has. */
static void expect_summary(const json_t *result, const char *full, bool quick) {
    const char *kernel = strstr(full, "1 kernel");
    const char *rest = kernel ? kernel + strlen("1 kernel") : full;
    autobuf expected = BUF_INIT(512);
    buf_add(&expected, full, (size_t)(rest - full));
    buf_adds(&expected, kernel && quick ? "; quick: registers and occupancy are those of "
                                          "unoptimized code"
                                        : "");
    buf_adds(&expected, rest);
    cr_expect_str_eq(json_get_string(result, "summary", ""), expected.data);
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
         "not checked",
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
         "checked",
         false, true},
        {"#define DEVICE __device__ inline\nDEVICE int f() { return 1; }\n",
         "nothing_compiled", "nothing was compiled: no kernel here uses the device code",
         false, false},
        {"", "no_kernels", "there is no device code, so nothing was compiled", true,
         false},
        {"__global__ void k(int *);\n__constant__ int c = 1;\n", "no_kernels",
         "there is no device code, so nothing was compiled", true, false},
        {"int q = ;\n__global__ void k(int *x) { *x = 1; }\n", NULL,
         "device code ok: 1 kernel; host code not checked", true, true},
        {"__global__ void k(int *x) { *x = 1; }\nvoid host() { int x = ; }\n", NULL,
         "device code ok: 1 kernel; host code not checked", true, true},
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
         "not checked",
         false, true},
        {"#define CAT(a, b) a##b\nint CAT(x, 1)() { return 1; }\n", "no_kernels",
         "there is no device code, so nothing was compiled; host code not checked",
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
        expect_summary(result, rows[row].summary, i % 2);
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
        "code not checked",
        "there is no device code, so nothing was compiled; host code not checked"};
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
