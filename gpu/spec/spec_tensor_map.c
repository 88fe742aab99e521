#include "gpu/spec/spec_tensor_map.h"

#include "base/err.h"
#include "gpu/spec/spec_internal.h"

/* at: the path of `in`. */
static int check_list(struct spec_reader *r, const json_t *in, const char *name,
                      const char *at) {
    const json_t *list = json_object_get(in, name);
    if (!list) {
        return 0;
    }
    if (!json_is_array(list) || json_array_size(list) > TENSOR_MAP_MAX_RANK) {
        return err_set(r->err, -EINVAL, "%s.%s: a list of up to %d numbers is expected",
                       at, name, TENSOR_MAP_MAX_RANK);
    }
    json_each(list, i, item) {
        char path[256];
        snprintf(path, sizeof path, "%.200s.%s[%zu]", at, name, i);
        int n = spec_check_size(r, item, path);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

static int check_im2col(struct spec_reader *r, const json_t *im2col, const char *at) {
    static const char *const lists[] = {"lower", "upper"};
    static const char *const numbers[] = {"channels", "pixels"};
    char path[224];
    snprintf(path, sizeof path, "%.160s.im2col", at);
    if (!json_is_object(im2col)) {
        return err_set(r->err, -EINVAL,
                       "%s: {\"lower\": […], \"upper\": […], \"channels\": n, "
                       "\"pixels\": n} is expected",
                       path);
    }
    int n = spec_check_members(r, im2col, KERNEL_SPEC_IM2COL_MEMBERS, path);
    for (size_t i = 0; i < ARRAY_LEN(lists) && n == 0; i++) {
        n = json_object_get(im2col, lists[i])
                ? check_list(r, im2col, lists[i], path)
                : err_set(r->err, -EINVAL,
                          "%s.%s: a corner of the bounding box of pixels is expected",
                          path, lists[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers) && n == 0; i++) {
        char own[256];
        snprintf(own, sizeof own, "%.200s.%s", path, numbers[i]);
        n = spec_check_size(r, json_object_get(im2col, numbers[i]), own);
    }
    return n;
}

int spec_tensor_map_check(struct spec_reader *r, const json_t *map, const char *at) {
    static const char *const lists[] = {"box", "shape", "strides", "element_strides"};
    const json_t *im2col = json_object_get(map, "im2col");
    const char *of = json_get_string(map, "of", NULL);
    if (!json_is_object(map) || !of || kernel_spec_buffer(r->spec, of) == SIZE_MAX) {
        return err_set(
            r->err, -EINVAL,
            "%s.tensor_map.of: expected the name of a buffer described earlier", at);
    }
    if (!json_object_get(map, "box") == !im2col) {
        return err_set(r->err, -EINVAL,
                       "%s.tensor_map.box: the extents of a box, or im2col, are expected",
                       at);
    }
    char path[192];
    snprintf(path, sizeof path, "%.160s.tensor_map", at);
    int n = spec_check_members(r, map, KERNEL_SPEC_TENSOR_MAP_MEMBERS, path);
    for (size_t i = 0; i < ARRAY_LEN(lists) && n == 0; i++) {
        n = check_list(r, map, lists[i], path);
    }
    return n == 0 && im2col ? check_im2col(r, im2col, path) : n;
}

/* --- with sizes --- */

/* A list of `count` numbers, from the outermost dimension, turned round; what is not
 * there stays as it is. */
static int resolve_list(const struct spec_case *c, const json_t *map, const char *name,
                        size_t count, int64_t lowest, int64_t highest, int64_t *ret,
                        struct err *err) {
    const json_t *list = json_object_get(map, name);
    if (list && json_array_size(list) != count) {
        return err_set(err, -EINVAL, "%s has %zu numbers, the tensor needs %zu", name,
                       json_array_size(list), count);
    }
    for (size_t d = 0; list && d < count; d++) {
        int64_t value;
        int n = case_size_value(c, json_array_get(list, d), &value, err);
        if (n == 0 && (value < lowest || value > highest)) {
            n = err_set(err, -EINVAL, "%s[%zu] is %lld", name, d, (long long)value);
        }
        if (n < 0) {
            return n;
        }
        ret[count - 1 - d] = value;
    }
    return 0;
}

static int resolve_extents(const struct spec_case *c, const json_t *map,
                           const struct case_buffer *b, struct tensor_map *ret,
                           struct err *err) {
    const json_t *own = json_object_get(map, "shape");
    int64_t extents[TENSOR_MAX_RANK];
    size_t rank = own ? json_array_size(own) : b->rank;
    if (rank < 1 || rank > TENSOR_MAP_MAX_RANK) {
        return err_set(err, -EINVAL, "the tensor has %zu dimensions, a map has 1 to %d",
                       rank, TENSOR_MAP_MAX_RANK);
    }
    for (size_t d = 0; !own && d < rank; d++) {
        extents[rank - 1 - d] = b->shape[d];
    }
    int n = resolve_list(c, map, "shape", rank, 1, INT64_MAX, extents, err);
    ret->rank = (unsigned)rank;
    for (size_t d = 0; n == 0 && d < rank; d++) {
        ret->extents[d] = (uint64_t)extents[d];
    }
    return n;
}

static int resolve_strides(const struct spec_case *c, const json_t *map,
                           struct tensor_map *ret, struct err *err) {
    int64_t strides[TENSOR_MAP_MAX_RANK];
    tensor_map_pack(ret);
    if (!json_object_get(map, "strides")) {
        return 0;
    }
    int n = resolve_list(c, map, "strides", ret->rank - 1, 1, INT64_MAX, strides, err);
    for (size_t d = 1; n == 0 && d < ret->rank; d++) {
        ret->strides[d] = (uint64_t)strides[d - 1];
    }
    return n;
}

static int resolve_box(const struct spec_case *c, const json_t *map,
                       struct tensor_map *ret, struct err *err) {
    int64_t box[TENSOR_MAP_MAX_RANK] = {0};
    int64_t steps[TENSOR_MAP_MAX_RANK] = {1, 1, 1, 1, 1};
    int n = resolve_list(c, map, "box", ret->rank, 1, UINT32_MAX, box, err);
    n = n < 0 ? n
              : resolve_list(c, map, "element_strides", ret->rank, 1, UINT32_MAX, steps,
                             err);
    for (size_t d = 0; n == 0 && d < ret->rank; d++) {
        ret->box[d] = (uint32_t)box[d];
        ret->element_strides[d] = (uint32_t)steps[d];
    }
    return n;
}

static int resolve_count(const struct spec_case *c, const json_t *im2col,
                         const char *name, uint32_t *ret, struct err *err) {
    int64_t value;
    int n = case_size_value(c, json_object_get(im2col, name), &value, err);
    if (n == 0 && (value < 1 || value > UINT32_MAX)) {
        n = err_set(err, -EINVAL, "im2col.%s is %lld", name, (long long)value);
    }
    *ret = n == 0 ? (uint32_t)value : 0;
    return n;
}

static int resolve_im2col(const struct spec_case *c, const json_t *im2col,
                          struct tensor_map *ret, struct err *err) {
    int64_t lower[TENSOR_MAP_MAX_RANK], upper[TENSOR_MAP_MAX_RANK];
    size_t spatial = ret->rank < 3 ? 0 : ret->rank - 2;
    if (!im2col) {
        return 0;
    }
    int n = resolve_count(c, im2col, "channels", &ret->im2col.channels, err);
    n = n < 0 ? n : resolve_count(c, im2col, "pixels", &ret->im2col.pixels, err);
    if (n < 0 || spatial == 0) { /* of which tensor_map_check tells */
        return n;
    }
    n = resolve_list(c, im2col, "lower", spatial, INT32_MIN, INT32_MAX, lower, err);
    n = n < 0
            ? n
            : resolve_list(c, im2col, "upper", spatial, INT32_MIN, INT32_MAX, upper, err);
    for (size_t d = 0; n == 0 && d < spatial; d++) {
        ret->im2col.lower[d] = (int32_t)lower[d];
        ret->im2col.upper[d] = (int32_t)upper[d];
    }
    return n;
}

/* The schema's words have the order of the enumerations of tensor_map.h. */
static int choice_of(const json_t *map, const char *name) {
    return spec_word(KERNEL_SPEC_TENSOR_MAP_MEMBERS, map, name);
}

int spec_tensor_map_resolve(const struct spec_case *c, const json_t *map,
                            struct tensor_map *ret, struct err *err) {
    size_t buffer = kernel_spec_buffer(c->spec, json_get_string(map, "of", ""));
    const struct case_buffer *b = &c->buffers[buffer];
    *ret = (struct tensor_map){
        .type = c->spec->buffers[buffer].type,
        .swizzle = (enum tensor_map_swizzle)choice_of(map, "swizzle"),
        .interleave = (enum tensor_map_interleave)choice_of(map, "interleave"),
        .promotion = (enum tensor_map_promotion)choice_of(map, "l2_promotion"),
        .fill = (enum tensor_map_fill)choice_of(map, "fill"),
    };
    int n = resolve_extents(c, map, b, ret, err);
    n = n < 0 ? n : resolve_strides(c, map, ret, err);
    n = n < 0 ? n : resolve_box(c, map, ret, err);
    n = n < 0 ? n : resolve_im2col(c, json_object_get(map, "im2col"), ret, err);
    n = n < 0 ? n : tensor_map_check(ret, err);
    if (n == 0 && tensor_map_span(ret) > b->bytes) {
        n = err_set(err, -EINVAL,
                    "the tensor ends %llu bytes after the start of '%s', "
                    "which has %llu",
                    (unsigned long long)tensor_map_span(ret),
                    c->spec->buffers[buffer].name, (unsigned long long)b->bytes);
    }
    return n;
}
