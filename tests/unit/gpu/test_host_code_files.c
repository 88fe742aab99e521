/* Host code of real and of many files: what the files of a compilation know of each
 * other, NVRTC and nvcc as judges, time. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/include_directives.h"
#include "gpu/source/shims.h"
#include "gpu/source/source_set.h"
#include "host_code_room.h"
#include "nvrtc_probe.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <jansson.h>
#include <string.h>

TestSuite(host_code);

Test(host_code, files_of_one_compilation_know_each_others_macros) {
    struct source_set s = {0};
    const char *unit =
        "#include \"a.h\"\nANYWHERE int f() { return 1; }\nint g() { return 2; }\n";
    const char *header = "#define ANYWHERE __host__ __device__\nint h();\n";
    cr_assert(zero(int, source_set_add(&s, "r0/k.cu", NULL, unit, strlen(unit), NULL)));
    cr_assert(
        zero(int, source_set_add(&s, "r0/a.h", NULL, header, strlen(header), NULL)));
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    cr_expect(h.has_host_code);
    cr_expect_not_null(strstr(s.files[0].text, "ANYWHERE int f() { return 1; }"));
    cr_expect_null(strstr(s.files[0].text, "g()"));
    cr_expect_null(strstr(s.files[1].text, "h()"));
    cr_expect(eq(str, s.files[0].original, (char *)unit));
    cr_expect(eq(str, s.files[1].original, (char *)header));
    host_code_finish(&h);
    source_set_finish(&s);
}

/* The macro that dispatches is most often in a header. */
/* A header's functions of the host are gone from the using-declarations of others, but
 * those that the device has too. */
Test(host_code, files_of_one_compilation_know_what_went_from_headers) {
    struct source_set s = {0};
    const char *unit = "#include \"a.h\"\nusing n::launch;\nusing n::both;\n"
                       "using n::fast;\n__device__ int x = both(1);\nvoid f();\n";
    const char *header = "namespace n { void launch(int); int both(float);\n"
                         "__device__ int both(int); __device__ int fast(); }\n";
    cr_assert(zero(int, source_set_add(&s, "r0/k.cu", NULL, unit, strlen(unit), NULL)));
    cr_assert(
        zero(int, source_set_add(&s, "r0/a.h", NULL, header, strlen(header), NULL)));
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    cr_expect_null(strstr(s.files[0].text, "launch"));
    cr_expect_not_null(strstr(s.files[0].text, "using n::both;"));
    cr_expect_not_null(strstr(s.files[0].text, "using n::fast;"));
    cr_expect_null(strstr(s.files[1].text, "launch"));
    host_code_finish(&h);
    source_set_finish(&s);
}

/* A using-declaration of what the same file keeps for the device stays, whatever of that
 * name went from another header. */
Test(host_code, what_went_elsewhere_says_nothing_of_a_member_that_stays) {
    struct source_set s = {0};
    const char *unit = "#include \"a.h\"\n#include \"b.h\"\n";
    const char *a = "struct A { __device__ static int size(); };\n"
                    "struct B : A { using A::size; };\n";
    const char *b = "struct C { int size(); };\n";
    cr_assert(zero(int, source_set_add(&s, "r0/k.cu", NULL, unit, strlen(unit), NULL)));
    cr_assert(zero(int, source_set_add(&s, "r0/a.h", NULL, a, strlen(a), NULL)));
    cr_assert(zero(int, source_set_add(&s, "r0/b.h", NULL, b, strlen(b), NULL)));
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    cr_expect_not_null(strstr(s.files[1].text, "using A::size;"));
    cr_expect_null(strstr(s.files[2].text, "size"));
    host_code_finish(&h);
    source_set_finish(&s);
}

/* cuRAND's ask for NVRTC themselves, and include what looks like the host's. */
Test(host_code, headers_that_are_made_for_nvrtc_stay) {
    static const struct {
        const char *path, *text;
        bool stays;
    } headers[] = {
        {"r1/curand_kernel.h",
         "#ifdef __CUDACC_RTC__\n#endif\n#include \"curand.h\"\nint f();\n", true},
        {"r1/curand_mine.h", "#include \"curand.h\"\nint f();\n", false},
        {"r1/mine.h", "#ifdef __CUDACC_RTC__\n#endif\n#include \"curand.h\"\n", false},
    };
    struct source_set s = {0};
    cr_assert(zero(int, source_set_add(&s, "r0/k.cu", NULL, "int f();\n", 9, NULL)));
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        cr_assert(zero(int, source_set_add(&s, headers[i].path, NULL, headers[i].text,
                                           strlen(headers[i].text), NULL)));
    }
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        bool same = strcmp(s.files[i + 1].text, headers[i].text) == 0;
        cr_expect(eq(int, same, headers[i].stays), "%s", headers[i].path);
    }
    host_code_finish(&h);
    source_set_finish(&s);
}

