#include "gpu/tensor/tensor_map.h"

#include "base/err.h"

#include <stdio.h>

#define MAX_STRIDE (1ull << 40)
#define MAX_EXTENT (1ull << 32)

void tensor_map_pack(struct tensor_map *map) {
    map->strides[0] = tensor_type_bytes(map->type);
    for (unsigned d = 1; d < map->rank; d++) {
        if (__builtin_mul_overflow(map->strides[d - 1], map->extents[d - 1],
                                   &map->strides[d])) {
            map->strides[d] = UINT64_MAX;
        }
    }
}

uint64_t tensor_map_span(const struct tensor_map *map) {
    uint64_t span = tensor_type_bytes(map->type), part;
    for (unsigned d = 0; d < map->rank; d++) {
        if (!map->extents[d]) {
            return 0;
        }
        if (__builtin_mul_overflow(map->extents[d] - 1, map->strides[d], &part) ||
            __builtin_add_overflow(span, part, &span)) {
            return UINT64_MAX;
        }
    }
    return span;
}

/* As the spec counts: from the outermost. */
static unsigned place(const struct tensor_map *map, unsigned d) {
    return map->rank - 1 - d;
}

static int check_kind(const struct tensor_map *map, struct err *err) {
    if (map->rank < 1 || map->rank > TENSOR_MAP_MAX_RANK) {
        return err_set(err, -EINVAL, "the tensor has %u dimensions, a map has 1 to %d",
                       map->rank, TENSOR_MAP_MAX_RANK);
    }
    if (map->interleave != INTERLEAVE_NONE && map->rank < 3) {
        return err_set(err, -EINVAL,
                       "interleave: an interleaved tensor has at least 3 dimensions");
    }
    if (map->interleave == INTERLEAVE_32B && map->swizzle != SWIZZLE_32B) {
        return err_set(err, -EINVAL, "interleave: 32B needs swizzle 32B");
    }
    if (map->fill == FILL_NAN && !tensor_type_float(map->type)) {
        return err_set(err, -EINVAL, "fill: %s has no NaN", tensor_type_name(map->type));
    }
    return 0;
}

static int check_extents(const struct tensor_map *map, struct err *err) {
    unsigned unit = map->interleave == INTERLEAVE_32B ? 32 : 16;
    for (unsigned d = 0; d < map->rank; d++) {
        if (!map->extents[d] || map->extents[d] > MAX_EXTENT) {
            return err_set(err, -EINVAL, "shape[%u] is %llu: 1 to 2^32 is possible",
                           place(map, d), (unsigned long long)map->extents[d]);
        }
        if (d && (map->strides[d] % unit || map->strides[d] >= MAX_STRIDE ||
                  !map->strides[d])) {
            return err_set(err, -EINVAL,
                           "strides[%u] is %llu bytes: a multiple of %u below 2^40 is "
                           "expected",
                           place(map, d), (unsigned long long)map->strides[d], unit);
        }
    }
    return 0;
}

static int check_box(const struct tensor_map *map, struct err *err) {
    bool boxed = !tensor_map_is_im2col(map);
    for (unsigned d = 0; d < map->rank; d++) {
        if (boxed && (map->box[d] < 1 || map->box[d] > TENSOR_MAP_MAX_BOX)) {
            return err_set(err, -EINVAL, "box[%u] is %u: 1 to %d is possible",
                           place(map, d), map->box[d], TENSOR_MAP_MAX_BOX);
        }
        if (map->element_strides[d] < 1 ||
            map->element_strides[d] > TENSOR_MAP_MAX_ELEMENT_STRIDE) {
            return err_set(err, -EINVAL, "element_strides[%u] is %u: 1 to %d is possible",
                           place(map, d), map->element_strides[d],
                           TENSOR_MAP_MAX_ELEMENT_STRIDE);
        }
    }
    return 0;
}

