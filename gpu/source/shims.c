#include "gpu/source/shims.h"

#include "base/mem.h"
#include "gpu/source/std_names.h"

#include <string.h>

/* Every text may be included in any order with CUDA's own headers, in one file or
 * another: macros are guarded and types repeat what cuda/std declares, word for word. */

#define GUARDED(name, text)                                                              \
    "#ifndef UPSKILLD_SHIM_" name "\n#define UPSKILLD_SHIM_" name "\n" text "#endif\n"

/* What CUDA has in cuda::std, in std as well. */
#define BRIDGE                                                                           \
    "namespace cuda { namespace std {} }\nnamespace std { using namespace ::cuda::std; " \
    "}\n"
#define MATH_INFINITY "__builtin_bit_cast(float, 0x7f800000u)"
#define MATH_NAN "__builtin_bit_cast(float, 0x7fc00000u)"

/* cuda/std/cmath, which some of them bring in, defines these two whatever they were. */
#define KEEP_MACROS "#undef INFINITY\n#undef NAN\n"
#define RESTORE_MACROS                                                                   \
    "#undef INFINITY\n#undef NAN\n#ifdef UPSKILLD_SHIM_MATH\n"                           \
    "#define INFINITY " MATH_INFINITY "\n#define NAN " MATH_NAN "\n#endif\n"
/* A macro as well as an enumerator, as in glibc: then nobody defines it as a number. */
#define ITSELF(name) "#define " #name " " #name "\n"
#define FROM_CUDA(name, header)                                                          \
    GUARDED(name, KEEP_MACROS "#include <cuda/std/" header ">\n" RESTORE_MACROS BRIDGE)

#define USE(name) "using ::" #name ";"
#define IN_STD(names) "namespace std { " names " }\n"
#define DEFINE(name, value) "#ifndef " #name "\n#define " #name " " value "\n#endif\n"

/* NULL, size_t and wchar_t are NVRTC's own; __INTADDR__ is its front end's offsetof. */
#define STDDEF                                                                           \
    GUARDED("STDDEF", "typedef decltype((char *)0 - (char *)0) ptrdiff_t;\n"             \
                      "typedef decltype(nullptr) nullptr_t;\n"                           \
                      "#ifdef offsetof\n#undef offsetof\n#endif\n"                       \
                      "#define offsetof(type, member) "                                  \
                      "((size_t)__INTADDR__(&(((type *)0)->member)))\n")

#define INTEGERS(use)                                                                    \
    use(int8_t) use(int16_t) use(int32_t) use(int64_t) use(uint8_t) use(uint16_t)        \
        use(uint32_t) use(uint64_t) use(int_fast8_t) use(int_fast16_t) use(int_fast32_t) \
            use(int_fast64_t) use(uint_fast8_t) use(uint_fast16_t) use(uint_fast32_t)    \
                use(uint_fast64_t) use(int_least8_t) use(int_least16_t)                  \
                    use(int_least32_t) use(int_least64_t) use(uint_least8_t)             \
                        use(uint_least16_t) use(uint_least32_t) use(uint_least64_t)      \
                            use(intptr_t) use(uintptr_t) use(intmax_t) use(uintmax_t)

