#pragma once
/* std_names: the standard headers that a source counts on without including them.
 *
 * nvcc has read <cuda_runtime.h> before a source's first line, and with it the host's
 * <cmath>, <cstdlib> and <utility>, which bring std::is_same, std::index_sequence …
 * along; others of the host's, as <chrono>, bring <cstdint>. What stands for these
 * headers (shims.h) is read first, but only where device code uses such a name, for
 * reading them takes up to half a second. */
#include <stdbool.h>
#include <stddef.h>

struct source_set;

#define STD_NAMES_TRAITS "upskilld_traits" /* the shim of the light ones */
#define STD_NAMES_ABS "upskilld_abs"       /* cuda::std::abs for all types */
/* What kernels ask for most, each in a header of its own beneath cuda/std. */
#define STD_LIGHT_TRAITS(use)                                                            \
    use(conditional) use(decay) use(enable_if) use(integral_constant) use(is_arithmetic) \
        use(is_base_of) use(is_convertible) use(is_enum) use(is_floating_point)          \
            use(is_integral) use(is_pointer) use(is_same) use(is_signed)                 \
                use(is_trivially_copyable) use(is_unsigned) use(is_void)                 \
                    use(remove_const) use(remove_cv) use(remove_cvref)                   \
                        use(remove_pointer) use(remove_reference) use(underlying_type)

/* Bits of the shims that are wanted; for C++17 and later, cuda/std is not to be had
 * before. Host code must be blanked. relaxed: with nvcc's --expt-relaxed-constexpr. */
unsigned std_names_wanted(const struct source_set *sources, bool relaxed);
/* Whether a source has "{.name = 1}": C++20, which g++ and so nvcc take in C++17 too. */
bool std_names_designators(const struct source_set *sources);
/* The shim of a bit, counted from 0; NULL past the last. */
const char *std_names_shim(unsigned bit);
