#pragma once
/* tensor_range: the range of an array's elements. */
#include "gpu/tensor/tensor_type.h"

struct tensor_range {
    double low, high;    /* up to the first that is not finite; low > high: none */
    bool finite, sorted; /* all are finite; no element is less than its predecessor */
};
struct tensor_range tensor_range_of(enum tensor_type type, const void *data,
                                    uint64_t count);
