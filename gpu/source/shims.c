#include "gpu/source/shims.h"

#include "gpu/shim_texts.h"
#include "gpu/source/std_names.h"

/* Every text may be included in any order with CUDA's own headers, in one file or
 * another: macros are guarded and types repeat what cuda/std declares, word for word.
 * SHIM_NAME is the text of headers/name.cuh. */

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
#define FROM_CUDA(name, header)                                                          \
    GUARDED(name, KEEP_MACROS "#include <cuda/std/" header ">\n" RESTORE_MACROS BRIDGE)

#define USE(name) "using ::" #name ";"
#define IN_STD(names) "namespace std { " names " }\n"
#define DEFINE(name, value) "#ifndef " #name "\n#define " #name " " value "\n#endif\n"

/* printf's words for them; 64 bits are long long here. */
#define FORMATS(letter)                                                                  \
    DEFINE(PRI##letter##8, "\"" #letter "\"")                                            \
    DEFINE(PRI##letter##16, "\"" #letter "\"")                                           \
    DEFINE(PRI##letter##32, "\"" #letter "\"")                                           \
    DEFINE(PRI##letter##64, "\"ll" #letter "\"")                                         \
    DEFINE(PRI##letter##PTR, "\"ll" #letter "\"")
#define INTTYPES                                                                         \
    SHIM_STDINT FORMATS(d) FORMATS(i) FORMATS(u) FORMATS(o) FORMATS(x) FORMATS(X)

/* cuda/std/climits and cuda/std/cstdint define their macros whatever is defined before,
 * so they go first where they are; they refuse to be read as C++14. */
#define CUDA_FIRST(header)                                                               \
    "#if __cplusplus >= 201703L && __has_include(<cuda/std/" header ">)\n"               \
    "#include <cuda/std/" header ">\n#endif\n"

#define LIMITS CUDA_FIRST("climits") SHIM_LIMITS
#define MATH DEFINE(INFINITY, MATH_INFINITY) DEFINE(NAN, MATH_NAN) SHIM_MATH

/* memcpy, memset, malloc, free, printf and clock are NVRTC's own. */
#define STDLIB                                                                           \
    DEFINE(EXIT_SUCCESS, "0") DEFINE(EXIT_FAILURE, "1") DEFINE(RAND_MAX, "2147483647")

/* <assert.h> may be included again and again with another NDEBUG:
 * NVRTC's own assert heeds NDEBUG where it is used. */
#define ASSERT "\n"

/* nvcc reads <cuda_runtime.h> before any file, and with it <cmath>; sources rely on that.
 * It warns of narrowing (2361) where NVRTC alone refuses the braces of a constructor. */
#define AS_NVCC                                                                          \
    "#pragma nv_diag_warning 2361\n" SHIM_HOST_WORDS MATH SHIM_LIMITS SHIM_STDDEF        \
    IN_STD(SHIM_STD_MATH USE(size_t) USE(ptrdiff_t) USE(nullptr_t))

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
    {"stddef.h", SHIM_STDDEF},
    {"cstddef", SHIM_STDDEF CUDA_FIRST("cstddef")
                    BRIDGE IN_STD(USE(size_t) USE(ptrdiff_t) USE(nullptr_t))},
    {"stdint.h", SHIM_STDINT},
    {"cstdint", SHIM_STDINT IN_STD(SHIM_STD_INTEGERS)},
    {"inttypes.h", INTTYPES},
    {"cinttypes", INTTYPES IN_STD(SHIM_STD_INTEGERS)},

    {"limits.h", LIMITS},
    {"climits", LIMITS},
    {"float.h", SHIM_FLOAT},
    {"cfloat", SHIM_FLOAT},
    {"math.h", MATH},
    {"cmath", MATH IN_STD(SHIM_STD_MATH)},
    {"stdio.h", SHIM_STDDEF},
    {"cstdio", SHIM_STDDEF IN_STD(USE(printf) USE(size_t))},
    {"stdlib.h", SHIM_STDDEF STDLIB},
    {"cstdlib", SHIM_STDDEF STDLIB IN_STD(USE(malloc) USE(free) USE(size_t) USE(abs))},
    {"string.h", SHIM_STDDEF},
    {"memory.h", SHIM_STDDEF},
    {"cstring", SHIM_STDDEF IN_STD(USE(memcpy) USE(memset) USE(size_t))},
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
    {"cub_device", SHIM_CUB},
    {"torch", SHIM_TORCH},
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