/* The types are those of cuda/std/cstdint: 64 bits are long long, not glibc's long. */
#define STDINT                                                                           \
    "#if __cplusplus >= 201703L && __has_include(<cuda/std/cstdint>)\n"                  \
    "#include <cuda/std/cstdint>\n"                                                      \
    "#else\n"                                                                            \
    "typedef signed char int8_t; typedef signed short int16_t;\n"                        \
    "typedef signed int int32_t; typedef signed long long int64_t;\n"                    \
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"                  \
    "typedef unsigned int uint32_t; typedef unsigned long long uint64_t;\n"              \
    "typedef int8_t int_fast8_t, int_least8_t; typedef int16_t int_fast16_t, "           \
    "int_least16_t;\n"                                                                   \
    "typedef int32_t int_fast32_t, int_least32_t; typedef int64_t int_fast64_t, "        \
    "int_least64_t;\n"                                                                   \
    "typedef uint8_t uint_fast8_t, uint_least8_t; typedef uint16_t uint_fast16_t, "      \
    "uint_least16_t;\n"                                                                  \
    "typedef uint32_t uint_fast32_t, uint_least32_t; typedef uint64_t uint_fast64_t, "   \
    "uint_least64_t;\n"                                                                  \
    "typedef int64_t intptr_t, intmax_t; typedef uint64_t uintptr_t, uintmax_t;\n"       \
    "#endif\n" DEFINE(INT8_MIN, "(-128)") DEFINE(INT16_MIN, "(-32768)")                  \
        DEFINE(INT32_MIN, "(-2147483647 - 1)")                                           \
            DEFINE(INT64_MIN, "(-9223372036854775807LL - 1)") DEFINE(INT8_MAX, "127")    \
                DEFINE(INT16_MAX, "32767") DEFINE(INT32_MAX, "2147483647")               \
                    DEFINE(INT64_MAX, "9223372036854775807LL") DEFINE(UINT8_MAX, "255")  \
                        DEFINE(UINT16_MAX, "65535") DEFINE(UINT32_MAX, "4294967295U")    \
                            DEFINE(UINT64_MAX, "18446744073709551615ULL")                \
                                DEFINE(SIZE_MAX, "UINT64_MAX")                           \
                                    DEFINE(INTPTR_MAX, "INT64_MAX")                      \
                                        DEFINE(UINTPTR_MAX, "UINT64_MAX")                \
                                            DEFINE(PTRDIFF_MAX, "INT64_MAX")

