#include "base/buf.h"
#include "base/mem.h"
#include "gpu/source/host_names.h"
#include "gpu/source/shims.h"
#include "gpu/source/source_set.h"
#include "gpu/source/std_names.h"
#include "nvrtc_probe.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(shims, .timeout = 120);

#define KERNEL "\n__global__ void k(int *p) { *p = 1; }\n"

static void expect_clean(const char *source, const char *const *options,
                         const char *what) {
    struct nvrtc_probe_result r;
    nvrtc_probe_compile("shim.cu", source, shims, shim_count, options, &r);
    cr_expect(r.ok, "%s: %s", what, r.log);
    cr_expect_null(strstr(r.log, "warning"), "%s: %s", what, r.log);
    nvrtc_probe_finish(&r);
}

static const struct shim *shim_find(const char *name) {
    const struct shim *end = shims + shim_count, *at = shims;
    while (at < end && strcmp(at->name, name) != 0) {
        at++;
    }
    return at < end ? at : NULL;
}

Test(shims, stand_once_and_of_host_headers_only_libraries_have_one) {
    cr_expect_null(shim_find("vector"));
    for (size_t i = 0; i < shim_count; i++) {
        cr_expect(eq(ptr, (void *)(uintptr_t)shim_find(shims[i].name),
                     (void *)(uintptr_t)&shims[i]));
        cr_expect(eq(int, host_names_header(shims[i].name),
                     host_names_library_header(shims[i].name)),
                  "%s", shims[i].name);
    }
}

/* The headers that the facts list as missing in NVRTC and that device code can use. */
Test(shims, cover_what_people_include) {
    static const char *const names[] = {
        "cstdint", "stdint.h",    "stdio.h",          "cstdio",    "math.h",  "cmath",
        "cfloat",  "float.h",     "climits",          "limits.h",  "limits",  "stddef.h",
        "cstddef", "type_traits", "utility",          "algorithm", "array",   "tuple",
        "cassert", "assert.h",    "initializer_list", "string.h",  "cstring", "stdlib.h",
        "cstdlib", "iterator",    "functional",       "numeric",   "complex", "memory.h"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        cr_expect_not_null(shim_find(names[i]), "%s", names[i]);
    }
}

/* cuda/std's counterparts cost half a second each: one compilation holds them all, in
 * both orders, with CUDA's own headers before or after. */
Test(shims, live_together_and_with_cuda_std) {
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    static const char cuda[] =
        "#include <cuda/std/cstdint>\n#include <cuda/std/climits>\n"
        "#include <cuda/std/cstddef>\n"
        "#include <cuda/std/type_traits>\n#include <cuda_fp16.h>\n"
        "#include <cuda_runtime.h>\n";
    for (int backwards = 0; backwards < 2; backwards++) {
        struct buf source = BUF_INIT(1u << 16);
        buf_adds(&source, backwards ? cuda : "");
        for (size_t i = 0; i < shim_count; i++) {
            const char *name = shims[backwards ? shim_count - 1 - i : i].name;
            if (strncmp(name, "cub", 3) !=
                0) { /* CUB alone takes seconds: a test of its own */
                buf_addf(&source, "#include <%s>\n", name);
            }
        }
        buf_adds(&source, backwards ? "" : cuda);
        buf_adds(
            &source,
            "#include <cstdint>\nusing namespace std;\n"
            "static_assert(std::is_same<std::uint32_t, uint32_t>::value, \"\");\n"
            "static_assert(std::is_same<uint64_t, cuda::std::uint64_t>::value, \"\");\n"
            "static_assert(std::numeric_limits<float>::max() == FLT_MAX, \"\");\n"
            "static_assert(at::numeric_limits<int>::lower_bound() == INT_MIN, \"\");\n"
            "static_assert(at::numeric_limits<float>::max() == FLT_MAX, \"\");\n"
            "static_assert(__GLIBC__ == 2 && __GLIBC_PREREQ(2, 17), \"\");\n"
            "static_assert(std::get<0>(std::tuple<int, float>(3, 1.f)) == 3, \"\");\n");
        buf_adds(&source, KERNEL);
        expect_clean(source.data, NULL, backwards ? "backwards" : "forwards");
        buf_finish(&source);
    }
}

