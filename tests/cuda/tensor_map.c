/* Tensor maps: checked as the driver checks them, kept as they were given. */
#include "tests/cuda/standin.h"

#include <string.h>

/* 128 bytes. A device's layout is not public; the fields are all there is to know. */
struct tensor_map {
    uint64_t address, strides[4];
    uint32_t dims[5], box[5];
    uint8_t element_strides[5], type, rank, interleave, swizzle, promotion, fill;
    char mark[5]; /* "tmap" */
    uint8_t rest[32];
};
_Static_assert(sizeof(struct tensor_map) == CUDA_TENSOR_MAP_BYTES, "as the driver's");

static unsigned element_bytes(int type) {
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type >= 0 && type < (int)sizeof bytes ? bytes[type] : 0;
}

/* The rules of cuda.h's description of cuTensorMapEncodeTiled. */
static int map_check(int type, unsigned rank, const void *address, const uint64_t *dims,
                     const uint64_t *strides, const uint32_t *box,
                     const uint32_t *element_strides, int interleave, int swizzle) {
    unsigned bytes = element_bytes(type);
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
    struct tensor_map map = {.address = (uintptr_t)address,
                             .type = (uint8_t)type,
                             .rank = (uint8_t)rank,
                             .interleave = (uint8_t)interleave,
                             .swizzle = (uint8_t)swizzle,
                             .promotion = (uint8_t)l2_promotion,
                             .fill = (uint8_t)out_of_bounds_fill,
                             .mark = "tmap"};
    for (unsigned k = 0; k < rank; k++) {
        map.dims[k] = (uint32_t)dims[k];
        map.box[k] = box[k];
        map.element_strides[k] = (uint8_t)element_strides[k];
        if (k + 1 < rank) {
            map.strides[k] = strides[k];
        }
    }
    memcpy(ret, &map, sizeof map);
    return CUDA_OK;
}