/* printf's words for them; 64 bits are long long here. */
#define FORMATS(letter)                                                                  \
    DEFINE(PRI##letter##8, "\"" #letter "\"")                                            \
    DEFINE(PRI##letter##16, "\"" #letter "\"")                                           \
    DEFINE(PRI##letter##32, "\"" #letter "\"")                                           \
    DEFINE(PRI##letter##64, "\"ll" #letter "\"")                                         \
    DEFINE(PRI##letter##PTR, "\"ll" #letter "\"")
#define INTTYPES STDINT FORMATS(d) FORMATS(i) FORMATS(u) FORMATS(o) FORMATS(x) FORMATS(X)

/* cuda/std/climits and cuda/std/cstdint define their macros whatever is defined before,
 * so they go first where they are; they refuse to be read as C++14. */
#define CUDA_FIRST(header)                                                               \
    "#if __cplusplus >= 201703L && __has_include(<cuda/std/" header ">)\n"               \
    "#include <cuda/std/" header ">\n#endif\n"

#define LIMITS CUDA_FIRST("climits") LIMIT_MACROS
#define LIMIT_MACROS                                                                     \
    DEFINE(CHAR_BIT, "8")                                                                \
    DEFINE(SCHAR_MIN, "(-128)")                                                          \
    DEFINE(SCHAR_MAX, "127")                                                             \
    DEFINE(UCHAR_MAX, "255")                                                             \
    "#ifndef CHAR_MIN\n#ifdef __CHAR_UNSIGNED__\n#define CHAR_MIN 0\n"                   \
    "#define CHAR_MAX 255\n#else\n#define CHAR_MIN (-128)\n#define CHAR_MAX 127\n"       \
    "#endif\n#endif\n" DEFINE(SHRT_MIN, "(-32768)") DEFINE(SHRT_MAX, "32767")            \
        DEFINE(USHRT_MAX, "65535") DEFINE(INT_MIN, "(-2147483647 - 1)")                  \
            DEFINE(INT_MAX, "2147483647") DEFINE(UINT_MAX, "4294967295U")                \
                DEFINE(LONG_MIN, "(-9223372036854775807L - 1)")                          \
                    DEFINE(LONG_MAX, "9223372036854775807L")                             \
                        DEFINE(ULONG_MAX, "18446744073709551615UL")                      \
                            DEFINE(LLONG_MIN, "(-9223372036854775807LL - 1)")            \
                                DEFINE(LLONG_MAX, "9223372036854775807LL")               \
                                    DEFINE(ULLONG_MAX, "18446744073709551615ULL")

#define FLOATS                                                                           \
    DEFINE(FLT_RADIX, "2")                                                               \
    DEFINE(FLT_MANT_DIG, "24")                                                           \
    DEFINE(FLT_DIG, "6")                                                                 \
    DEFINE(FLT_DECIMAL_DIG, "9")                                                         \
    DEFINE(FLT_MIN_EXP, "(-125)")                                                        \
    DEFINE(FLT_MAX_EXP, "128")                                                           \
    DEFINE(FLT_MIN_10_EXP, "(-37)")                                                      \
    DEFINE(FLT_MAX_10_EXP, "38")                                                         \
    DEFINE(FLT_MAX, "3.40282346638528859811704183484516925e+38F")                        \
    DEFINE(FLT_MIN, "1.17549435082228750796873653722224568e-38F")                        \
    DEFINE(FLT_TRUE_MIN, "1.40129846432481707092372958328991613e-45F")                   \
    DEFINE(FLT_EPSILON, "1.19209289550781250000000000000000000e-7F")                     \
    DEFINE(DBL_MANT_DIG, "53")                                                           \
    DEFINE(DBL_DIG, "15")                                                                \
    DEFINE(DBL_DECIMAL_DIG, "17")                                                        \
    DEFINE(DBL_MIN_EXP, "(-1021)")                                                       \
    DEFINE(DBL_MAX_EXP, "1024")                                                          \
    DEFINE(DBL_MIN_10_EXP, "(-307)")                                                     \
    DEFINE(DBL_MAX_10_EXP, "308")                                                        \
    DEFINE(DBL_MAX, "1.79769313486231570814527423731704357e+308")                        \
    DEFINE(DBL_MIN, "2.22507385850720138309023271733240406e-308")                        \
    DEFINE(DBL_TRUE_MIN, "4.94065645841246544176568792868221372e-324")                   \
    DEFINE(DBL_EPSILON, "2.22044604925031308084726333618164062e-16")

/* The functions are NVRTC's own, with their float overloads; the macros are not. */
#define MATH                                                                             \
    DEFINE(INFINITY, MATH_INFINITY)                                                      \
    DEFINE(NAN, MATH_NAN)                                                                \
    DEFINE(HUGE_VALF, "INFINITY")                                                        \
    DEFINE(HUGE_VAL, "__builtin_bit_cast(double, 0x7ff0000000000000ull)")                \
    DEFINE(M_E, "2.7182818284590452354")                                                 \
    DEFINE(M_LOG2E, "1.4426950408889634074")                                             \
    DEFINE(M_LOG10E, "0.43429448190325182765")                                           \
    DEFINE(M_LN2, "0.69314718055994530942")                                              \
    DEFINE(M_LN10, "2.30258509299404568402")                                             \
    DEFINE(M_PI, "3.14159265358979323846")                                               \
    DEFINE(M_PI_2, "1.57079632679489661923")                                             \
    DEFINE(M_PI_4, "0.78539816339744830962")                                             \
    DEFINE(M_1_PI, "0.31830988618379067154")                                             \
    DEFINE(M_2_PI, "0.63661977236758134308")                                             \
    DEFINE(M_2_SQRTPI, "1.12837916709551257390")                                         \
    DEFINE(M_SQRT2, "1.41421356237309504880")                                            \
    DEFINE(M_SQRT1_2, "0.70710678118654752440")                                          \
    GUARDED("MATH",                                                                      \
            "typedef float float_t; typedef double double_t;\n"                          \
            "#ifndef FP_NAN\n"                                                           \
            "enum { FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL, FP_NORMAL };\n" ITSELF(  \
                FP_NAN) ITSELF(FP_INFINITE) ITSELF(FP_ZERO) ITSELF(FP_SUBNORMAL)         \
                ITSELF(FP_NORMAL) "#endif\n")

#define MATH_FUNCTIONS(use)                                                              \
    use(abs) use(fabs) use(fabsf) use(fmod) use(fmodf) use(remainder) use(remainderf)    \
        use(remquo) use(remquof) use(fma) use(fmaf) use(fmax) use(fmaxf) use(fmin)       \
            use(fminf) use(fdim) use(fdimf) use(nan) use(nanf) use(exp) use(expf)        \
                use(exp2) use(exp2f) use(expm1) use(expm1f) use(log) use(logf)           \
                    use(log10) use(log10f) use(log2) use(log2f) use(log1p) use(log1pf)   \
                        use(pow) use(powf) use(sqrt) use(sqrtf) use(cbrt) use(cbrtf)     \
                            use(hypot) use(hypotf) use(sin) use(sinf) use(cos) use(cosf) \
                                use(tan) use(tanf) use(asin) use(asinf) use(acos)        \
                                    use(acosf) use(atan) use(atanf) use(atan2)           \
                                        use(atan2f) MATH_FUNCTIONS_2(use)
#define MATH_FUNCTIONS_2(use)                                                            \
    use(sinh) use(sinhf) use(cosh) use(coshf) use(tanh) use(tanhf) use(asinh)            \
        use(asinhf) use(acosh) use(acoshf) use(atanh) use(atanhf) use(erf) use(erff)     \
            use(erfc) use(erfcf) use(tgamma) use(tgammaf) use(lgamma) use(lgammaf)       \
                use(ceil) use(ceilf) use(floor) use(floorf) use(trunc) use(truncf)       \
                    use(round) use(roundf) use(lround) use(lroundf) use(llround)         \
                        use(llroundf) use(nearbyint) use(nearbyintf) use(rint)           \
                            use(rintf) use(lrint) use(lrintf) use(llrint) use(llrintf)   \
                                use(frexp) use(frexpf) use(ldexp) use(ldexpf) use(modf)  \
                                    use(modff) use(scalbn) use(scalbnf) use(scalbln)     \
                                        use(ilogb) use(ilogbf) use(logb) use(logbf)      \
                                            use(nextafter) use(nextafterf) use(copysign) \
                                                use(copysignf) use(isfinite) use(isinf)  \
                                                    use(isnan) use(signbit)

/* memcpy, memset, malloc, free, printf and clock are NVRTC's own. */
#define STDLIB                                                                           \
    DEFINE(EXIT_SUCCESS, "0") DEFINE(EXIT_FAILURE, "1") DEFINE(RAND_MAX, "2147483647")

/* <assert.h> may be included again and again with another NDEBUG:
 * NVRTC's own assert heeds NDEBUG where it is used. */
#define ASSERT "\n"

/* nvcc reads <cuda_runtime.h> before any file, and with it <cmath>,
 * <climits> and <sys/types.h> of the host; sources rely on that. Not
 * uint32_t, FLT_MAX or assert, which nvcc wants included as well. */
#define HOST_TYPES                                                                       \
    GUARDED("HOST_TYPES",                                                                \
            "typedef signed char int8_t; typedef signed short int16_t;\n"                \
            "typedef signed int int32_t; typedef signed long long int64_t;\n"            \
            "typedef unsigned short ushort; typedef unsigned int uint;\n"                \
            "typedef unsigned long ulong; typedef int pid_t; typedef long ssize_t;\n")
/* Of cuda_device_runtime_api.h, which NVRTC's cuda_runtime.h leaves
 * out. Templates, so that the header's own win where a source
 * includes it. */
#define DEVICE_RUNTIME                                                                   \
    GUARDED("DEVICE_RUNTIME",                                                            \
            "template <typename = void> __device__ __forceinline__ void "                \
            "cudaGridDependencySynchronize() {\n"                                        \
            "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n}\n"            \
            "template <typename = void> __device__ __forceinline__ void "                \
            "cudaTriggerProgrammaticLaunchCompletion() {\n"                              \
            "    asm volatile(\"griddepcontrol.launch_dependents;\");\n}\n")
/* Words that g++ takes, at the most with a warning, and its other
 * spellings of keywords.
 */
#define SPELT(name, word) "#define __" name " " word "\n#define __" name "__ " word "\n"
#define HOST_WORDS                                                                       \
    DEFINE(__linux__, "1")                                                               \
    DEFINE(__linux, "1")                                                                 \
    DEFINE(__unix__, "1")                                                                \
    DEFINE(__GLIBC__, "2")                                                               \
    DEFINE(__GLIBC_MINOR__, "28")                                                        \
    "#ifndef __GLIBC_PREREQ\n#define __GLIBC_PREREQ(major, minor) "                      \
    "((major) < 2 || ((major) == 2 && (minor) <= 28))\n#endif\n"                         \
    "#if __cplusplus >= 201703L\n#define register\n#endif\n#define "                     \
    "__extension__\n" SPELT("asm", "asm") SPELT("const", "const")                        \
        SPELT("signed", "signed") SPELT("volatile", "volatile")
#define AS_NVCC                                                                          \
    HOST_WORDS MATH LIMIT_MACROS STDDEF HOST_TYPES DEVICE_RUNTIME IN_STD(                \
        MATH_FUNCTIONS(USE) USE(size_t) USE(ptrdiff_t) USE(nullptr_t))

/* The traits that kernels ask for most, without the rest of
 * <type_traits>, which takes ten times as long to read. Where CUDA's
 * libraries have them elsewhere, all of it. */
#define TRAIT(name) "#include <cuda/std/__type_traits/" #name ".h>\n"
#define TRAITS                                                                           \
    "#if __has_include(<cuda/std/__type_traits/is_same.h>) && "                          \
    "__has_include(<cuda/std/__type_traits/underlying_type.h>)\n" STD_LIGHT_TRAITS(      \
        TRAIT) "#else\n#include <cuda/std/type_traits>\n#endif\n" BRIDGE

static const char algorithm_text[] =
    GUARDED("ALGORITHM", KEEP_MACROS "#if __has_include(<cuda/std/algorithm>)\n"
                                     "#include <cuda/std/algorithm>\n"
                                     "#elif __has_include(<cuda/std/__algorithm_>)\n"
                                     "#include <cuda/std/__algorithm_>\n"
                                     "#else\n"
                                     "#include <cuda/std/utility>\n"
                                     "#endif\n" RESTORE_MACROS BRIDGE);

/* What device code gets by the headers of the host's libraries: the
 * types of their arguments. */
#define BRINGS_COMPLEX "#include <cuComplex.h>\n#include <library_types.h>\n"
#define CUFFT                                                                            \
    BRINGS_COMPLEX                                                                       \
    GUARDED("CUFFT", "typedef float cufftReal; typedef double cufftDoubleReal;\n"        \
                     "typedef cuComplex cufftComplex;\n"                                 \
                     "typedef cuDoubleComplex cufftDoubleComplex;\n")
#define BRINGS_HALF BRINGS_COMPLEX "#include <cuda_fp16.h>\n"
#define BRINGS_BFLOAT16 BRINGS_HALF "#include <cuda_bf16.h>\n"

const struct shim shims[] = {
    {"stddef.h", STDDEF},
    {"cstddef", STDDEF CUDA_FIRST("cstddef")
                    BRIDGE IN_STD(USE(size_t) USE(ptrdiff_t) USE(nullptr_t))},
    {"stdint.h", STDINT},
    {"cstdint", STDINT IN_STD(INTEGERS(USE))},
    {"inttypes.h", INTTYPES},
    {"cinttypes", INTTYPES IN_STD(INTEGERS(USE))},

    {"limits.h", LIMITS},
    {"climits", LIMITS},
    {"float.h", FLOATS},
    {"cfloat", FLOATS},
    {"math.h", MATH},
    {"cmath", MATH IN_STD(MATH_FUNCTIONS(USE))},
    {"stdio.h", STDDEF},
    {"cstdio", STDDEF IN_STD(USE(printf) USE(size_t))},
    {"stdlib.h", STDDEF STDLIB},
    {"cstdlib", STDDEF STDLIB IN_STD(USE(malloc) USE(free) USE(size_t) USE(abs))},
    {"string.h", STDDEF},
    {"memory.h", STDDEF},
    {"cstring", STDDEF IN_STD(USE(memcpy) USE(memset) USE(size_t))},
    {"assert.h", ASSERT},
    {"cassert", ASSERT},
    {"stdbool.h", "\n"},
    {"stdarg.h", "\n"},
    {"cstdarg", "\n"},
    {"iso646.h", "\n"},
    {"ciso646", "\n"},
    {"algorithm", algorithm_text},
    {"array", FROM_CUDA("ARRAY", "array")},
    {"bit", FROM_CUDA("BIT", "bit")},
    {"complex", FROM_CUDA("COMPLEX", "complex")},
    {"concepts", FROM_CUDA("CONCEPTS", "concepts")},
    {"functional", FROM_CUDA("FUNCTIONAL", "functional")},
    {"initializer_list", FROM_CUDA("INITIALIZER_LIST", "initializer_list")},
    {"iterator", FROM_CUDA("ITERATOR", "iterator")},
    {"limits", FROM_CUDA("LIMITS", "limits")},
    {"numbers", FROM_CUDA("NUMBERS", "numbers")},
    {"numeric", FROM_CUDA("NUMERIC", "numeric")},
    {"optional", FROM_CUDA("OPTIONAL", "optional")},
    {"ratio", FROM_CUDA("RATIO", "ratio")},
    {"span", FROM_CUDA("SPAN", "span")},
    {"tuple", FROM_CUDA("TUPLE", "tuple")},
    {"type_traits", FROM_CUDA("TYPE_TRAITS", "type_traits")},
    {"utility", FROM_CUDA("UTILITY", "utility")},
    {"variant", FROM_CUDA("VARIANT", "variant")},
    {"cub/cub.cuh", KEEP_MACROS "#include <cub_device>\n" RESTORE_MACROS},
    {"cub_device", shim_cub},
    {"torch", shim_torch},
    {SHIM_AS_NVCC, AS_NVCC},
    {STD_NAMES_TRAITS, TRAITS},
    {STD_NAMES_ABS, MATH KEEP_MACROS
     "#include <cuda/std/cmath>\n#include <cuda/std/cstdlib>\n" RESTORE_MACROS},
    {"cublas.h", BRINGS_BFLOAT16},
    {"cublas_v2.h", BRINGS_BFLOAT16},
    {"cublas_api.h", BRINGS_BFLOAT16},
    {"cublasLt.h", BRINGS_BFLOAT16},
    {"cublasXt.h", BRINGS_BFLOAT16},
    {"cusolverDn.h", BRINGS_BFLOAT16},
    {"cusolverSp.h", BRINGS_BFLOAT16},
    {"cusparse.h", BRINGS_HALF},
    {"cusparse_v2.h", BRINGS_HALF},
    {"nccl.h", "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"},
    {"cufft.h", CUFFT},
    {"cufftXt.h", CUFFT},
    {"cudnn.h", "#include <library_types.h>\n"},
    {"curand.h", "#include <library_types.h>\n"},
    {"torch_std", "#define UPSKILLD_TORCH_STD\n#include <torch>\n"},
};
const size_t shim_count = ARRAY_LEN(shims);

const struct shim *shim_find(const char *name) {
    for (size_t i = 0; i < shim_count; i++) {
        if (strcmp(shims[i].name, name) == 0) {
            return &shims[i];
        }
    }
    return NULL;
}