/* Cheap ones alone, as each file includes but one or two of them. */
Test(shims, stand_alone_in_every_language_version) {
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    static const char *const standards[] = {"-std=c++17", "-std=c++14", "-std=c++20"};
    for (size_t i = 0; i < shim_count; i++) {
        if ((strstr(shims[i].text, "#include <cuda/std/") &&
             !strstr(shims[i].name, "int")) ||
            strncmp(shims[i].name, "cub", 3) == 0 ||
            !strcmp(shims[i].name, "torch_std")) {
            continue;
        }
        autofree char *source = xasprintf("#include <%s>\n#include <%s>\n" KERNEL,
                                          shims[i].name, shims[i].name);
        const char *options[] = {
            standards[i % 3], i % 3 == 1 ? "-DCCCL_IGNORE_DEPRECATED_CPP_DIALECT" : NULL,
            NULL};
        bool needs_17 = strstr(shims[i].text, "<cuda/std/");
        expect_clean(source, needs_17 ? NULL : options, shims[i].name);
    }
}

/* glibc's names are macros for themselves: CUDA leaves them, and a library may have
 * enumerators of its own. */
Test(shims, names_of_numbers_may_be_taken_again) {
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    expect_clean("#include <" SHIM_AS_NVCC ">\n"
                 "#ifndef FP_NAN\n#define FP_NAN 0\n#endif\n"
                 "namespace lib { enum { FP_NAN, FP_INFINITE, FP_ZERO }; }\n"
                 "static_assert(lib::FP_ZERO == FP_ZERO, \"\");\n" KERNEL,
                 NULL, "names");
}

/* All that a block or a warp does by CUB, without what launches kernels. */
Test(shims, cub_is_there_for_device_code) {
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    expect_clean("#include <cmath>\n#include <cub/cub.cuh>\n"
                 "__global__ void k(float *x, int *y) {\n"
                 "  using Reduce = cub::BlockReduce<float, 128>;\n"
                 "  using Sort = cub::BlockRadixSort<int, 128, 2>;\n"
                 "  using Scan = cub::WarpScan<int>;\n"
                 "  __shared__ union { Reduce::TempStorage r; Sort::TempStorage s;\n"
                 "                     Scan::TempStorage w[4]; } t;\n"
                 "  float sum = Reduce(t.r).Sum(x[threadIdx.x]);\n"
                 "  __syncthreads();\n"
                 "  int keys[2] = {y[threadIdx.x], 7};\n"
                 "  Sort(t.s).Sort(keys);\n"
                 "  __syncthreads();\n"
                 "  Scan(t.w[threadIdx.x / 32]).ExclusiveSum(keys[0], keys[1]);\n"
                 "  x[threadIdx.x] = fmaxf(sum, -INFINITY);\n"
                 "  y[threadIdx.x] = keys[1];\n"
                 "}\n",
                 NULL, "cub/cub.cuh");
}

static void assert_integer(struct buf *out, const char *name, unsigned long long value,
                           int width) {
    buf_addf(out,
             "static_assert((unsigned long long)(%s) == %lluull && sizeof(%s) == %d, "
             "\"%s\");\n",
             name, value, name, width, name);
}

static void assert_real(struct buf *out, const char *name, double value, int width) {
    buf_addf(out, "static_assert((%s) == %a && sizeof(%s) == %d, \"%s\");\n", name, value,
             name, width, name);
}

#define INTEGER(x) assert_integer(out, #x, (unsigned long long)(x), (int)sizeof(x))
#define REAL(x) assert_real(out, #x, (double)(x), (int)sizeof(x))

