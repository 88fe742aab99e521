#include "gpu/tensor/tensor_shape.h"

#include <stdio.h>

const char *tensor_shape_text(const int64_t *shape, size_t rank, char *buf, size_t size) {
    size_t len = (size_t)snprintf(buf, size, "[");
    for (size_t i = 0; i < rank && len < size; i++) {
        len += (size_t)snprintf(buf + len, size - len, "%s%lld", i ? ", " : "",
                                (long long)shape[i]);
    }
    if (len < size) {
        snprintf(buf + len, size - len, "]");
    }
    return buf;
}

bool tensor_shape_fits(const int64_t *a, size_t a_rank, const int64_t *b, size_t b_rank) {
    size_t i = 0, k = 0;
    while (i < a_rank || k < b_rank) {
        if (i < a_rank && a[i] == 1) {
            i++;
        } else if (k < b_rank && b[k] == 1) {
            k++;
        } else if (i == a_rank || k == b_rank || a[i++] != b[k++]) {
            return false;
        }
    }
    return true;
}
