#pragma once
/* arrays: CUDA arrays, the memory behind textures and surfaces. */
#include "gpu/device/device.h"
#include "gpu/runtime/cuda_types.h"

struct array {
    struct array *next;
    struct cudart_channels channels;
    struct cudart_extent extent; /* as requested: 0 for a missing dimension */
    unsigned flags;
    unsigned element_bytes;
    struct allocation *in; /* packed: rows, slices or layers */
};
enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBEMAP = 4, ARRAY_GATHER = 8 };

struct array *array_find(struct array *handle); /* NULL: not a valid handle */
/* The machine's type of each channel and the number of channels; PTX_NONE:
 * unsupported. */
enum ptx_type channels_type(const struct cudart_channels *c, unsigned *ret_count);
/* A copy between arrays or linear memory, for a graph. */
cudart_error copy_3d_make(struct op **ret, const struct cudart_copy_3d *c);
