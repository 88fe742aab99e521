#include "gpu/tensor/tensor_range.h"

#include <math.h>

enum { AT_ONCE = 1024 };

struct tensor_range tensor_range_of(enum tensor_type type, const void *data,
                                    uint64_t count) {
    struct tensor_range r = {INFINITY, -INFINITY, true, true};
    double values[AT_ONCE], before = -INFINITY;
    for (uint64_t from = 0; from < count && r.finite; from += AT_ONCE) {
        size_t n = count - from < AT_ONCE ? (size_t)(count - from) : AT_ONCE;
        tensor_load(type, data, from, n, values);
        for (size_t i = 0; i < n; i++) {
            bool finite = isfinite(values[i]) != 0;
            r.finite &= finite;
            r.sorted &= values[i] >= before;
            r.low = finite && values[i] < r.low ? values[i] : r.low;
            r.high = finite && values[i] > r.high ? values[i] : r.high;
            before = values[i];
        }
    }
    return r;
}
