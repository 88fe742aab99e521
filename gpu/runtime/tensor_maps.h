#pragma once
/* tensor_maps: builds a CUtensorMap like cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col: checked by the documented rules, and packed as gpu/ptx reads
 * it. Returns 0, or the driver's error number. */
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