static int check_corner(const struct tensor_map *map, unsigned d, struct err *err) {
    static const int32_t far[] = {1 << 15, 1 << 7, 1 << 4}; /* by spatial dimensions */
    int32_t most = far[map->rank - 3], low = map->im2col.lower[d],
            high = map->im2col.upper[d];
    unsigned at = map->rank - 3 - d;
    if (low < -most || low >= most) {
        return err_set(err, -EINVAL, "im2col.lower[%u] is %d: %d to %d is possible", at,
                       low, -most, most - 1);
    }
    if (high < -most || high >= most) {
        return err_set(err, -EINVAL, "im2col.upper[%u] is %d: %d to %d is possible", at,
                       high, -most, most - 1);
    }
    if ((int64_t)map->extents[d + 1] + high - low < 1) {
        return err_set(err, -EINVAL,
                       "im2col: no place for a filter is left between lower[%u], %d, and "
                       "upper[%u], %d, of %llu pixels",
                       at, low, at, high, (unsigned long long)map->extents[d + 1]);
    }
    return 0;
}

static int check_im2col(const struct tensor_map *map, struct err *err) {
    const struct tensor_map_im2col *i = &map->im2col;
    if (!tensor_map_is_im2col(map)) {
        return 0;
    }
    if (map->rank < 3) {
        return err_set(err, -EINVAL,
                       "im2col: the tensor has %u dimensions; it needs images, width and "
                       "channels, and may have height and depth",
                       map->rank);
    }
    if (i->channels < 1 || i->channels > TENSOR_MAP_MAX_BOX) {
        return err_set(err, -EINVAL, "im2col.channels is %u: 1 to %d is possible",
                       i->channels, TENSOR_MAP_MAX_BOX);
    }
    if (i->pixels > TENSOR_MAP_MAX_PIXELS) {
        return err_set(err, -EINVAL, "im2col.pixels is %u: 1 to %d is possible",
                       i->pixels, TENSOR_MAP_MAX_PIXELS);
    }
    int n = 0;
    for (unsigned d = 0; n == 0 && d < map->rank - 2; d++) {
        n = check_corner(map, d, err);
    }
    return n;
}

static int check_inner(const struct tensor_map *map, struct err *err) {
    uint64_t bytes = tensor_map_inner(map) * (uint64_t)tensor_type_bytes(map->type);
    unsigned limit = 16u << map->swizzle; /* 32, 64, 128 */
    char name[32];
    if (tensor_map_is_im2col(map)) {
        snprintf(name, sizeof name, "im2col.channels");
    } else {
        snprintf(name, sizeof name, "box[%u]", place(map, 0));
    }
    if (map->interleave != INTERLEAVE_NONE) {
        return 0;
    }
    if (bytes % 16) {
        return err_set(
            err, -EINVAL,
            "%s: %llu bytes of the innermost dimension are not a multiple of 16", name,
            (unsigned long long)bytes);
    }
    if (map->swizzle != SWIZZLE_NONE && bytes > limit) {
        return err_set(err, -EINVAL,
                       "%s: %llu bytes of the innermost dimension are more than the "
                       "%u that are swizzled",
                       name, (unsigned long long)bytes, limit);
    }
    return 0;
}

int tensor_map_check(const struct tensor_map *map, struct err *err) {
    int n = check_kind(map, err);
    n = n < 0 ? n : check_extents(map, err);
    n = n < 0 ? n : check_box(map, err);
    n = n < 0 ? n : check_im2col(map, err);
    return n < 0 ? n : check_inner(map, err);
}

int tensor_map_check_address(const struct tensor_map *map, uint64_t address,
                             struct err *err) {
    unsigned unit = map->interleave == INTERLEAVE_32B ? 32 : 16;
    return address % unit
               ? err_set(err, -EINVAL, "the address 0x%llx is not a multiple of %u bytes",
                         (unsigned long long)address, unit)
               : 0;
}
