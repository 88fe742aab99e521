#pragma once
/* transfers: copies and fills, of rows of bytes on either side. */
#include "gpu/device/device.h"
#include "gpu/runtime/cuda_types.h"

struct rows { /* depth slices of height rows of width bytes; rows are pitch apart */
    uint8_t *address; /* the program's address, or (array) its bytes in the device */
    size_t pitch, slice;
    bool is_array;
};
struct copy_shape {
    size_t width, height, depth;
};
/* width in bytes */
cudart_error copy_rows(struct rows to, struct rows from, struct copy_shape shape,
                       int kind, struct stream *stream, bool waits);
/* For a graph. */
cudart_error copy_make(struct op **ret, struct rows to, struct rows from,
                       struct copy_shape shape, int kind);
cudart_error fill_make(struct op **ret, struct rows to, struct copy_shape shape,
                       unsigned value, unsigned element_bytes);
/* What a fill for a graph does. */
void fill_describe(struct op *op, struct cudart_set_node *ret);
