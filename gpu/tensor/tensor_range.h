#pragma once
/* tensor_range: what the elements of an array lie between. */
#include "gpu/tensor/tensor_type.h"

struct tensor_range {
    double low, high;    /* of the finite ones; low > high: there are none */
    bool finite, sorted; /* all are; none is less than the one before it */
};
struct tensor_range tensor_range_of(enum tensor_type type, const void *data,
                                    uint64_t count);
