#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/kernel_template.h"
#include "gpu/source/source_set.h"
#include "host_code_room.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <string.h>

TestSuite(host_code);

/* A table for both sides may be declared by a macro of the file or of a header. */
Test(host_code, a_macro_may_say_const) {
    static const char kept[] =
        "#define TABLE static const\nTABLE int powers[] = {1, 10};\n";
    autofree char *text = xstrdup(kept);
    struct host_code h;
    host_code_blank(text, strlen(text), &h);
    cr_expect(eq(str, text, (char *)kept));
    host_code_finish(&h);
    static const struct blank_case cases[] = {
        {"#define NAMES static const char *\nNAMES a = 0;",
         "#define NAMES static const char *"},
        {"#define CALL(f) f((const int)1)\nint x = CALL(g);",
         "#define CALL(f) f((const int)1)"},
        {"#define TABLE static const\nTABLE std::vector<int> v;",
         "#define TABLE static const"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

/* What no device code can use of the C and C++ libraries. */
Test(host_code, headers_of_the_host_go) {
    static const char *const names[] = {"cctype",
                                        "ctype.h",
                                        "cfenv",
                                        "fenv.h",
                                        "cuchar",
                                        "cwctype",
                                        "strings.h",
                                        "endian.h",
                                        "cxxabi.h",
                                        "poll.h",
                                        "ranges",
                                        "xmmintrin.h",
                                        "npp.h",
                                        "cstdbool",
                                        "execinfo.h",
                                        "cub/device/device_segmented_radix_sort.cuh",
                                        "thrust/unique.h",
                                        "thrust/binary_search.h",
                                        "thrust/system/cuda/execution_policy.h"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree char *text = xasprintf("#include <%s>\n", names[i]);
        struct host_code h;
        host_code_blank(text, strlen(text), &h);
        cr_expect(eq(sz, strspn(text, " \n"), strlen(text)), "%s", names[i]);
        host_code_finish(&h);
    }
}

/* What only its body tells: device code and a kernel stay, all else goes. */
Test(host_code, a_macro_use_is_what_it_expands_to) {
    static const struct blank_case cases[] = {
        {"#define F(N) void f##N(int) { g(N); }\nF(1);\nF(2)\nint x;",
         "#define F(N) void f##N(int) { g(N); }"},
        {"#define F(N) void f##N(int) { g(N); } static R r##N(f##N);\nF(1)",
         "#define F(N) void f##N(int) { g(N); } static R r##N(f##N);"},
        {"#define H(N) void f##N(int x)\nH(1) { g(x); }",
         "#define H(N) void f##N(int x)"},
        {"#define F(N) F(N##N) void f##N(int) { F(N) }\nF(1)\n",
         "#define F(N) F(N##N) void f##N(int) { F(N) }"},
    };
    check_cases(cases, ARRAY_LEN(cases));
    static const char *const kept[] = {
        "#define D(N) struct S##N { int x; };\nD(1)",
        "#define D(N) struct S##N { int x; }; void f##N(S##N) { }\nD(1)",
        "#define D(N) constexpr int c##N = N;\nD(1)",
        "#define D(N) __device__ int d##N() { return N; }\nD(1)",
        "#define B(N) __launch_bounds__(N < 2 ? 2 : N)\nB(1)\n__global__ void k() {}",
        "#define F(N) void f##N(int) { g(N); }\nF(1",
    };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        autofree char *text = xstrdup(kept[i]);
        struct host_code h;
        host_code_blank(text, strlen(text), &h);
        cr_expect(eq(str, text, (char *)kept[i]));
        host_code_finish(&h);
    }
}

Test(host_code, device_code_stays) {
    static const struct blank_case cases[] = {
        {"__global__ void k(int *p) { *p = 1; }", NULL},
        {"template <class T, int N = (3 > 2)> __device__ T f(T x) { return x; }", NULL},
        {"static __device__ __forceinline__ float g() noexcept { return 1; }", NULL},
        {"extern \"C\" __global__ void k() {}", NULL},
        {"namespace a::b { inline namespace c { __device__ int x; } }", NULL},
        {"struct S { int a; float b[4]; __host__ __device__ S() : a(1), b{} {} };", NULL},
        {"enum class E : int { A, B }; union U { int i; float f; };", NULL},
        {"typedef unsigned int uint; using F = float; using namespace a;", NULL},
        {"constexpr int kA = 3; const float kB = 2.f; static const int kC[2] = {1, 2};",
         NULL},
        {"__constant__ float c[3] = {1, 2, 3}; __shared__ int s; extern __shared__ char "
         "d[];",
         NULL},
        {"constexpr int f(int x) { return x + 1; }", NULL},
        {"template <class T> struct W { T x; }; template <> struct W<int> { int y; };",
         NULL},
        {"template struct W<float>; struct Forward; template <class T> class V;", NULL},
        {"static_assert(sizeof(int) == 4, \"\"); ;; asm(\"\");", NULL},
        {"template <class T> concept C = requires(T t) { t + t; };", NULL},
        {"W(int) -> W<int>;", NULL},
        {"UNKNOWN_MACRO(x, y)", NULL},
        {"struct S { MEMBERS(x); __device__ S(int n); };", NULL},
        {"__devcie__ float misspelt(float x) { return x; }", NULL},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

Test(host_code, host_code_goes) {
    static const struct blank_case cases[] = {
        {"int main() { return 0; }", ""},
        {"struct S { int n; S(int m); S(float) noexcept; ~S(); };",
         "struct S { int n; };"},
        {"struct S { double f() const { return 1; } constexpr double g() { return f(); } "
         "};",
         "struct S { };"},
        {"struct S { double f() { return 1; } __device__ int f(int n); constexpr int g() "
         "{ return f(1); } };",
         "struct S { __device__ int f(int n); constexpr int g() { return f(1); } };"},
        {"template <class T> struct S { S(T *x, int n = 3); T y; };",
         "template <class T> struct S { T y; };"},
        {"int main(int argc, char **argv) try { } catch (...) { }", ""},
        {"#include <vector>\n#include <cuda_fp16.h>", "#include <cuda_fp16.h>"},
        {"#include <torch/extension.h>\nint x;", "#include <torch>"},
        {"#include \"ATen/ATen.h\"\n__device__ float f(float x) { return std::min(x, "
         "1.f); }",
         "#include <torch_std> __device__ float f(float x) { return std::min(x, 1.f); "
         "}"},
        {"void f(at::Tensor x); template <class T> using wide = at::opmath_type<T>;",
         "template <class T> using wide = at::opmath_type<T>;"},
        {"static inline auto f(int x = [] { return 1; }()) -> int { return x; }", ""},
        {"template <class T> requires(sizeof(T) > 1) void launch(T *x) { k<<<1, 2>>>(x); "
         "}",
         ""},
        {"[[nodiscard]] __attribute__((noinline)) int f();", ""},
        {"void f(int); extern int g; int (*h)(int) = nullptr; static float t[2] = {1, "
         "2};",
         ""},
        {"std::vector<std::pair<int, int>> v{{1, 2}}; const std::string s = \"x\";", ""},
        {"bool operator==(const A &a, const A &b) { return a.x == b.x; }", ""},
        {"int operator\"\"_km(unsigned long long x) { return x; }", ""},
        {"A::A(int x) : a{x}, b(x) { run(); } A::~A() { stop(); } A::operator bool() "
         "const { return 1; }",
         ""},
        {"TEST(Suite, Name) { EXPECT_EQ(1, 1); } PYBIND11_MODULE(name, m) { m.def(\"f\", "
         "&f); }",
         ""},
        {"namespace x { void f() {} }", "namespace x { }"},
        {"extern \"C\" { int f() { return 1; } }", "extern \"C\" { }"},
        {"struct Timer { std::string name; Timer() {} };", ""},
        {"int main() { const char *names[] = {\n#include \"names.txt\"\n}; }", ""},
        {"#include \"k.cuh\"\nint main() {\n#ifdef A\n#include \"b.h\"\n#endif\n}",
         "#include \"k.cuh\" #ifdef A #endif"},
        {"#define WRAP(T) extern \"C\" void add_##T(T *x) { add(x); }\n"
         "template <class T> void add(T *x) { k<<<1, 1>>>(x); }\nWRAP(int)\nWRAP(float)\n"
         "#define KERNEL(T) extern \"C\" __global__ void k_##T(T *x) { *x = 1; }\n"
         "KERNEL(int)",
         "#define WRAP(T) extern \"C\" void add_##T(T *x) { add(x); } "
         "#define KERNEL(T) extern \"C\" __global__ void k_##T(T *x) { *x = 1; } "
         "KERNEL(int)"},
        {"#define FAIL(s) throw error(s)\nconstexpr int a(int x) { if (x) FAIL(1); "
         "return x; } "
         "constexpr int b(int x) { return x ? throw 1 : x; } constexpr int c() { return "
         "1; }",
         "#define FAIL(s) throw error(s) constexpr int c() { return 1; }"},
        {"template <int A, class T> struct __is_it; template <class T> struct __is_it<0, "
         "T> "
         "{}; void f(__is_it<0, int> x);",
         "template <int A, class T> struct __is_it; template <class T> struct __is_it<0, "
         "T> "
         "{};"},
        /* A number is no execution space, whatever it is called. */
        {"#define MAX_DEVICES 16\nstruct Pool { int at[MAX_DEVICES]; std::string name; "
         "};",
         "#define MAX_DEVICES 16"},
        {"void f(); template <class T> int g(T); std::string h(); template <class T> T "
         "i();"
         " using A = decltype(g(1)); template <class T> using B = decltype(n::i<T>());",
         "template <class T> int g(T); template <class T> T i();"
         " using A = decltype(g(1)); template <class T> using B = decltype(n::i<T>());"},
        {"auto f(...) -> int; template <class T> struct S : decltype(f((T *)0)) {};",
         NULL},
        {"using Vec = std::vector<int>; struct Holder { Vec v; }; typedef Holder H;", ""},
        /* A namespace of the host's is one behind "::" too. */
        {"struct A : ::testing::Test {}; struct B : C<::at::Tensor> {}; struct D { "
         "::std::string s; }; struct E : n::testing::F {};",
         "struct E : n::testing::F {};"},
        /* All names of a typedef go with its struct. */
        {"typedef struct A_ { std::string s; } A; typedef struct { std::string s; } B, "
         "*C; "
         "typedef A D; typedef C E; struct F { D *d; E e; }; struct G { int n; };",
         "struct G { int n; };"},
        {"struct S { int a; S(int x) : a(x) {} void f() const {} __device__ int g() { "
         "return a; } };",
         "struct S { int a; __device__ int g() { return a; } };"},
        {"struct P { int a; static int count; } g_p = {1};", "struct P { int a; } ;"},
        {"enum { ONE = 1 } g_one;", "enum { ONE = 1 } ;"},
        {"__global__ void a() {} void f() { a<<<1, 1>>>(); } __global__ void b() {}",
         "__global__ void a() {} __global__ void b() {}"},
        {"auto raw = R\"(} __global__ void no() {)\"; __device__ int y;",
         "__device__ int y;"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

/* nvcc takes these in kernels, with --extended-lambda or without; NVRTC takes neither. */
Test(host_code, lambdas_lose_their_execution_space) {
    static const struct blank_case cases[] = {
        {"__global__ void k(int *p) { auto f = [=] __host__ __device__ (int a) { return "
         "a; "
         "}; *p = f(1); }",
         "__global__ void k(int *p) { auto f = [=] (int a) { return a; }; *p = f(1); }"},
        {"__global__ void k(int *p) { *p = []<class T> __device__ (T a) { return a; "
         "}(1); }",
         "__global__ void k(int *p) { *p = []<class T> (T a) { return a; }(1); }"},
        {"[[nodiscard]] __device__ int f(int a) { return a; }", NULL},
        {"__device__ int a[2], *b = a; __device__ int f() { return b[1]; }", NULL},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
    static const struct {
        const char *text;
        bool needs;
    } lambdas[] = {
        {"__global__ void k(int *p) { auto f = [](const auto &a) { return a; }; }", true},
        {"__global__ void k(int *p) { auto f = [&]<int N>(int a) { return a; }; }", true},
        {"__global__ void k(int *p) { auto f = [](int a) { auto b = a; return b; }; }",
         false},
        {"__global__ void k(int *p) { p[threadIdx.x] = 1; auto f = p; }", false},
    };
    for (size_t i = 0; i < sizeof lambdas / sizeof *lambdas; i++) {
        struct host_code h;
        host_code_scan(lambdas[i].text, strlen(lambdas[i].text), &h);
        cr_expect(eq(int, h.needs_default_device, lambdas[i].needs), "%s",
                  lambdas[i].text);
        host_code_finish(&h);
    }
}

Test(host_code, directives_stay_and_branches_do_not_derail) {
    static const struct blank_case cases[] = {
        {"#ifdef A\nint f(int x) {\n#else\nint f() {\n#endif\nreturn 1; }\n__device__ "
         "int y;",
         "#ifdef A #else #endif __device__ int y;"},
        {"void f() {\n#if X\nif (a) {\n#else\n{\n#endif\n}\n}\n__device__ int y;",
         "#if X #else #endif __device__ int y;"},
        {"#if 0\nit's { not code\n#endif\nint f() {}\n__device__ int y;",
         "#if 0 it's { not code #endif __device__ int y;"},
        {"int f() {\n#pragma unroll\nfor (;;) {}\n#define IN 1\n}\n__device__ int y;",
         "#define IN 1 __device__ int y;"},
        {"#define M(x) do { x; } while (0)\nint f() { M(1); }",
         "#define M(x) do { x; } while (0)"},
        {"#define HD __host__ __device__\nHD int f() { return 1; }\nint g() { return 2; "
         "}",
         "#define HD __host__ __device__ HD int f() { return 1; }"},
        {"#define K(n) __global__ void n() {}\nK(a)\nK(b)\nint main() {}",
         "#define K(n) __global__ void n() {} K(a) K(b)"},
        {"#define L(n) void l_##n() { n<<<1, 1>>>(); }\nL(a)\n__device__ int y;",
         "#define L(n) void l_##n() { n<<<1, 1>>>(); } __device__ int y;"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

/* A missing brace must give the compiler's error, not silence. */
Test(host_code, what_does_not_end_stays) {
    static const struct blank_case cases[] = {
        {"int main() { if (1) { __global__ void k() {}", NULL},
        {"void f( { } __global__ void k(int *p) { *p = 1; }", NULL},
        {"int x", NULL},
        {"void f() { return 1; __global__ void k() {} }", NULL},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

Test(host_code, instantiations_that_host_code_asks_for_are_written_in_its_place) {
    static const struct blank_case cases[] = {
        {"template <class T> __global__ void k(T *p) {} int main() { k<float><<<1, "
         "32>>>(nullptr); return 0; }",
         "template <class T> __global__ void k(T *p) {} static_assert(&k<float>,\"\");"},
        {"template <int A> struct C {}; template <class T> __global__ void k() {} void "
         "f() "
         "{ { using C = C<4>; k<C><<<1, 1>>>(); } { using C = C<8>; k<C><<<1, 1>>>(); } "
         "}",
         "template <int A> struct C {}; template <class T> __global__ void k() {}"},
        {"template <int N, class T, int M = 1> __global__ void k(T *p) {} void f(int *p) "
         "{ k<4><<<1, 1>>>(p); k<4, int><<<1, 1>>>(p); }",
         "template <int N, class T, int M = 1> __global__ void k(T *p) {} "
         "static_assert(&k<4, int>,\"\");"},
        {"template <int N> __global__ void k() {} void f() { constexpr int B = 2 * 64; "
         "k<B><<<1, B>>>(); }",
         "template <int N> __global__ void k() {} static_assert(&k<(2 * 64)>,\"\");"},
        {"template <class T> __global__ void k() {} template <class U> void l() { "
         "k<U><<<1, 1>>>(); } "
         "int main() { l<double>(); /* some room to write in */ }",
         "template <class T> __global__ void k() {} static_assert(&k<double>,\"\");"},
        {"namespace n { template <class T> __global__ void k() {} } int main(int c, char "
         "**v) { n::k<int><<<1, 1>>>(); }",
         "namespace n { template <class T> __global__ void k() {} } "
         "static_assert(&n::k<int>,\"\");"},
        {"template <int N> __global__ void k() {} void f(int n) { for (int i = n;;) { "
         "k<i><<<1, 1>>>(); } }",
         "template <int N> __global__ void k() {}"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

Test(host_code, kernels_are_found_with_their_places) {
    const char *text =
        "namespace a { namespace { namespace b {\n"
        "template <typename T>\n"
        "__global__ void __launch_bounds__(256, 2)\n"
        "axpy(T a, const T *x, int n) { }\n"
        "} } }\n"
        "__global__ void declared(int);\n"
        "extern \"C\" __global__ void __launch_bounds__(N) plain(int *p) { }\n"
        "void host() { }\n";
    struct host_code h;
    host_code_scan(text, strlen(text), &h);
    cr_assert(eq(sz, h.kernel_count, 2));
    cr_expect(eq(str, h.kernels[0].name, "a::b::axpy"));
    cr_expect(eq(int, strncmp(text + h.kernels[0].offset, "axpy(", 5), 0));
    cr_expect(eq(sz, h.kernels[0].end - h.kernels[0].offset, 4));
    cr_expect(
        eq(int, strncmp(text + h.kernels[0].signature, "template <typename T>", 21), 0));
    cr_expect(eq(int, strncmp(text + h.kernels[0].signature_end - 6, "int n)", 6), 0));
    cr_expect(eq(int, h.kernels[0].launch_bounds[0], 256));
    cr_expect(eq(int, h.kernels[0].launch_bounds[1], 2));
    cr_expect(eq(int, h.kernels[0].launch_bounds[2], 0));
    cr_expect(eq(str, h.kernels[1].name, "plain"));
    cr_expect(eq(int, h.kernels[1].launch_bounds[0], 0));
    cr_expect(h.has_host_code);
    host_code_finish(&h);
}

Test(host_code, a_template_has_an_example) {
    static const struct {
        const char *signature, *example;
    } cases[] = {
        {"template <typename T, int N, bool B> __global__ void k(T *p)",
         "float, 128, true"},
        {"template<class T, class F = plus<T>, int N = 3> __global__ void k()", "float"},
        {"template <template <class> class C, std::enable_if_t<(N > 1), int> M> void k()",
         "128, 128"},
        {"template <class... T> __global__ void k(T... x)", "float"},
        {"template <int N = 1> __global__ void k()", ""},
        {"__global__ void k(int *p)", "float"},
        {"template", "float"},
        {"template <", ""},
        {"template <int N >>>>>> (", "128"},
        {"template <typename T, const ns::Mode M, size_t N> __global__ void k(T *p)",
         "float, ns::Mode(0), 128"},
        {"template <enum Mode M, unsigned long N, std::int64_t S> void k()",
         "Mode(0), 128, 128"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *got =
            kernel_template_example(cases[i].signature, strlen(cases[i].signature));
        cr_expect(eq(str, got, (char *)cases[i].example), "%s", cases[i].signature);
    }
}

/* An enumerator is no execution space; behind a value, < compares. */
Test(host_code, what_looks_like_a_space_or_a_bracket) {
    static const struct blank_case cases[] = {
        {"enum class At { ON_HOST, ON_DEVICE };\n"
         "struct S { std::vector<int> v; At at = At::ON_DEVICE; };\n"
         "__device__ int d;",
         "enum class At { ON_HOST, ON_DEVICE }; __device__ int d;"},
        {"template <class T, bool = A<T>::value> "
         "struct U : C<bool, T(0) < T(-1)> {}; "
         "struct V : C<bool, 2 < N> { __device__ int f(); };",
         NULL},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

/* -default-device: what prepares a kernel's parameters is called from a kernel. What
 * names the host goes all the same. */
Test(host_code, functions_without_a_space_stay_when_they_are_the_devices) {
    struct source_set s = {.default_device = true};
    const char *unit = "#include \"a.h\"\n__global__ void k(P *p) { *p = P::make(3); }\n"
                       "void check() { cudaFree(0); }\nint main() { return 0; }\n";
    const char *header =
        "#define HOST_SIDE __host__\n"
        "struct P { int n;\n static inline HOST_SIDE int dims(int n) { return n; }\n"
        " static P make(int n) { return {n}; }\n"
        " operator int() const { return n; }\n"
        " static int count() { throw 1; }\n"
        " __host__ P(long n) : n(int(n)) {}\n"
        " static int device() { int d; cudaGetDevice(&d); return d; } };\n";
    cr_assert(zero(int, source_set_add(&s, "r0/k.cu", NULL, unit, strlen(unit), NULL)));
    cr_assert(
        zero(int, source_set_add(&s, "r0/a.h", NULL, header, strlen(header), NULL)));
    struct host_code h;
    struct host_guesses guesses;
    host_code_blank_sources(&s, &h, &guesses);
    host_guesses_finish(&guesses);
    cr_expect(h.needs_default_device);
    cr_expect_not_null(strstr(s.files[1].text, "static P make(int n) { return {n}; }"));
    cr_expect_not_null(strstr(s.files[1].text, "operator int() const"));
    cr_expect_null(strstr(s.files[1].text, "throw"));
    cr_expect_null(strstr(s.files[1].text, "__host__ P"));
    cr_expect_null(strstr(s.files[1].text, "dims"));
    cr_expect_null(strstr(s.files[1].text, "cudaGetDevice"));
    cr_expect_null(strstr(s.files[0].text, "check"));
    cr_expect_null(strstr(s.files[0].text, "main"));
    host_code_finish(&h);
    source_set_finish(&s);
}
