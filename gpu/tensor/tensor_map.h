#pragma once
/* tensor_map: a CUtensorMap, the description of a buffer for the tensor memory
 * accelerator, and the rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. A
 * kernel takes it by value as `const __grid_constant__ CUtensorMap`, 128 bytes.
 * Dimensions are counted as in CUDA: 0 is the innermost, whose elements are contiguous.
 * Rules: CUDA Driver API, "Tensor Map Object Management". */
#include "gpu/tensor/tensor_type.h"

#define TENSOR_MAP_BYTES 128
#define TENSOR_MAP_MAX_RANK 5
#define TENSOR_MAP_MAX_BOX 256
#define TENSOR_MAP_MAX_ELEMENT_STRIDE 8
#define TENSOR_MAP_MAX_PIXELS 1024
#define TENSOR_MAP_SPATIAL 3 /* width, height, depth */

/* The values are those of CUtensorMapSwizzle, CUtensorMapInterleave,
 * CUtensorMapL2promotion and CUtensorMapFloatOOBfill. */
enum tensor_map_swizzle { SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B };
enum tensor_map_interleave { INTERLEAVE_NONE, INTERLEAVE_16B, INTERLEAVE_32B };
enum tensor_map_promotion { PROMOTE_NONE, PROMOTE_64B, PROMOTE_128B, PROMOTE_256B };
enum tensor_map_fill { FILL_ZEROS, FILL_NAN };

/* For a batch of images [images, depth?, height?, width, channels]: the box of filter
 * positions, given by its corners, [0] along the width; `lower` counts from the first
 * pixel, `upper` from the last. */
struct tensor_map_im2col {
    int32_t lower[TENSOR_MAP_SPATIAL], upper[TENSOR_MAP_SPATIAL];
    uint32_t channels; /* per pixel, in one copy */
    uint32_t pixels;   /* per copy; 0: the map is for tiles */
};

struct tensor_map {
    enum tensor_type type;
    unsigned rank;                         /* 1 to 5 */
    uint64_t extents[TENSOR_MAP_MAX_RANK]; /* elements */
    /* bytes; [0] is the element's own size, which cuTensorMapEncodeTiled does not take */
    uint64_t strides[TENSOR_MAP_MAX_RANK];
    uint32_t box[TENSOR_MAP_MAX_RANK]; /* elements; not for im2col */
    uint32_t element_strides[TENSOR_MAP_MAX_RANK];
    enum tensor_map_swizzle swizzle;
    enum tensor_map_interleave interleave;
    enum tensor_map_promotion promotion;
    enum tensor_map_fill fill;
    struct tensor_map_im2col im2col;
};

static inline bool tensor_map_is_im2col(const struct tensor_map *map) {
    return map->im2col.pixels != 0;
}
/* Contiguous elements of a copy: the box's, or a pixel's channels. */
static inline uint32_t tensor_map_inner(const struct tensor_map *map) {
    return tensor_map_is_im2col(map) ? map->im2col.channels : map->box[0];
}

/* Sets the strides of a packed row-major tensor from its extents. */
void tensor_map_pack(struct tensor_map *map);
/* Bytes from the first element to the end of the last; UINT64_MAX on overflow. */
uint64_t tensor_map_span(const struct tensor_map *map);
/* Checks every rule except the address's. -EINVAL with a sentence that names the field:
 * "box[0]: 40 bytes of the innermost dimension are not a multiple of 16". Its indices
 * count as in the spec, from the outermost dimension. */
int tensor_map_check(const struct tensor_map *map, struct err *err);
/* Checks the buffer's address: a multiple of 16, or of 32 if interleaved by 32. */
int tensor_map_check_address(const struct tensor_map *map, uint64_t address,
                             struct err *err);
