#pragma once
/* tensor_map: what the tensor memory accelerator is told of a buffer (a CUtensorMap), and
 * the rules that cuTensorMapEncodeTiled sets for it.
 *
 * A kernel takes it by value as `const __grid_constant__ CUtensorMap`, 128 bytes. Here
 * dimensions are counted as CUDA counts them: 0 is the innermost, the one whose elements
 * lie side by side. Rules: CUDA Driver API, "Tensor Map Object Management". */
#include "gpu/validate/tensor_type.h"

struct err;

#define TENSOR_MAP_BYTES 128
#define TENSOR_MAP_ALIGN 64
#define TENSOR_MAP_MAX_RANK 5
#define TENSOR_MAP_MAX_BOX 256
#define TENSOR_MAP_MAX_ELEMENT_STRIDE 8

/* The values are those of CUtensorMapSwizzle, CUtensorMapInterleave,
 * CUtensorMapL2promotion and CUtensorMapFloatOOBfill. */
enum tensor_map_swizzle { SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B };
enum tensor_map_interleave { INTERLEAVE_NONE, INTERLEAVE_16B, INTERLEAVE_32B };
enum tensor_map_promotion { PROMOTE_NONE, PROMOTE_64B, PROMOTE_128B, PROMOTE_256B };
enum tensor_map_fill { FILL_ZEROS, FILL_NAN };

struct tensor_map {
    enum tensor_type type;
    unsigned rank;                         /* 1 to 5 */
    uint64_t extents[TENSOR_MAP_MAX_RANK]; /* elements */
    uint64_t strides[TENSOR_MAP_MAX_RANK]; /* bytes; [0] is the element's own size, which
                                              cuTensorMapEncodeTiled is not given */
    uint32_t box[TENSOR_MAP_MAX_RANK];     /* elements */
    uint32_t element_strides[TENSOR_MAP_MAX_RANK];
    enum tensor_map_swizzle swizzle;
    enum tensor_map_interleave interleave;
    enum tensor_map_promotion promotion;
    enum tensor_map_fill fill;
};

/* Extents of a packed row-major tensor into strides. */
void tensor_map_pack(struct tensor_map *map);
/* Bytes from the first element to the end of the last; UINT64_MAX when that overflows. */
uint64_t tensor_map_span(const struct tensor_map *map);
/* Every rule but the address's. -EINVAL with a sentence that names the field:
 * "box[0]: 40 bytes of the innermost dimension are no multiple of 16". Indices in it
 * count as the spec's do, from the outermost dimension. */
int tensor_map_check(const struct tensor_map *map, struct err *err);
/* The buffer's address: a multiple of 16, of 32 when it is interleaved by 32. */
int tensor_map_check_address(const struct tensor_map *map, uint64_t address,
                             struct err *err);
