#include "gpu/ptx/state/tensor_blob.h"
#include "base/find.h"

static const char magic[8] = {'u', 'p', 's', 'k', 'T', 'M', 'A', '1'};

unsigned tensor_blob_element_bytes(unsigned type) {
    static const uint8_t bytes[TENSOR_BLOB_TYPES] = {1, 2, 4, 4, 8, 8, 2,
                                                     4, 8, 2, 4, 4, 4};
    return type < TENSOR_BLOB_TYPES ? bytes[type] : 0;
}

/* FNV-1a. */
static uint64_t sum(const struct tensor_blob *map) {
    const uint8_t *bytes = (const uint8_t *)map;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < offsetof(struct tensor_blob, check); k++) {
        h = (h ^ bytes[k]) * UINT64_C(0x100000001b3);
    }
    return h;
}

void tensor_blob_seal(struct tensor_blob *map) {
    memcpy(map->magic, magic, sizeof magic);
    map->check = sum(map);
}

uint32_t tensor_blob_row_bytes(const struct tensor_blob *map) {
    return map->box[0] * tensor_blob_element_bytes(map->type);
}

uint32_t tensor_blob_box_bytes(const struct tensor_blob *map) {
    uint32_t bytes = tensor_blob_row_bytes(map);
    if (map->im2col) {
        return bytes * map->pixels;
    }
    for (unsigned d = 1; d < map->rank; d++) {
        uint32_t step = map->element_strides[d];
        bytes *= (map->box[d] + step - 1) / step;
        if (bytes > UINT32_C(1) << 22) { /* more than shared memory has, so no overflow */
            return bytes;
        }
    }
    return bytes;
}

/* Corners as far from the image as its dimensions allow, and room for a filter. */
static bool corners_are_sound(const struct tensor_blob *map) {
    static const int32_t most[] = {1 << 15, 1 << 7, 1 << 4}; /* 1, 2, 3 dimensions */
    if (map->rank < 3 || map->pixels < 1 || map->pixels > 1024) {
        return false;
    }
    int32_t far = most[map->rank - 3];
    return !any_of(d, 0, map->rank - 2u,
                   map->lower[d] < -far || map->lower[d] >= far || map->upper[d] < -far ||
                       map->upper[d] >= far ||
                       (int64_t)map->last[d + 1] + map->upper[d] < map->lower[d]);
}

bool tensor_blob_is_sound(const struct tensor_blob *map) {
    if (map->rank < 1 || map->rank > TENSOR_BLOB_RANK || map->swizzle > 3 ||
        !tensor_blob_element_bytes(map->type) || tensor_blob_row_bytes(map) % 16 ||
        (map->swizzle && tensor_blob_row_bytes(map) != 16u << map->swizzle) ||
        (map->im2col && !corners_are_sound(map))) {
        return false;
    }
    for (unsigned d = 0; d < map->rank; d++) {
        bool boxed = d == 0 || !map->im2col;
        if ((boxed && map->box[d] < 1) || map->box[d] > 256 ||
            map->element_strides[d] < 1 || map->element_strides[d] > 8) {
            return false;
        }
    }
    return true;
}

bool tensor_blob_open(const void *bytes, struct tensor_blob *ret) {
    static const struct tensor_blob zeros;
    memcpy(ret, bytes, sizeof *ret);
    return memcmp(ret, &zeros, sizeof zeros) == 0 ||
           (memcmp(ret->magic, magic, sizeof magic) == 0 && ret->check == sum(ret));
}
