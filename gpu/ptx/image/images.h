#pragma once
/* images: the meaning of texture and surface objects.
 *
 * A handle is an opaque number of 64 bits, not an address. An image views the elements of
 * an allocation, row after row, dimension 0 (x) innermost; it owns nothing. Meaning of
 * the modes: NVIDIA, CUDA C++ Programming Guide, "Texture Fetching". */
#include "gpu/ptx/state/memory.h"

#define IMAGE_HANDLE UINT64_C(0x7f0000000000)
#define IMAGE_STEP 256u /* between handles */
#define IMAGES_MAX 65536u

enum image_address { IMAGE_WRAP, IMAGE_CLAMP, IMAGE_MIRROR, IMAGE_BORDER };

struct image {
    struct allocation *in;
    uint64_t offset;    /* of its first byte in there */
    uint8_t type;       /* enum ptx_type: F32, F16, U8 … S32 */
    uint8_t bytes;      /* of a texel, all channels */
    uint8_t channels;   /* 1, 2, 4 */
    uint8_t rank;       /* 1 to 3, without layers */
    uint32_t extent[3]; /* texels in x, y, z; 1 beyond the rank */
    uint64_t pitch;     /* bytes from row to row */
    uint32_t layers;    /* 0: it is not layered; those of cubes are their faces */
    bool is_layered;    /* a layer is asked for: of cubes, which one */
    bool is_cube;       /* of 6 layers, or each 6 are one */
    bool is_seamless;   /* a cube that is filtered beyond its edges */
    bool is_surface;
    bool is_linear; /* 1D memory, read by whole numbers; outside of it is 0 */
    uint8_t address[3];
    bool filters;       /* linear, else the nearest */
    bool is_normalized; /* coordinates run from 0 to 1 */
    bool reads_floats;  /* integers become 0 … 1 or -1 … 1 */
};

struct images {
    struct image **list;
    uint32_t count;
};

/* A copy of the image; -ENOMEM if there are too many. */
int images_add(struct images *t, const struct image *image, uint64_t *ret_handle);
/* NULL: the handle is invalid. */
const struct image *images_find(const struct images *t, uint64_t handle);
void images_remove(struct images *t, uint64_t handle); /* no launch may run */
void images_finish(struct images *t);

/* The offset of texel (x, y, z) of a layer in the allocation. */
static inline uint64_t image_offset(const struct image *im, uint64_t layer, uint64_t z,
                                    uint64_t y, uint64_t x) {
    uint64_t slice = layer * im->extent[2] + z;
    return im->offset + (slice * im->extent[1] + y) * im->pitch + x * im->bytes;
}
