#include "gpu/runtime/tensor_maps.h"

#include "base/find.h"
#include "gpu/ptx/state/tensor_blob.h"
#include "gpu/runtime/cuda_types.h"

enum { SWIZZLE_32B = 1, SWIZZLE_128B = 3, SWIZZLE_LAST = 6 };

/* What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col are both told. */
struct map_words {
    int type;
    unsigned rank;
    void *address;
    const uint64_t *dims, *strides;
    const uint32_t *element_strides;
    uint32_t inner; /* elements side by side: box[0], channelsPerPixel */
    int interleave, swizzle, fill;
};

static unsigned element_bytes(const struct map_words *m) {
    return m->type < 0 ? 0 : tensor_blob_element_bytes((unsigned)m->type);
}

static bool is_float(int type) {
    return type >= TENSOR_BLOB_F16 && type <= TENSOR_BLOB_TF32_FTZ;
}

/* The rules of cuda.h's description of both, but those of a box. */
static bool words_are_right(const struct map_words *m) {
    static const unsigned spans[] = {0, 32, 64, 128};
    unsigned bytes = element_bytes(m), unit = m->interleave == 2 ? 32 : 16;
    bool swizzled = m->swizzle >= SWIZZLE_32B && m->swizzle <= SWIZZLE_128B;
    if (!bytes || m->rank < 1 || m->rank > 5 || (uintptr_t)m->address % unit ||
        m->swizzle < 0 || m->swizzle > SWIZZLE_LAST || m->interleave < 0 ||
        m->interleave > 2 || (m->interleave && m->rank < 3) ||
        (m->interleave == 2 && m->swizzle != SWIZZLE_32B) || m->fill < 0 || m->fill > 1 ||
        (m->fill && !is_float(m->type)) || m->inner > 256) {
        return false;
    }
    return !any_of(
               k, 0, m->rank,
               m->dims[k] == 0 || m->dims[k] > UINT64_C(1) << 32 ||
                   m->element_strides[k] == 0 || m->element_strides[k] > 8 ||
                   (k + 1 < m->rank && (m->strides[k] % unit || m->strides[k] >> 40))) &&
           (m->interleave || !swizzled ||
            (uint64_t)m->inner * bytes <= spans[m->swizzle]);
}

/* What executes the maps here takes rows of whole 16 bytes alone, as they are. */
static bool words_can_run(const struct map_words *m) {
    return !m->interleave && m->swizzle <= SWIZZLE_128B &&
           (uint64_t)m->inner * element_bytes(m) % 16 == 0;
}

static struct tensor_blob blob_of(const struct map_words *m) {
    struct tensor_blob map = {.address = (uintptr_t)m->address,
                              .type = (uint8_t)m->type,
                              .rank = (uint8_t)m->rank,
                              .swizzle = (uint8_t)m->swizzle,
                              .box = {(uint16_t)m->inner},
                              .fill_nan = m->fill != 0};
    for (unsigned k = 0; k < m->rank; k++) {
        map.last[k] = (uint32_t)(m->dims[k] - 1);
        map.element_strides[k] = (uint8_t)m->element_strides[k];
        if (k + 1 < m->rank) {
            map.strides[k] = m->strides[k];
        }
    }
    return map;
}

static int map_store(void *ret, struct tensor_blob *map) {
    tensor_blob_seal(map);
    memcpy(ret, map, sizeof *map);
    return CUDART_SUCCESS;
}

int tensor_map_tiled(void *ret, int type, unsigned rank, void *address,
                     const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                     const uint32_t *element_strides, int interleave, int swizzle, int,
                     int out_of_bounds_fill) {
    if (!ret || (uintptr_t)ret % 64 || !dims || (rank > 1 && !strides) || !box ||
        !element_strides) {
        return CUDART_INVALID_VALUE;
    }
    struct map_words m = {
        type,       rank,    address,           dims, strides, element_strides, box[0],
        interleave, swizzle, out_of_bounds_fill};
    if (!words_are_right(&m) || (!interleave && box[0] * element_bytes(&m) % 16)) {
        return CUDART_INVALID_VALUE;
    }
    struct tensor_blob map = blob_of(&m);
    for (unsigned k = 0; k < rank; k++) {
        if (box[k] == 0 || box[k] > 256) {
            return CUDART_INVALID_VALUE;
        }
        map.box[k] = (uint16_t)box[k];
    }
    return words_can_run(&m) ? map_store(ret, &map) : CUDART_NOT_SUPPORTED;
}

/* Corners of so many dimensions, within what their bits hold, and a box that has an
 * inside. */
static bool corners_are_right(const struct map_words *m, const int *lower,
                              const int *upper) {
    static const int lowest[] = {-32768, -128, -16}, highest[] = {32767, 127, 15};
    for (unsigned k = 0; k < m->rank - 2; k++) {
        int low = lowest[m->rank - 3], high = highest[m->rank - 3];
        if (lower[k] < low || lower[k] > high || upper[k] < low || upper[k] > high ||
            (int64_t)m->dims[k + 1] - 1 + upper[k] < lower[k]) {
            return false;
        }
    }
    return true;
}

int tensor_map_im2col(void *ret, int type, unsigned rank, void *address,
                      const uint64_t *dims, const uint64_t *strides, const int *lower,
                      const int *upper, uint32_t channels, uint32_t pixels,
                      const uint32_t *element_strides, int interleave, int swizzle, int,
                      int out_of_bounds_fill) {
    if (!ret || (uintptr_t)ret % 64 || !dims || !strides || !lower || !upper ||
        !element_strides || rank < 3) {
        return CUDART_INVALID_VALUE;
    }
    struct map_words m = {
        type,       rank,    address,           dims, strides, element_strides, channels,
        interleave, swizzle, out_of_bounds_fill};
    if (!words_are_right(&m) || !corners_are_right(&m, lower, upper) || channels == 0 ||
        pixels == 0 || pixels > 1024) {
        return CUDART_INVALID_VALUE;
    }
    struct tensor_blob map = blob_of(&m);
    map.im2col = 1;
    map.pixels = (uint16_t)pixels;
    for (unsigned k = 0; k < rank - 2; k++) {
        map.lower[k] = (int16_t)lower[k];
        map.upper[k] = (int16_t)upper[k];
    }
    return words_can_run(&m) && element_strides[rank - 1] == 1 ? map_store(ret, &map)
                                                               : CUDART_NOT_SUPPORTED;
}
