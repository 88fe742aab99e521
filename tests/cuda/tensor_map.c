/* Tensor maps: checked as the driver checks them, and packed as gpu/ptx reads them. */
#include "gpu/ptx/tensor_blob.h"
#include "tests/cuda/standin.h"

#include <string.h>

/* The rules of cuda.h's description of cuTensorMapEncodeTiled. */
static int map_check(int type, unsigned rank, const void *address, const uint64_t *dims,
                     const uint64_t *strides, const uint32_t *box,
                     const uint32_t *element_strides, int interleave, int swizzle) {
    unsigned bytes = type < 0 ? 0 : tensor_blob_element_bytes((unsigned)type);
    if (!bytes || rank < 1 || rank > 5 ||
        (uintptr_t)address % (interleave == 2 ? 32 : 16)) {
        return CUDA_INVALID_VALUE;
    }
    for (unsigned k = 0; k < rank; k++) {
        if (dims[k] == 0 || dims[k] > UINT64_C(1) << 32 || box[k] == 0 || box[k] > 256 ||
            element_strides[k] == 0 || element_strides[k] > 8) {
            return CUDA_INVALID_VALUE;
        }
        if (k + 1 < rank &&
            (strides[k] % (interleave == 2 ? 32 : 16) || strides[k] >> 40)) {
            return CUDA_INVALID_VALUE;
        }
    }
    static const unsigned spans[] = {0, 32, 64, 128};
    uint64_t inner = (uint64_t)box[0] * bytes;
    bool swizzled = swizzle >= CUDA_SWIZZLE_32B && swizzle <= CUDA_SWIZZLE_128B;
    if (swizzle < 0 || swizzle > 6 || interleave < 0 || interleave > 2 ||
        (interleave == 0 && inner % 16) ||
        (interleave == 0 && swizzled && inner > spans[swizzle])) {
        return CUDA_INVALID_VALUE;
    }
    return CUDA_OK;
}

int cuTensorMapEncodeTiled(void *ret, int type, unsigned rank, void *address,
                           const uint64_t *dims, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int l2_promotion,
                           int out_of_bounds_fill) {
    ENTER(cuTensorMapEncodeTiled, NEED_INIT);
    if (!ret || (uintptr_t)ret % 64 || !dims || (rank > 1 && !strides) || !box ||
        !element_strides) {
        return CUDA_INVALID_VALUE;
    }
    int code = map_check(type, rank, address, dims, strides, box, element_strides,
                         interleave, swizzle);
    if (code) {
        return code;
    }
    if (interleave != 0 || swizzle > CUDA_SWIZZLE_128B) {
        return CUDA_NOT_SUPPORTED; /* by what executes it */
    }
    struct tensor_blob map = {.address = (uintptr_t)address,
                              .type = (uint8_t)type,
                              .rank = (uint8_t)rank,
                              .swizzle = (uint8_t)swizzle,
                              .fill_nan = out_of_bounds_fill != 0};
    (void)l2_promotion;
    for (unsigned k = 0; k < rank; k++) {
        map.last[k] = (uint32_t)(dims[k] - 1);
        map.box[k] = (uint16_t)box[k];
        map.element_strides[k] = (uint8_t)element_strides[k];
        if (k + 1 < rank) {
            map.strides[k] = strides[k];
        }
    }
    tensor_blob_seal(&map);
    memcpy(ret, &map, sizeof map);
    return CUDA_OK;
}
