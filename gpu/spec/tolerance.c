#include "gpu/spec/tolerance.h"

/* The precision of each type, some units in the last place of an accumulation. */
struct tolerance tolerance_default(enum tensor_type type) {
    static const double relative[TENSOR_TYPES] = {
        [TENSOR_FLOAT32] = 1e-4,     [TENSOR_FLOAT64] = 1e-9,
        [TENSOR_FLOAT16] = 1e-2,     [TENSOR_BFLOAT16] = 2e-2,
        [TENSOR_FLOAT8_E4M3] = 0.13, [TENSOR_FLOAT8_E5M2] = 0.26,
    };
    if (!tensor_type_float(type)) {
        return (struct tolerance){.mode = COMPARE_EXACT};
    }
    return (struct tolerance){.mode = COMPARE_ELEMENTWISE,
                              .rtol = relative[type],
                              .atol = relative[type] / 10,
                              .scale = true};
}