static void assert_integers(struct buf *out) {
    INTEGER(CHAR_BIT);
    INTEGER(SCHAR_MIN);
    INTEGER(SCHAR_MAX);
    INTEGER(UCHAR_MAX);
    INTEGER(CHAR_MIN);
    INTEGER(CHAR_MAX);
    INTEGER(SHRT_MIN);
    INTEGER(SHRT_MAX);
    INTEGER(USHRT_MAX);
    INTEGER(INT_MIN);
    INTEGER(INT_MAX);
    INTEGER(UINT_MAX);
    INTEGER(LONG_MIN);
    INTEGER(LONG_MAX);
    INTEGER(ULONG_MAX);
    INTEGER(LLONG_MIN);
    INTEGER(LLONG_MAX);
    INTEGER(ULLONG_MAX);
    INTEGER(INT8_MIN);
    INTEGER(INT8_MAX);
    INTEGER(INT16_MIN);
    INTEGER(INT16_MAX);
    INTEGER(INT32_MIN);
    INTEGER(INT32_MAX);
    INTEGER(INT64_MIN);
    INTEGER(INT64_MAX);
    INTEGER(UINT8_MAX);
    INTEGER(UINT16_MAX);
    INTEGER(UINT32_MAX);
    INTEGER(UINT64_MAX);
    INTEGER(SIZE_MAX);
    INTEGER(INTPTR_MAX);
    INTEGER(UINTPTR_MAX);
    INTEGER(PTRDIFF_MAX);
    INTEGER(EXIT_FAILURE);
    INTEGER(EXIT_SUCCESS);
    INTEGER(RAND_MAX);
    INTEGER(FLT_RADIX);
    INTEGER(FLT_DIG);
    INTEGER(FLT_MANT_DIG);
    INTEGER(FLT_MAX_EXP);
    INTEGER(FLT_MIN_EXP);
    INTEGER(FLT_MAX_10_EXP);
    INTEGER(FLT_MIN_10_EXP);
    INTEGER(DBL_DIG);
    INTEGER(DBL_MANT_DIG);
    INTEGER(DBL_MAX_EXP);
    INTEGER(DBL_MIN_EXP);
    INTEGER(DBL_MAX_10_EXP);
    INTEGER(DBL_MIN_10_EXP);
}

static void assert_reals(struct buf *out) {
    REAL(FLT_MAX);
    REAL(FLT_MIN);
    REAL(FLT_EPSILON);
    REAL(FLT_TRUE_MIN);
    REAL(DBL_MAX);
    REAL(DBL_MIN);
    REAL(DBL_EPSILON);
    REAL(DBL_TRUE_MIN);
    REAL(M_E);
    REAL(M_LOG2E);
    REAL(M_LOG10E);
    REAL(M_LN2);
    REAL(M_LN10);
    REAL(M_PI);
    REAL(M_PI_2);
    REAL(M_PI_4);
    REAL(M_1_PI);
    REAL(M_2_PI);
    REAL(M_2_SQRTPI);
    REAL(M_SQRT2);
    REAL(M_SQRT1_2);
}

#define WIDTH(type)                                                                      \
    buf_addf(out,                                                                        \
             "static_assert(sizeof(" #type ") == %zu && (%d) == ((" #type                \
             ")-1 < (" #type ")0), \"" #type "\");\n",                                   \
             sizeof(type), (type)-1 < (type)1)

static void assert_types(struct buf *out) {
    WIDTH(int8_t);
    WIDTH(int16_t);
    WIDTH(int32_t);
    WIDTH(int64_t);
    WIDTH(uint8_t);
    WIDTH(uint16_t);
    WIDTH(uint32_t);
    WIDTH(uint64_t);
    WIDTH(intptr_t);
    WIDTH(uintptr_t);
    WIDTH(intmax_t);
    WIDTH(uintmax_t);
    WIDTH(int_least8_t);
    WIDTH(uint_least64_t);
    WIDTH(size_t);
    WIDTH(ptrdiff_t);
}

/* The other side of each assertion is this machine's C library, through this compiler. */
Test(shims, have_the_c_librarys_values) {
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    struct buf text = BUF_INIT(1u << 20), *out = &text;
    buf_adds(
        out,
        "#include <climits>\n#include <stdint.h>\n#include <cfloat>\n#include <math.h>\n"
        "#include <stdlib.h>\n#include <stddef.h>\n");
    assert_integers(out);
    assert_reals(out);
    assert_types(out);
    struct pair {
        char a;
        double b;
    };
    buf_addf(out,
             "struct pair { char a; double b; };\n"
             "static_assert(offsetof(struct pair, b) == %zu, \"\");\n",
             offsetof(struct pair, b));
    buf_adds(
        out,
        "constexpr float inf = INFINITY, nan_ = NAN, huge = HUGE_VALF;\n"
        "constexpr double huge_ = HUGE_VAL;\n"
        "static_assert(inf > FLT_MAX && -inf < -FLT_MAX && huge == inf, \"\");\n"
        "static_assert(huge_ > DBL_MAX && nan_ != nan_ && sizeof(NAN) == 4, \"\");\n");
    buf_adds(out, KERNEL);
    expect_clean(text.data, NULL, "values");
    buf_finish(&text);
}

