/* Tensor maps are the runtime library's. */
#include "gpu/runtime/tensor_maps.h"
#include "tests/cuda/standin.h"

int cuTensorMapEncodeTiled(void *ret, int type, unsigned rank, void *address,
                           const uint64_t *dims, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int l2_promotion,
                           int out_of_bounds_fill) {
    ENTER(cuTensorMapEncodeTiled, NEED_INIT);
    return tensor_map_tiled(ret, type, rank, address, dims, strides, box, element_strides,
                            interleave, swizzle, l2_promotion, out_of_bounds_fill);
}

int cuTensorMapEncodeIm2col(void *ret, int type, unsigned rank, void *address,
                            const uint64_t *dims, const uint64_t *strides,
                            const int *lower, const int *upper, uint32_t channels,
                            uint32_t pixels, const uint32_t *element_strides,
                            int interleave, int swizzle, int l2_promotion,
                            int out_of_bounds_fill) {
    ENTER(cuTensorMapEncodeIm2col, NEED_INIT);
    return tensor_map_im2col(ret, type, rank, address, dims, strides, lower, upper,
                             channels, pixels, element_strides, interleave, swizzle,
                             l2_promotion, out_of_bounds_fill);
}
