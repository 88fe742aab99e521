/* Which instantiations of its template kernels a source's host code asks for. */
#include "base/buf.h"
#include "base/mem.h"
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_joint.h"
#include "gpu/source/source_set.h"
#include "host_code_blank.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(host_launches);

/* The kernels that are asked for in what is left of a file: "k<float>;k<int>;". */
static char *asked(const char *text) {
    autofree char *left = xstrdup(text);
    struct host_code h;
    host_code_blank(left, strlen(left), &h);
    host_code_finish(&h);
    struct buf out = BUF_INIT(1u << 16);
    for (const char *at = left; (at = strstr(at, "static_assert(&"));) {
        at += strlen("static_assert(&");
        buf_add(&out, at, strcspn(at, "\""));
        out.data[out.len - 1] = ';';
    }
    return buf_detach(&out);
}

#define KERNELS                                                                          \
    "template <class T, int N> __global__ void k(T *p) {}\n"                             \
    "template <class T> __global__ void q(T *p) {}\n"
#define ROOM "/*                                                                    */"

Test(host_launches, launches_through_macros_of_the_file_ask_for_instantiations) {
    static const struct {
        const char *text, *asked;
    } cases[] = {
        {KERNELS "#define LAUNCH(N) k<float, N><<<grid, N>>>(p)\n"
                 "void f(float *p, int n) { switch (n) { case 64: LAUNCH(64); break;\n"
                 "case 128: LAUNCH(128); break; default: LAUNCH(n); } }",
         "k<float, 64>;k<float, 128>;"},
        {KERNELS "#define RUN(T, N, ...) do { \\\n  k<T, N><<<1, N>>>(__VA_ARGS__); "
                 "\\\n} while (0)\n#define BOTH(T) RUN(T, 1, p); RUN(T, 2, p)\n"
                 "void f(void *p) { BOTH(unsigned char); " ROOM "}",
         "k<unsigned char, 1>;k<unsigned char, 2>;"},
        {KERNELS "#define L(KERNEL, n) KERNEL##_##n<<<1, n>>>(#n), q<KERNEL##_t><<<1, "
                 "n>>>(0)\nvoid f() { L(int, 8); " ROOM "}",
         "q<int_t>;"},
        {KERNELS "#define SWITCH(C, NAME, ...) [&] { if (C) { constexpr static int NAME "
                 "= 1; return __VA_ARGS__(); } else { constexpr static int NAME = 2; "
                 "return __VA_ARGS__(); } }()\n"
                 "template <class T> void run(T *p, bool c) { SWITCH(c, N, [&] { k<T, "
                 "N><<<1, 1>>>(p); }); }\nvoid f() { run<int>(0, 1); " ROOM "}",
         "k<int, 1>;k<int, 2>;"},
        {KERNELS "template <int N> void run(int *p) { k<int, N><<<1, 1>>>(p); }\n"
                 "#define CASE(n) case n: run<n>(p); break\n"
                 "void f(int *p, int n) { switch (n) { CASE(32); CASE(64); } }",
         "k<int, 32>;k<int, 64>;"},
        {KERNELS "#define L(N) k<int, N><<<1, 1>>>(p)\nvoid f(int *p) { L(1); " ROOM "}\n"
                 "#undef L\n#define L(N) k<float, N><<<1, 1>>>(p)\n"
                 "void g(float *p) { L(1); " ROOM "}",
         "k<int, 1>;k<float, 1>;"},
        {KERNELS "#define LAUNCHER(NAME, T) void NAME(T *p) { q<T><<<1, 1>>>(p); }\n"
                 "LAUNCHER(launch_the_forward_pass_in_single_precision, float)\n",
         "q<float>;"},
        /* code without braces as an argument, and a name that a number completes */
        {KERNELS "#define SWITCH(t, N, ...) switch (t) { case 0: { using type_##N = int; "
                 "__VA_ARGS__; break; } }\n"
                 "void f(int t, void *p) { SWITCH(t, 7, q<type_7><<<1, 1>>>(p)); " ROOM
                 "}",
         "q<int>;"},
        /* a constant counts from where it stands, and an overload where it is meant */
        {KERNELS "void f(int *p, bool b) { if (b) { constexpr int N = 1;\n"
                 "k<int, N><<<1, 1>>>(p); " ROOM "} else { constexpr int N = 2;\n"
                 "k<float, N><<<1, 1>>>(0); " ROOM "} }",
         "k<int, 1>;k<float, 2>;"},
        {KERNELS
         "template <class T> void run(int n, T *p, int m) { q<T><<<1, 1>>>(p); }\n"
         "void run(int n, char *p) { run(n, (int *)p, 0); " ROOM "}\n"
         "void f(char *c) { run(1, c); " ROOM "}",
         "q<int>;"},
        /* names of a namespace within the caller's, and a pointer to a function */
        {"namespace in { const int SIZE = 4;\n"
         "template <class T, int N, int (*F)(int)> __global__ void r(T *p) {}\n"
         "template <class T> void run(T *p) { constexpr int (*F)(int) = nullptr;\n"
         "r<T, SIZE, F><<<1, 1>>>(p); " ROOM ROOM "}\n}\n"
         "void f(float *p) { in::run<float>(p); }",
         "in::r<float, SIZE, nullptr>;"},
        /* a function as the template's argument */
        {"template <void (*F)(const float *)> __global__ void r() {}\n"
         "__device__ void one(const float *x) {}\n"
         "template <void (*F)(const float *)> void run() { r<F><<<1, 1>>>(); }\n"
         "void f() { run<one>(); " ROOM "}",
         "r<one>;"},
        /* depends on what only runs */
        {KERNELS "#define V(f) visit([&](auto v) { k<int, v.value><<<1, 1>>>(0); }, f)\n"
                 "void f(int n) { V(n); " ROOM "}",
         ""},
        /* no end of nesting */
        {KERNELS "#define A(x) B(x) q<x><<<1, 1>>>()\n#define B(x) A(x) q<x><<<1, "
                 "1>>>()\nvoid f() { A(int); " ROOM "}",
         "q<int>;"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = asked(cases[i].text);
        cr_expect(eq(str, got, (char *)cases[i].asked), "of: %s", cases[i].text);
    }
}

Test(host_launches, launches_without_template_arguments_ask_for_what_plain_types_tell) {
    static const struct {
        const char *text, *asked;
    } cases[] = {
        {KERNELS "int main() { float *a, *b = nullptr; q<<<1, 1>>>(b); " ROOM "}",
         "q<float>;"},
        {KERNELS "void f(const double *x) { q<<<1, 1>>>(x); " ROOM "}",
         "q<const double>;"},
        {KERNELS "void f(at::Tensor x) { q<<<1, 1>>>(x.data_ptr<long>()); " ROOM "}",
         "q<long>;"},
        {KERNELS "void f(void *x) { q<<<1, 1>>>((unsigned char *)x); " ROOM "}",
         "q<unsigned char>;"},
        {KERNELS "#define GO(...) q<<<1, 1>>>(__VA_ARGS__)\nvoid f(int n) { int **x; "
                 "GO(x + n); " ROOM "}",
         "q<int*>;"},
        {"template <class T, class I = int> __global__ void r(const T *__restrict__ x, "
         "T a, I n) {}\nvoid f(const half *x, half a, size_t n) { r<<<1, 1>>>(x, a, "
         "n); " ROOM "}",
         "r<half, size_t>;"},
        {"template <class T> __global__ void s(T a, int n) {}\n"
         "void f() { s<<<1, 1>>>(2.0f, 1); s<<<1, 1>>>(1e3, 1); s<<<1, 1>>>(7, 1); " ROOM
             ROOM "}",
         "s<float>;s<double>;s<int>;"},
        /* through a host template that is called without arguments, too */
        {KERNELS "template <class T> void run(T *x) { q<<<1, 1>>>(x); }\n"
                 "void f(short *y) { run(y); " ROOM "}",
         "q<short>;"},
        /* a number that nothing tells; a product; two variables of one name; void */
        {KERNELS "void f(float *x) { k<<<1, 1>>>(x); " ROOM "}", ""},
        {KERNELS "void f(int a, int x) { g(a * x); q<<<1, 1>>>(x); " ROOM "}", ""},
        {KERNELS "void f() { { int *x; q<<<1, 1>>>(x); } { float *x; h(x); } " ROOM "}",
         "q<int>;"},
        {KERNELS "void f() { { int *x; } { float *x; q<<<1, 1>>>(x); } " ROOM "}", ""},
        {KERNELS "void f(void *x) { auto y = g(x); q<<<1, 1>>>(x); q<<<1, 1>>>(y); " ROOM
                 "}",
         ""},
        /* T is a pointer's element, so a number tells nothing */
        {KERNELS "void f(int n) { q<<<1, 1>>>(n); return n; " ROOM "}", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = asked(cases[i].text);
        cr_expect(eq(str, got, (char *)cases[i].asked), "of: %s", cases[i].text);
    }
}

Test(host_launches, a_host_template_s_own_scalar_t_is_what_its_callers_say) {
    autofree char *told = asked(
        KERNELS "template <class scalar_t> void run(scalar_t *x) { q<scalar_t><<<1, "
                "1>>>(x); }\nvoid f(void *x) { run<double>((double *)x); " ROOM "}");
    cr_expect(eq(str, told, "q<double>;"));
    /* through another that calls its own parameter the same */
    autofree char *chain = asked(
        KERNELS "template <int N, class scalar_t> void in(void *x) { k<scalar_t, N><<<1, "
                "1>>>(x); }\ntemplate <class scalar_t> void out(void *x) { in<4, "
                "scalar_t>(x); }\ntemplate void out<float>(void *x);");
    cr_expect(eq(str, chain, "k<float, 4>;"));
    /* an instantiation without room for all */
    autofree char *many =
        asked(KERNELS "template <class scalar_t> void run(void *x) { k<scalar_t, 1><<<1, "
                      "1>>>(x); k<scalar_t, 2><<<1, 1>>>(x); }\ntemplate void "
                      "run<float>(void *x); template void run<short>(void *x);\n");
    cr_expect(strstr(many, "k<float, 1>;") && strstr(many, "k<float, 2>;") &&
              strstr(many, "k<short, 1>;"));
    autofree char *untold = asked(
        KERNELS "template <class scalar_t> void run(scalar_t *x) { q<scalar_t><<<1, "
                "1>>>(x); " ROOM "}");
    cr_expect(eq(str, untold, "q<float>;"));
}

Test(host_launches, dispatched_types_are_instantiated_with_one_that_is_among_them) {
    static const struct {
        const char *code, *asked;
    } cases[] = {
        {"AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", ([&] { q<scalar_t><<<1, "
         "1>>>(p); }))",
         "q<float>;"},
        {"AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "
         "\"f\", [&] { k<scalar_t, 4><<<1, 1>>>(p); })",
         "k<float, 4>;"},
        {"AT_DISPATCH_INTEGRAL_TYPES(x.scalar_type(), \"f\", [&] { q<scalar_t><<<1, "
         "1>>>(p); })",
         "q<int>;"},
        {"AT_DISPATCH_REDUCED_FLOATING_TYPES(t, \"f\", [&] { q<scalar_t><<<1, 1>>>(p); "
         "})",
         "q<at::Half>;"},
        {"AT_DISPATCH_INDEX_TYPES(t, \"f\", [&] { q<index_t><<<1, 1>>>(p); })",
         "q<int>;"},
        {"AT_DISPATCH_SWITCH(t, \"f\", AT_DISPATCH_CASE(at::kDouble, [&] { "
         "q<scalar_t><<<1, 1>>>(p); }) AT_DISPATCH_CASE(at::ScalarType::Half, [&] { "
         "q<scalar_t><<<1, 1>>>(p); }))",
         "q<double>;"},
        {"VLLM_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", [&] { q<scalar_t><<<1, "
         "1>>>(p); })",
         "q<float>;"},
        /* which types these are is not known */
        {"AT_DISPATCH_COMPLEX_TYPES(t, \"f\", [&] { q<scalar_t><<<1, 1>>>(p); })", ""},
        {"VLLM_DISPATCH_FP8_TYPES(t, \"f\", [&] { q<scalar_t><<<1, 1>>>(p); })", ""},
        {"DISPATCH_DTYPE(t, c_type, [&] { q<c_type><<<1, 1>>>(p); })", ""},
        {"HEADDIM_SWITCH(d, kHeadDim, [&] { constexpr int B = 2 * kHeadDim; k<int, "
         "B><<<1, 1>>>(p); })",
         ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *text =
            xasprintf("%svoid f(at::Tensor x) { %s; }", KERNELS, cases[i].code);
        autofree char *got = asked(text);
        cr_expect(eq(str, got, (char *)cases[i].asked), "of: %s", text);
    }
}

Test(host_launches, a_macro_is_expanded_a_bounded_number_of_times) {
    struct buf text = BUF_INIT(1u << 16);
    buf_adds(&text, KERNELS "#define L(N) k<int, N><<<1, 1>>>(p)\nvoid f(int *p) {\n");
    for (int i = 0; i < 100; i++) {
        buf_addf(&text, "    L(%d); %s\n", i, ROOM);
    }
    buf_adds(&text, "}\n");
    autofree char *got = asked(text.data);
    char *want = strstr(got, "k<int, 15>;");
    cr_assert(ne(ptr, want, NULL), "%s", got);
    cr_expect(eq(str, want, "k<int, 15>;"));
    buf_finish(&text);
}

/* Each of four switches has two bodies; what the first asks is a product, no pointer. */
Test(host_launches, switches_are_nested_four_deep) {
    struct buf text = BUF_INIT(1u << 16);
    buf_adds(&text, "template <int T, int I, bool... B> __global__ void k(int *p) {}\n"
                    "#define SWITCH(C, NAME, ...) [&] { if (C) { constexpr bool NAME = "
                    "true; return __VA_ARGS__(); } else { constexpr bool NAME = false; "
                    "return __VA_ARGS__(); } }()\n"
                    "template <int T, int I> void run(int *p, int n) {\n"
                    "    SWITCH(n % (T * I) == 0, A, [&] { SWITCH(p, B, [&] {\n"
                    "    SWITCH(n, C, [&] { SWITCH(n > 1, D, [&] {\n"
                    "        k<T, I, A, B, C, D><<<1, 1>>>(p);\n"
                    "    }); }); }); }); }\n");
    for (int i = 0; i < 16; i++) {
        buf_addf(&text, "%s\n", ROOM);
    }
    buf_adds(&text, "template void run<32, 4>(int *, int);\n");
    for (int i = 0; i < 16; i++) {
        buf_addf(&text, "void room%d() { %s }\n", i, ROOM);
    }
    autofree char *got = asked(text.data);
    cr_expect(ne(ptr, strstr(got, "k<32, 4, true, true, true, true>;"), NULL), "%s", got);
    cr_expect(ne(ptr, strstr(got, "k<32, 4, false, false, false, false>;"), NULL), "%s",
              got);
    buf_finish(&text);
}

Test(host_launches, files_of_one_compilation_know_each_others_dispatch) {
    struct source_set s = {0};
    const char *unit =
        "#include \"d.h\"\ntemplate <class T> __global__ void q(T *p) {}\n"
        "void f(int t) { DISPATCH(t, c_type, [&] { q<c_type><<<1, 1>>>(nullptr); }); }\n";
    const char *header =
        "#define DISPATCH(t, c_type, ...) \\\n  switch (t) { \\\n"
        "    case 1: { using c_type = short; __VA_ARGS__(); break; } \\\n"
        "    case 2: { using c_type = long; __VA_ARGS__(); break; } }\n";
    cr_assert(zero(int, source_set_add(&s, "r0/k.cu", NULL, unit, strlen(unit), NULL)));
    cr_assert(
        zero(int, source_set_add(&s, "r0/d.h", NULL, header, strlen(header), NULL)));
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    cr_expect_not_null(strstr(s.files[0].text, "static_assert(&q<short>,\"\");"));
    cr_expect_not_null(strstr(s.files[0].text, "static_assert(&q<long>,\"\");"));
    cr_expect_null(strstr(s.files[0].text, "c_type"));
    host_code_finish(&h);
    source_set_finish(&s);
}

Test(host_launches, macros_that_make_kernels_and_launchers_are_followed) {
    static const struct {
        const char *text, *asked;
    } cases[] = {
        /* a macro that is the head of a template kernel */
        {"#define HEAD(NAME, ...) template <class T, __VA_ARGS__> __global__ void "
         "NAME(T *p)\n"
         "HEAD(h, bool A, int N) { if (A) p[N] = 0; }\n"
         "template <class T> void run(T *p) { auto f = &h<T, true, 4>; f<<<1, 1>>>(p); "
         "}\nvoid g(float *p) { run<float>(p); " ROOM "}",
         "h<float, true, 4>;"},
        /* one that is all of it, whose types are told by what it is given */
        {"namespace n {\n#define MAKE(OP) template <int N> __global__ void k_##OP(int "
         "*p) { p[N] = 0; }\nMAKE(add)\n}\n"
         "void g(int *p) { n::k_add<2><<<1, 1>>>(p); " ROOM "}",
         "n::k_add<2>;"},
        /* one that calls a host template */
        {KERNELS "template <class T, int N> void run(T *p) { k<T, N><<<1, 1>>>(p); }\n"
                 "#define REGISTER(T, N) void r_##T##_##N(T *p) { run<T, N>(p); }\n"
                 "REGISTER(float, 64); " ROOM "\nREGISTER(int, 8); " ROOM "\n"
                 "void end() { " ROOM ROOM "}",
         "k<float, 64>;k<int, 8>;"},
        /* one that makes a host template, which has no types of its own */
        {KERNELS "#define WRAP(NAME) template <class T> void NAME(T *p) { q<T><<<1, "
                 "1>>>(p); }\nWRAP(wrapped)\nvoid f(short *p) { wrapped(p); " ROOM "}",
         "q<short>;"},
        /* a list of them */
        {KERNELS "template <int N> void run(int *p) { k<int, N><<<1, 1>>>(p); }\n"
                 "#define EACH(X) X(1) X(2)\n"
                 "#define USE(N) template void run<N>(int *p);\nEACH(USE)\n"
                 "void end() { " ROOM ROOM "}",
         "k<int, 1>;k<int, 2>;"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = asked(cases[i].text);
        cr_expect(eq(str, got, (char *)cases[i].asked), "of: %s", cases[i].text);
    }
}

/* A table of kernels asks for them as a launch does, through macros too. */
/* A class of the host's may be named as a kernel of another namespace is. */
Test(host_launches, a_name_of_another_namespace_asks_for_nothing) {
    autofree char *got = asked(
        "namespace n { namespace kernel {\ntemplate <class T> __global__ void gemm(T *p) "
        "{}\n} template <class A, class B> struct gemm { std::vector<A> a; }; }\n"
        "void f() { n::gemm<float, int> host; " ROOM "}\n"
        "void g() { n::kernel::gemm<int><<<1, 1>>>(0); " ROOM "}\n"
        "namespace other = n::kernel;\nvoid h() { other::gemm<char><<<1, 1>>>(0); }\n");
    cr_expect(eq(str, got, "n::kernel::gemm<int>;n::kernel::gemm<char>;"));
}

Test(host_launches, tables_of_kernels_ask_for_them) {
    static const struct {
        const char *text, *asked;
    } cases[] = {
        {KERNELS
         "using F = void (*)(int *);\nF table[] = {k<int, 1>, &k<int, 2>, " ROOM ROOM
         "};",
         "k<int, 1>;k<int, 2>;"},
        {KERNELS "#define SOME(N) k<int, N>, k<int, N + 1>\n"
                 "#define TABLE(N) F of_##N[] = {SOME(N), nullptr};\n"
                 "TABLE(4)\nTABLE(8)\nvoid end() {" ROOM ROOM ROOM ROOM "}",
         "k<int, 4>;k<int, 4 + 1>;k<int, 8>;k<int, 8 + 1>;"},
        {KERNELS "static auto go = [](int *p) { q<int><<<1, 1>>>(p); " ROOM "};",
         "q<int>;"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = asked(cases[i].text);
        cr_expect(eq(str, got, (char *)cases[i].asked), "of: %s", cases[i].text);
    }
}

/* Twenty uses in twenty uses, and so on: what is not expanded stays as it is. */
Test(host_launches, macros_that_multiply_are_bounded) {
    struct buf text = BUF_INIT(1u << 16);
    buf_adds(&text, KERNELS "#define M0(X) void f##X(int *p) { q<int><<<1, 1>>>(p); }\n");
    for (int i = 1; i < 9; i++) {
        buf_addf(&text, "#define M%d(X)", i);
        for (int k = 0; k < 20; k++) {
            buf_addf(&text, " M%d(X##%d)", i - 1, k);
        }
        buf_addc(&text, '\n');
    }
    buf_adds(&text, "M3(a)\nM8(b)\n");
    struct host_code h;
    host_code_blank(text.data, text.len, &h);
    cr_expect(eq(int, h.has_host_code, true));
    host_code_finish(&h);
    buf_finish(&text);
}

/* What a unit of two headers becomes behind its last line. */
static char *joint(const char *unit, const char *launches, const char *kernels) {
    const char *texts[] = {unit, launches, kernels},
               *paths[] = {"r0/k.cu", "r0/launch.cuh", "r0/kernel.cuh"};
    struct source_set s = {0};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        cr_assert(zero(
            int, source_set_add(&s, paths[i], NULL, texts[i], strlen(texts[i]), NULL)));
    }
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    size_t len = strlen(unit);
    char *ret = xstrdup(s.files[0].text + len);
    cr_expect(eq(sz, s.files[0].len, len + strlen(ret)));
    if (s.files[0].original) {
        cr_expect(eq(int, strncmp(s.files[0].original, unit, len), 0));
        cr_expect(eq(str, s.files[0].original + len, ret));
    }
    host_code_finish(&h);
    source_set_finish(&s);
    return ret;
}

Test(host_launches, a_unit_asks_host_templates_of_its_headers) {
    static const char kernel[] =
        "namespace n { template <class T, int N> __global__ void k(T *p) {} }\n";
    static const char launch[] =
        "#include \"kernel.cuh\"\nnamespace n {\ntemplate <class T, bool B> void run(T "
        "*);\n"
        "template <class T> void l(T *p) { k<T, 4><<<1, 1>>>(p); }\n"
        "template <class T> void go(T *p) { l<T>(p); }\n}\n";
    static const struct {
        const char *code, *asked;
    } cases[] = {
        {"namespace n {\ntemplate void l<float>(float *p);\n}\n",
         "\n#line 3\nnamespace n{static_assert(&n::k<float, 4>,\"\");}\n#line 9"},
        /* through two of them */
        {"namespace n { template void go<short>(short *); }",
         "\n#line 2\nnamespace n{static_assert(&n::k<short, 4>,\"\");}\n#line 6"},
        /* a specialisation that calls */
        {"namespace n {\n\ntemplate <> void run<int, true>(int *p) { l<int>(p); }\n}\n",
         "\n#line 4\nnamespace n{static_assert(&n::k<int, 4>,\"\");}\n#line 10"},
        /* a function outside of the namespace, twice */
        {"void f(int *p) { n::l<int>(p); }\nvoid g(int *p) { n::go<int>(p); }",
         "\n#line 2\nnamespace n{static_assert(&n::k<int, 4>,\"\");}\n#line 7"},
        /* its own launch of a header's kernel */
        {"void f(int *p) { n::k<int, 2><<<1, 1>>>(p); }\n",
         "\n#line 2\nstatic_assert(&n::k<int, 2>,\"\");\n#line 7"},
        /* through a macro that instantiates */
        {"#define USE(T) namespace n { template void l<T>(T *); }\n"
         "USE(float)\nUSE(char)",
         "\n#line 3\nnamespace n{static_assert(&n::k<float, 4>,\"\");}"
         "\n#line 4\nnamespace n{static_assert(&n::k<char, 4>,\"\");}\n#line 10"},
        /* nothing that it asks for, or not always */
        {"void f(int *p) { other<int>(p); }\n", ""},
        {"namespace m { template void l<float>(float *); }\n", ""},
        {"#ifdef A\nvoid f(int *p) { n::l<int>(p); }\n#endif\n", ""},
        /* what it launches of its own is written in its place */
        {"template <class T> __global__ void own(T *p) {}\n"
         "void f(int *p) { own<int><<<1, 1>>>(p); }\n",
         ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *unit = xasprintf("#include \"launch.cuh\"\n%s", cases[i].code);
        autofree char *got = joint(unit, launch, kernel);
        cr_expect(eq(str, got, (char *)cases[i].asked), "of: %s", unit);
    }
}

Test(host_launches, what_a_unit_asks_of_headers_is_bounded) {
    struct buf unit = BUF_INIT(1u << 16);
    for (int i = 0; i < 200; i++) {
        buf_addf(&unit, "void f%d(int *p) { k<int, %d><<<1, 1>>>(p); }\n", i, i);
    }
    autofree char *got =
        joint(unit.data, "template <class T, int N> __global__ void k(T *p) {}\n", "");
    int count = 0;
    for (const char *at = got; (at = strstr(at, "static_assert")); at++) {
        count++;
    }
    cr_expect(eq(int, count, HOST_JOINT_MAX));
    buf_finish(&unit);
}

/* Of several kernels each gets its turn before one has all. */
Test(host_launches, a_unit_asks_for_one_of_each_kernel_first) {
    struct buf unit = BUF_INIT(1u << 16);
    for (int i = 0; i < 30; i++) {
        buf_addf(&unit, "void f%d(int *p) { k<int, %d><<<1, 1>>>(p); }\n", i, i);
    }
    buf_adds(&unit, "void g(int *p) { q<int><<<1, 1>>>(p); }\n");
    autofree char *got = joint(unit.data, KERNELS, "");
    cr_expect_not_null(strstr(got, "&q<int>"));
    cr_expect_not_null(strstr(got, "&k<int, 0>"));
    buf_finish(&unit);
}

/* Of sources as large as CUTLASS fewer are taken. */
Test(host_launches, a_large_unit_asks_for_less) {
    autofree char *large = xmalloc((1u << 20) + 1);
    memset(large, '\n', 1u << 20);
    large[1u << 20] = '\0';
    autofree char *got = joint("void f(int *p) { k<int, 1><<<1, 1>>>(p); k<int, 2><<<1, "
                               "1>>>(p); k<int, 3><<<1, 1>>>(p); }\n",
                               KERNELS, large);
    cr_expect_not_null(strstr(got, "&k<int, 2>"));
    cr_expect_null(strstr(got, "&k<int, 3>"));
}

/* What a file's own lines have no room for comes behind the last, but not what may not be
 * compiled at all. */
Test(host_launches, what_has_no_room_comes_behind_the_unit) {
    static const char unit[] = "namespace n {\n" KERNELS "void f(){q<int><<<1,1>>>(0);}\n"
                               "#define R(N) void r##N() { k<int,N><<<1,1>>>(0); }\n"
                               "R(1)\nR(2)\n#if 0\nR(3)\n#endif\n}\n";
    autofree char *got = joint(unit, "", "");
    cr_expect(eq(str, got,
                 (char *)"\n#line 6\nnamespace n{static_assert(&n::k<int,1>,\"\");}"
                         "\n#line 7\nnamespace n{static_assert(&n::k<int,2>,\"\");}"
                         "\n#line 18"));
}

/* A header is a unit through a generated one, whose lines behind the first are told as
 * the header's. */
Test(host_launches, a_header_that_is_checked_asks_as_a_unit) {
    static const struct {
        const char *path, *text;
    } files[] = {
        {SOURCE_SET_UNIT, "#include \"r0/k.cuh\"\n"},
        {"r0/k.cuh", "#include \"q.cuh\"\n\nvoid f(int *p) { run<int>(p); }\n"},
        {"r0/q.cuh", KERNELS "template <class T> void run(T *p) { q<T><<<1, 1>>>(p); }"},
    };
    struct source_set s = {0};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        cr_assert(zero(int, source_set_add(&s, files[i].path, NULL, files[i].text,
                                           strlen(files[i].text), NULL)));
    }
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    cr_expect(eq(str, s.files[0].text,
                 (char *)"#include \"r0/k.cuh\"\n"
                         "\n#line 3\nstatic_assert(&q<int>,\"\");\n#line 6"));
    host_code_finish(&h);
    source_set_finish(&s);
}

/* CUDA's C++ library beneath include_roots tells NVRTC's side itself. */
Test(host_launches, cuda_s_own_library_stays_as_it_is) {
    static const char library[] = "#define _CCCL_API\nvoid helper(int);\n";
    struct source_set s = {0};
    source_set_add(&s, "r0/k.cu", NULL, "int x;\n", 7, NULL);
    source_set_add(&s, "r1/cuda/std/__algorithm/swap.h", NULL, library, strlen(library),
                   NULL);
    source_set_add(&s, "r0/cuda/std/mine.h", NULL, "void helper(int);\n", 18, NULL);
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    cr_expect(eq(str, s.files[1].text, (char *)library));
    cr_expect_null(strstr(s.files[2].text, "helper"));
    host_code_finish(&h);
    source_set_finish(&s);
}
