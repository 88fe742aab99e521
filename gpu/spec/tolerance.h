#pragma once
/* tolerance: the allowed difference between an output and its expected value; compare.h
 * describes the comparison. */
#include "gpu/tensor/tensor_type.h"

enum compare_mode { COMPARE_ELEMENTWISE, COMPARE_EXACT, COMPARE_MULTISET };

struct tolerance {
    enum compare_mode mode;
    double rtol, atol;
    bool scale; /* atol is relative to the expected values: expected_scale.h */
};
/* The default for a type: exact for integers and bool; floats by their precision. */
struct tolerance tolerance_default(enum tensor_type type);
