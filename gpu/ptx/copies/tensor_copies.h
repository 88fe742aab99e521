#pragma once
/* tensor_copies: copies between a box of a tensor in global memory and shared memory:
 * cp.async.bulk.tensor in tile and im2col mode.
 *
 * The rows of the box (dimension 0), or the pixels in im2col mode (im2col.h), are
 * consecutive in shared memory. Swizzles exchange the 16-byte pieces of 128 bytes by
 * address: piece number (bits 4-6) XOR line number (bits 7-9), of which 128B uses three
 * bits, 64B two, 32B one. Source: PTX ISA 9.0, "Tensors"; CUDA programming guide, "TMA
 * swizzle". */
#include "gpu/ptx/copies/bulk_copies.h"
#include "gpu/ptx/state/tensor_blob.h"

struct tensor_copy {
    struct tensor_blob map;
    int32_t at[TENSOR_BLOB_RANK];          /* where the box begins; may be outside */
    uint16_t offsets[TENSOR_BLOB_SPATIAL]; /* im2col: of the filter's element */
};

void tensor_copy_load(const struct bulk_copy *c);
void tensor_copy_store(const struct bulk_copy *c);
/* Adds findings for faulty accesses to global memory; false: the copy may not run. */
bool tensor_copy_check(const struct bulk_copy *c, bool writes);
