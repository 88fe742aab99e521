#pragma once
/* std_names: the standard headers that a source uses without including them.
 *
 * Before a source's first line, nvcc reads <cuda_runtime.h>, and with it the host's
 * <cmath>, <cstdlib> and <utility>, which declare std::is_same, std::index_sequence …;
 * other host headers, such as <chrono>, include <cstdint>. The replacements of these
 * headers (shims.h) are read first, but only if device code uses such a name, because
 * reading them takes up to half a second. */
#include "base/mem.h"

struct source_set;

#define STD_NAMES_TRAITS "upskilld_traits" /* the shim with the light ones */
#define STD_NAMES_ABS "upskilld_abs"       /* cuda::std::abs for all types */
/* The traits that kernels use most; each has its own header beneath cuda/std. */
#define STD_LIGHT_TRAITS(use)                                                            \
    use(conditional) use(decay) use(enable_if) use(integral_constant) use(is_arithmetic) \
        use(is_base_of) use(is_convertible) use(is_enum) use(is_floating_point)          \
            use(is_integral) use(is_pointer) use(is_same) use(is_signed)                 \
                use(is_trivially_copyable) use(is_unsigned) use(is_void)                 \
                    use(remove_const) use(remove_cv) use(remove_cvref)                   \
                        use(remove_pointer) use(remove_reference) use(underlying_type)

/* Bits of the required shims; needs C++17 or later, as cuda/std does. Host code must be
 * blanked. relaxed: with nvcc's --expt-relaxed-constexpr. */
unsigned std_names_wanted(const struct source_set *sources, bool relaxed);
/* Whether a source has "{.name = 1}": C++20, which g++, and therefore nvcc, accepts in
 * C++17 too. */
bool std_names_designators(const struct source_set *sources);
/* The shim of a bit, counted from 0; NULL after the last. */
const char *std_names_shim(unsigned bit);