/* Functions are NVRTC's own, so std:: forms keep the float overloads. */
Test(shims, std_math_keeps_float_in_float) {
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    expect_clean(
        "#include <cmath>\n#include <cstring>\n#include <cstdio>\n#include <cassert>\n"
        "__global__ void k(float *p, double *q, int *i) {\n"
        "  static_assert(sizeof(std::sqrt(p[0])) == 4, \"\");\n"
        "  static_assert(sizeof(std::pow(p[0], p[1])) == 4, \"\");\n"
        "  static_assert(sizeof(std::abs(q[0])) == 8, \"\");\n"
        "  static_assert(sizeof(std::abs(i[0])) == 4, \"\");\n"
        "  p[0] = std::fma(p[0], std::exp(p[1]), 2.f) + (std::isnan(p[2]) ? INFINITY : "
        "0);\n"
        "  std::memcpy(i, p, 16); assert(i[0] > 0); std::printf(\"%d\\n\", i[0]);\n"
        "}\n",
        NULL, "std::");
}

/* The words of a 64-bit host's inttypes.h, but "ll" where a type is long long here. */
Test(shims, printf_has_words_for_the_fixed_integers) {
    if (nvrtc_probe_missing()) {
        cr_skip_test("%s", nvrtc_probe_missing());
    }
    expect_clean("#include <cinttypes>\n"
                 "__device__ constexpr char d[] = PRId64, x[] = PRIx32, u[] = PRIu8;\n"
                 "static_assert(d[0] == 'l' && d[1] == 'l' && d[2] == 'd', \"\");\n"
                 "static_assert(sizeof x == 2 && x[0] == 'x' && u[0] == 'u', \"\");\n"
                 "__global__ void k(uint64_t v) { printf(\"%\" PRIu64, v); }\n",
                 NULL, "inttypes");
}

/* The shims that one text wants, by name. */
static void wanted(const char *text, bool relaxed, char *out, size_t size) {
    struct source_set set = {0};
    cr_assert(zero(int, source_set_add(&set, "k.cu", "k.cu", text, strlen(text), NULL)));
    unsigned bits = std_names_wanted(&set, relaxed);
    out[0] = '\0';
    for (unsigned i = 0; std_names_shim(i); i++) {
        if (bits & 1u << i) {
            size_t at = strlen(out);
            snprintf(out + at, size - at, "%s ", std_names_shim(i));
            cr_expect_not_null(shim_find(std_names_shim(i)), "%s", std_names_shim(i));
        }
    }
    source_set_finish(&set);
}

Test(shims, names_of_std_without_an_include_want_their_header) {
    static const struct {
        const char *text, *want;
        bool relaxed; /* constexpr functions of the host's in kernels */
    } cases[] = {
        {"int i;", ""},
        {"std::is_same_v<int, T>", "upskilld_traits "},
        {"typename std::enable_if<B>::type std::decay_t<T>", "upskilld_traits "},
        {"std::is_nothrow_swappable_v<T>", "type_traits "},
        {"x = ::std::make_signed_t<T>(1)", "type_traits "},
        {"f(std::make_index_sequence<N>{});", "utility "},
        {"std::min(a, b) + std::numeric_limits<int>::max()", ""},
        {"using cuda::std::abs;", "upskilld_abs "},
        {"cuda::std::is_same_v<A, B> mystd::min(1, 2) std::vector<int>", ""},
        {"std::minimum std::maximal std::", ""},
        {"constexpr int n = A +\n  std::max(a, b);", "algorithm "},
        {"constexpr int n = 1; x = std::max(a, b);", ""},
        {"static_assert(n < std::numeric_limits<int>::max());", "limits "},
        {"x = std::max(a, b);", "algorithm ", .relaxed = true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char got[200];
        wanted(cases[i].text, cases[i].relaxed, got, sizeof got);
        cr_expect_str_eq(got, cases[i].want, "%s", cases[i].text);
    }
}

Test(shims, designators_are_told_from_members_and_numbers) {
    static const struct {
        const char *text;
        bool want;
    } cases[] = {
        {"P p{.a = 1};", true},
        {"f(P{1, .b = 2});", true},
        {"return {\n  .b\n{3}};", true},
        {"x = {a.b = 1, .5f};", false},
        {"f(a, .5e1 = b);", false},
        {"f(x, ...);", false},
        {"if (p.a == 1) {.b == 2}", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;
        struct source_set set = {0};
        cr_assert(
            zero(int, source_set_add(&set, "k.cu", "k.cu", text, strlen(text), NULL)));
        cr_expect_eq(std_names_designators(&set), cases[i].want, "%s", text);
        source_set_finish(&set);
    }
}
