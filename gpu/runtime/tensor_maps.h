#pragma once
/* tensor_maps: a CUtensorMap as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make
 * it: checked by the rules of their description, and packed as gpu/ptx reads it. 0, or
 * the driver's number of an error. */
#include <stdint.h>

int tensor_map_tiled(void *ret, int type, unsigned rank, void *address,
                     const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                     const uint32_t *element_strides, int interleave, int swizzle,
                     int l2_promotion, int out_of_bounds_fill);
int tensor_map_im2col(void *ret, int type, unsigned rank, void *address,
                      const uint64_t *dims, const uint64_t *strides, const int *lower,
                      const int *upper, uint32_t channels, uint32_t pixels,
                      const uint32_t *element_strides, int interleave, int swizzle,
                      int l2_promotion, int out_of_bounds_fill);