static void read_source(const char *folder, const char *name, struct buf *out) {
    autofree char *path = xasprintf("%s/%s", folder, name);
    struct err err = {0};
    cr_assert(zero(int, file_read(path, out, &err)), "%s", err.msg);
    source_text_settle(out->data, out->len);
}

static bool is_cuda(const char *name) {
    size_t len = strlen(name);
    return len > 3 && strcmp(name + len - 3, ".cu") == 0;
}

Test(host_code, pure_device_files_are_left_as_they_are) {
    DIR *dir = opendir(TEST_KERNELS);
    int seen = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!is_cuda(e->d_name)) {
            continue;
        }
        struct buf text = BUF_INIT(1u << 20);
        read_source(TEST_KERNELS, e->d_name, &text);
        struct host_code h;
        host_code_scan(text.data, text.len, &h);
        cr_expect(not(h.has_host_code), "%s", e->d_name);
        cr_expect(gt(sz, h.kernel_count, 0), "%s", e->d_name);
        host_code_finish(&h);
        buf_finish(&text);
        seen++;
    }
    closedir(dir);
    cr_assert(gt(int, seen, 20));
}

static void compare_with_nvcc(const char *name, const json_t *want) {
    struct buf text = BUF_INIT(1u << 20);
    read_source(TEST_KERNELS "/full", name, &text);
    bool newer = strstr(text.data, "-std=c++20");
    struct host_code h;
    host_code_blank(text.data, text.len, &h);
    cr_expect(h.has_host_code, "%s", name);
    autofree char *once = xstrdup(text.data);
    struct host_code again;
    host_code_blank(text.data, text.len, &again);
    host_code_finish(&again);
    cr_expect(eq(str, text.data, once), "%s changes when blanked twice", name);
    const char *options[] = {newer ? "-std=c++20" : "-std=c++17",
                             h.needs_default_device ? "-default-device" : NULL, NULL};
    host_code_finish(&h);
    struct nvrtc_probe_result r;
    autofree char *path = xasprintf("%s/full/%s", TEST_KERNELS, name);
    nvrtc_probe_compile(path, text.data, shims, shim_count, options, &r);
    cr_expect(r.ok, "%s: %s", name, r.log);
    cr_expect(eq(int, nvrtc_probe_kernels(&r), (int)json_object_size(want)), "%s", name);
    const char *symbol;
    json_t *facts;
    json_object_foreach((json_t *)(uintptr_t)want, symbol, facts) {
        int registers = nvrtc_probe_registers(&r, symbol);
        cr_expect(eq(int, registers,
                     (int)json_integer_value(json_object_get(facts, "registers"))),
                  "%s in %s", symbol, name);
    }
    nvrtc_probe_finish(&r);
    buf_finish(&text);
}

/* golden.json holds what nvcc 13.0 made of the full files; check_stripping.py writes it.
 */
Test(host_code, stripped_files_have_the_kernels_and_registers_that_nvcc_gives,
     .timeout = 120) {
    json_t *golden = json_load_file(TEST_KERNELS "/full/golden.json", 0, NULL);
    cr_assert_not_null(golden);
    cr_expect(ge(sz, json_object_size(golden), 19));
    if (nvrtc_probe_missing()) {
        json_decref(golden);
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    const char *name;
    json_t *kernels;
    json_object_foreach(golden, name, kernels) {
        compare_with_nvcc(name, kernels);
    }
    json_decref(golden);
}

/* Their headers are on few machines, so nvcc gives no figures: the kernels must compile.
 */
Test(host_code, extensions_compile_without_their_libraries, .timeout = 60) {
    static const struct {
        const char *name;
        int kernels;
    } cases[] = {{"torch_extension.cu", 2}, {"torch_device.cu", 2}, {"gtest_file.cu", 1}};
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf text = BUF_INIT(1u << 20);
        read_source(TEST_KERNELS "/strip_only", cases[i].name, &text);
        struct host_code h;
        host_code_blank(text.data, text.len, &h);
        host_code_finish(&h);
        struct nvrtc_probe_result r;
        nvrtc_probe_compile(cases[i].name, text.data, shims, shim_count, NULL, &r);
        cr_expect(r.ok, "%s", r.log);
        cr_expect(eq(int, nvrtc_probe_kernels(&r), cases[i].kernels), "%s", r.log);
        nvrtc_probe_finish(&r);
        buf_finish(&text);
    }
}

