#pragma once
/* tensor_map: what the tensor memory accelerator is told of a buffer (a CUtensorMap), and
 * the rules that cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col set for it.
 *
 * A kernel takes it by value as `const __grid_constant__ CUtensorMap`, 128 bytes. Here
 * dimensions are counted as CUDA counts them: 0 is the innermost, the one whose elements
 * lie side by side. Rules: CUDA Driver API, "Tensor Map Object Management". */
#include "gpu/tensor/tensor_type.h"

struct err;

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

/* Of a batch of images [images, depth?, height?, width, channels]: the box of places
 * where a filter may stand, by its corners, [0] along the width; `lower` counts from the
 * first pixel, `upper` from the last. */
struct tensor_map_im2col {
    int32_t lower[TENSOR_MAP_SPATIAL], upper[TENSOR_MAP_SPATIAL];
    uint32_t channels; /* of a pixel, that a copy takes */
    uint32_t pixels;   /* of a copy; 0: the map is one for tiles */
};

struct tensor_map {
    enum tensor_type type;
    unsigned rank;                         /* 1 to 5 */
    uint64_t extents[TENSOR_MAP_MAX_RANK]; /* elements */
    uint64_t strides[TENSOR_MAP_MAX_RANK]; /* bytes; [0] is the element's own size, which
                                              cuTensorMapEncodeTiled is not given */
    uint32_t box[TENSOR_MAP_MAX_RANK];     /* elements; not for im2col */
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
/* Elements that lie side by side in a copy: the box's, a pixel's channels. */
static inline uint32_t tensor_map_inner(const struct tensor_map *map) {
    return tensor_map_is_im2col(map) ? map->im2col.channels : map->box[0];
}

/* Extents of a packed row-major tensor into strides. */
void tensor_map_pack(struct tensor_map *map);
/* Bytes from the first element to the end of the last; UINT64_MAX when that overflows. */
uint64_t tensor_map_span(const struct tensor_map *map);
/* Every rule but the address's. -EINVAL with a sentence that names the field:
 * "box[0]: 40 bytes of the innermost dimension are not a multiple of 16". Indices in it
 * count as the spec's do, from the outermost dimension. */
int tensor_map_check(const struct tensor_map *map, struct err *err);
/* The buffer's address: a multiple of 16, of 32 when it is interleaved by 32. */
int tensor_map_check_address(const struct tensor_map *map, uint64_t address,
                             struct err *err);
