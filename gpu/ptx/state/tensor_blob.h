#pragma once
/* tensor_blob: the 128 bytes of a CUtensorMap on this machine.
 *
 * NVIDIA's layout is not published; code that makes maps for kernels that run here fills
 * this one. Dimension 0 is the innermost. */
#include "base/mem.h"

#define TENSOR_BLOB_BYTES 128
#define TENSOR_BLOB_ALIGN 64
#define TENSOR_BLOB_RANK 5
/* The 16 bits, repeated, that fill_nan writes outside the tensor: NVIDIA does not
 * document them; two public projects that compared with H100s have found these. */
#define TENSOR_NAN 0x7ff7u
#define TENSOR_BLOB_SPATIAL 3 /* width, height, depth of an image */

/* The numbers of CUtensorMapDataType. */
enum tensor_blob_type {
    TENSOR_BLOB_U8,
    TENSOR_BLOB_U16,
    TENSOR_BLOB_U32,
    TENSOR_BLOB_S32,
    TENSOR_BLOB_U64,
    TENSOR_BLOB_S64,
    TENSOR_BLOB_F16,
    TENSOR_BLOB_F32,
    TENSOR_BLOB_F64,
    TENSOR_BLOB_BF16,
    TENSOR_BLOB_F32_FTZ,
    TENSOR_BLOB_TF32,
    TENSOR_BLOB_TF32_FTZ,
    TENSOR_BLOB_TYPES
};

struct tensor_blob {
    char magic[8];
    uint64_t address;
    uint64_t strides[TENSOR_BLOB_RANK - 1]; /* bytes, of dimensions 1 … */
    uint32_t last[TENSOR_BLOB_RANK];        /* extents - 1 */
    uint16_t box[TENSOR_BLOB_RANK];         /* 1 to 256; im2col: [0], of a pixel */
    uint8_t
        element_strides[TENSOR_BLOB_RANK]; /* 1 to 8; that of dimension 0 is ignored */
    uint8_t type, rank, swizzle, fill_nan; /* swizzle: 0 none, 1 32B, 2 64B, 3 128B */
    uint8_t im2col; /* 1: the fields below, in place of box[1 …] */
    int16_t
        lower[TENSOR_BLOB_SPATIAL]; /* range of filter positions: from the first pixel */
    int16_t upper[TENSOR_BLOB_SPATIAL]; /* from the last; [0] is the width's */
    uint16_t pixels;                    /* 1 to 1024 of a copy */
    uint8_t rest[14];
    uint32_t change; /* 0: only the host has written it (tensor_map.h) */
    uint64_t check;  /* over all before it */
};
_Static_assert(sizeof(struct tensor_blob) == TENSOR_BLOB_BYTES, "as a CUtensorMap");

unsigned tensor_blob_element_bytes(unsigned type); /* 0: no type */
/* Fills magic and check of a map whose other fields are set. */
void tensor_blob_seal(struct tensor_blob *map);
/* false: the bytes are not a map of this machine, or one that was overwritten. Zeros are
 * a map without fields. */
bool tensor_blob_open(const void *bytes, struct tensor_blob *ret);
/* Whether its fields are consistent. */
bool tensor_blob_is_sound(const struct tensor_blob *map);
/* Bytes of a row of the box, of the whole box. */
uint32_t tensor_blob_row_bytes(const struct tensor_blob *map);
uint32_t tensor_blob_box_bytes(const struct tensor_blob *map);