/* Each repeated to a megabyte: nothing may be quadratic. */
Test(host_code, long_hostile_texts_take_linear_time, .timeout = 300) {
    static const char *const units[] = {
        "(",
        "{",
        "}",
        "a<",
        "struct ",
        "template<",
        "#if 1\n{\n",
        "A(",
        "struct a{",
        "x<<<",
        "int f(){}",
        "#define A __device__\n",
        "requires(",
        "operator",
        "namespace a{",
        "#if 0\n",
        "try{}catch(",
        ":a{",
        "k<a>",
        "template<class T>__global__ void k(){}int f(){k<T>();}",
        "using A=std::vector<int>;",
        "template<class T>__global__ void k(){}\n#define A(x) k<x><<<1,1>>>()\nint "
        "f(){A(A(A(int;}",
        "template<class T>__global__ void k(){}\n#define A(x) k<x><<<x>>>(A(x))\nint "
        "f(){A(A(int));}",
        "template<class T>__global__ void k(){}template<class T>int f(){k<T><<<1>>>();}\n"
        "#define B(x) {f<x>();}\nint g(){B(int)X_DISPATCH(a,b,{f<b>();})}"};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        struct buf text = BUF_INIT(1u << 24);
        while (text.len < 1u << 20) {
            buf_adds(&text, units[i]);
        }
        struct host_code h;
        host_code_blank(text.data, text.len, &h);
        host_code_finish(&h);
        buf_finish(&text);
    }
}

static void blank_two(const char *unit, const char *header, struct source_set *ret) {
    *ret = (struct source_set){0};
    struct host_code h;
    struct host_guesses guesses;
    cr_assert(zero(int, source_set_add(ret, "r0/k.cu", NULL, unit, strlen(unit), NULL)));
    cr_assert(
        zero(int, source_set_add(ret, "r0/a.h", NULL, header, strlen(header), NULL)));
    host_code_blank_sources(ret, &h, &guesses);
    host_guesses_finish(&guesses);
    host_code_finish(&h);
}

/* What is made of a type that goes goes too, in other files and whichever comes first;
 * what a file calls so itself is something else, and so is a template that is specialized
 * for one. */
Test(host_code, users_of_a_type_of_the_host_go_with_it) {
    static const char header[] = "#include \"k.cu\"\n"
                                 "using handle = cublasHandle_t;\n"
                                 "typedef struct plan_ { handle h; } plan, *plan_ptr;\n"
                                 "struct context { handle h; };\n"
                                 "template <> struct Traits<context> { handle h; };\n"
                                 "struct Arguments { handle h; Arguments(); };\n"
                                 "namespace lib { template <class T> struct owner { "
                                 "handle h; }; }\n";
    static const char unit[] = "#include \"a.h\"\n"
                               "typedef void (*call)(context &c);\n"
                               "struct user { context *c; };\n"
                               "struct planner { plan_ptr p; };\n"
                               "template <class T> using alias = lib::owner<T>;\n"
                               "struct caller { call f; };\n"
                               "struct Traits3 { Traits<int> t; };\n"
                               "struct Op { struct Arguments { int n; };\n"
                               "  using B = typename Scale<int>::Arguments; Arguments a; "
                               "};\n";
    struct source_set s;
    blank_two(unit, header, &s);
    cr_expect_null(strstr(s.files[1].text, "struct"), "%s", s.files[1].text);
    static const char *const gone[] = {"typedef", "user", "planner", "caller", "alias"};
    for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
        cr_expect_null(strstr(s.files[0].text, gone[i]), "%s", s.files[0].text);
    }
    cr_expect_not_null(strstr(s.files[0].text, strstr(unit, "struct Traits3")), "%s",
                       s.files[0].text);
    source_set_finish(&s);
}

/* A table of functions that went, and what a decltype alone asks for. */
Test(host_code, a_decltype_wants_no_body_and_a_table_its_functions) {
    static const struct blank_case cases[] = {
        {"int a(int); static const ops table = {.run = a, 1};\nstruct S { int x; };",
         "struct S { int x; };"},
        {"int a(int); const int b = o.a + o->a;", "const int b = o.a + o->a;"},
        {"struct Owner { boost::shared_ptr<int> p; };\nstruct S { int x_ptr; };",
         "struct S { int x_ptr; };"},
        {"static const half one = 1.0;\nstruct S { int x; };", "struct S { int x; };"},
        {"const ComplexTransform x = T;\nint f() {}", "const ComplexTransform x = T;"},
        {"int size(int n) { throw n; }\nusing T = decltype(size(1));",
         "int size(int n) ; using T = decltype(size(1));"},
        {"auto size(int n) { return n; }\nusing T = decltype(size(1));", NULL},
    };
    check_cases(cases, ARRAY_LEN(cases) - 1);
    autofree char *text = xstrdup(cases[ARRAY_LEN(cases) - 1].text);
    struct host_code h;
    host_code_blank(text, strlen(text), &h);
    cr_expect(eq(str, text, (char *)cases[ARRAY_LEN(cases) - 1].text));
    host_code_finish(&h);
}
