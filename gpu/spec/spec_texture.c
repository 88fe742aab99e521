#include "gpu/spec/spec_texture.h"

#include "base/err.h"
#include "gpu/spec/spec_internal.h"

/* In the order of enum texture_mode. */
static const char *const modes[] = {"wrap", "clamp", "mirror", "border", NULL};

/* Of a device of compute capability 9.0: CUDA C++ Programming Guide, "Technical
 * Specifications". */
#define MAX_1D 131072
#define MAX_2D_Y 65536
#define MAX_3D 16384
#define MAX_LAYERED 32768
#define MAX_LAYERS 2048
#define MAX_CUBE 32768 /* a face's edge */
#define MAX_CUBE_LAYERS 2046
#define MAX_LINEAR (1 << 28)

static const char *kind_of(const struct spec_arg *arg) {
    return arg->kind == ARG_SURFACE ? "surface" : "texture";
}

/* -1 when it is none. */
static int mode_of(const json_t *word) {
    const char *text = json_string_value(word);
    int k = 0;
    while (modes[k] && !(text && !strcmp(text, modes[k]))) {
        k++;
    }
    return modes[k] ? k : -1;
}

/* Whether a member has the second of its two words. */
static bool is_second(const json_t *texture, const char *name) {
    return spec_word(KERNEL_SPEC_TEXTURE_MEMBERS, texture, name) == 1;
}

/* --- without sizes --- */

static int check_address(struct spec_reader *r, const struct spec_arg *arg,
                         const char *at) {
    const json_t *address = json_object_get(arg->json, "address");
    bool cube = json_get_bool(arg->json, "cube", false);
    bool normalized = cube || json_get_bool(arg->json, "normalized", false);
    size_t count = json_is_array(address) ? json_array_size(address) : 1;
    for (size_t d = 0; address && d < count; d++) {
        const json_t *word =
            json_is_array(address) ? json_array_get(address, d) : address;
        int mode = mode_of(word);
        if (mode < 0) {
            return err_set(r->err, -EINVAL,
                           "%s.texture.address: clamp, border, wrap or mirror, or a list "
                           "with one for each dimension",
                           at);
        }
        if (!normalized && (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR)) {
            return err_set(r->err, -EINVAL,
                           "%s.texture.address: %s needs normalized coordinates", at,
                           modes[mode]);
        }
    }
    return 0;
}

static bool type_is_shown(enum tensor_type t) {
    return t == TENSOR_FLOAT32 || t == TENSOR_FLOAT16 || t == TENSOR_INT8 ||
           t == TENSOR_INT16 || t == TENSOR_INT32 || t == TENSOR_UINT8 ||
           t == TENSOR_UINT16 || t == TENSOR_UINT32;
}

static int check_buffer(struct spec_reader *r, const struct spec_arg *arg,
                        const char *at) {
    const char *of = json_get_string(arg->json, "of", NULL);
    size_t buffer = of ? kernel_spec_buffer(r->spec, of) : SIZE_MAX;
    if (buffer == SIZE_MAX) {
        return err_set(r->err, -EINVAL,
                       "%s.%s.of: expected the name of a buffer described earlier", at,
                       kind_of(arg));
    }
    enum tensor_type type = r->spec->buffers[buffer].type;
    return type_is_shown(type)
               ? 0
               : err_set(r->err, -EINVAL,
                         "%s.%s.of: %s holds %s; float32, float16, int8 to int32 and "
                         "uint8 to uint32 are possible",
                         at, kind_of(arg), of, tensor_type_name(type));
}

/* Checks the combination of the words, and with the buffer's type. */
static int check_sense(struct spec_reader *r, const struct spec_arg *arg,
                       const char *at) {
    const json_t *t = arg->json;
    size_t buffer = kernel_spec_buffer(r->spec, json_get_string(t, "of", ""));
    enum tensor_type type = r->spec->buffers[buffer].type;
    bool floats = tensor_type_float(type);
    bool as_floats = is_second(t, "read");
    bool linear = is_second(t, "filter");
    bool memory = is_second(t, "memory");
    if (as_floats && (floats || tensor_type_bytes(type) > 2)) {
        return err_set(r->err, -EINVAL,
                       "%s.texture.read: normalized_float is for integers of 8 and 16 "
                       "bits, not for %s",
                       at, tensor_type_name(type));
    }
    if (linear && !floats && !as_floats) {
        return err_set(r->err, -EINVAL,
                       "%s.texture.filter: linear is for elements that are read as "
                       "floats: \"read\": \"normalized_float\"",
                       at);
    }
    if (json_get_bool(t, "seamless", false) && !json_get_bool(t, "cube", false)) {
        return err_set(r->err, -EINVAL, "%s.texture.seamless: it is for cubes", at);
    }
    if (json_get_bool(t, "cube", false) &&
        (memory || !json_get_bool(t, "normalized", true))) {
        return err_set(r->err, -EINVAL,
                       "%s.texture.cube: a cube is an array, and is read by directions: "
                       "without \"memory\" and \"normalized\"",
                       at);
    }
    if (memory && (linear || json_get_bool(t, "layered", false) ||
                   json_get_bool(t, "normalized", false))) {
        return err_set(r->err, -EINVAL,
                       "%s.texture.memory: linear memory is fetched by whole numbers, "
                       "without filter, layers and normalized coordinates",
                       at);
    }
    return 0;
}

int spec_texture_check(struct spec_reader *r, const struct spec_arg *arg,
                       const char *at) {
    char path[224];
    snprintf(path, sizeof path, "%.160s.%s", at, kind_of(arg));
    if (!json_is_object(arg->json)) {
        return err_set(r->err, -EINVAL, "%s: an object is expected", path);
    }
    bool surface = arg->kind == ARG_SURFACE;
    int n = spec_check_members(
        r, arg->json, surface ? KERNEL_SPEC_SURFACE_MEMBERS : KERNEL_SPEC_TEXTURE_MEMBERS,
        path);
    n = n < 0 ? n : check_buffer(r, arg, at);
    if (n < 0 || surface) {
        return n;
    }
    n = check_address(r, arg, at);
    return n < 0 ? n : check_sense(r, arg, at);
}

/* --- with sizes --- */

/* [cubes,] 6, y, x; end: dimensions without channels. */
static int resolve_cube(const struct case_buffer *b, size_t end, struct texture *ret,
                        struct err *err) {
    size_t faces = ret->layered_cube;
    int64_t cubes = ret->layered_cube && end == 4 ? b->shape[0] : 1;
    if (end != faces + 3 || b->shape[faces] != 6 ||
        b->shape[end - 1] != b->shape[end - 2] || cubes < 1 ||
        cubes > MAX_CUBE_LAYERS / 6 || b->shape[end - 1] < 1 ||
        b->shape[end - 1] > MAX_CUBE) {
        return err_set(
            err, -EINVAL,
            "of: a cube is shown of [6, n, n], layered ones of [cubes, 6, n, n], n "
            "up to %d, %d cubes; '%s' has another shape",
            MAX_CUBE, MAX_CUBE_LAYERS / 6, ret->name);
    }
    ret->rank = 2;
    ret->extent[0] = ret->extent[1] = (uint32_t)b->shape[end - 1];
    ret->layers = (uint32_t)cubes * 6;
    return 0;
}

static int resolve_extents(const struct case_buffer *b, const json_t *t,
                           struct texture *ret, struct err *err) {
    bool layered = json_get_bool(t, "layered", false);
    size_t first = layered, end = b->rank;
    if (ret->channels > 1 && (end == 0 || (uint64_t)b->shape[--end] != ret->channels)) {
        return err_set(err, -EINVAL,
                       "channels: the last dimension of '%s' has to be the %u channels",
                       ret->name, ret->channels);
    }
    if (ret->cube) {
        return resolve_cube(b, end, ret, err);
    }
    if (end <= first || end - first > (layered ? 2u : 3u)) {
        return err_set(err, -EINVAL,
                       "of: '%s' leaves %d dimensions; 1 to 3 are possible, with layers "
                       "1 or 2",
                       ret->name, (int)end - (int)first);
    }
    ret->rank = (unsigned)(end - first);
    for (unsigned d = 0; d < ret->rank; d++) {
        int64_t extent = b->shape[end - 1 - d];
        ret->extent[d] = extent > 0 && extent < INT32_MAX ? (uint32_t)extent : 0;
    }
    ret->layers =
        layered && b->shape[0] > 0 && b->shape[0] < INT32_MAX ? (uint32_t)b->shape[0] : 0;
    return layered && !ret->layers
               ? err_set(err, -EINVAL, "of: '%s' has no layer", ret->name)
               : 0;
}

static int check_limits(const struct texture *t, struct err *err) {
    for (unsigned d = 0; d < t->rank; d++) {
        uint32_t most = t->linear_memory ? MAX_LINEAR
                        : t->rank == 3   ? MAX_3D
                        : t->layers      ? MAX_LAYERED
                        : d == 1         ? MAX_2D_Y
                                         : MAX_1D;
        if (t->extent[d] < 1 || t->extent[d] > most) {
            return err_set(err, -EINVAL,
                           "of: '%s' has %u elements in %c; 1 to %u are "
                           "possible",
                           t->name, t->extent[d], "xyz"[d], most);
        }
    }
    return t->layers <= MAX_LAYERS
               ? 0
               : err_set(err, -EINVAL, "of: '%s' has %u layers; %d are possible", t->name,
                         t->layers, MAX_LAYERS);
}

static int resolve_modes(const json_t *address, struct texture *ret, struct err *err) {
    if (json_is_array(address) && json_array_size(address) != ret->rank) {
        return err_set(err, -EINVAL, "address: the list has %zu words for %u dimensions",
                       json_array_size(address), ret->rank);
    }
    for (unsigned d = 0; d < 3; d++) {
        const json_t *word = json_is_array(address) && d < ret->rank
                                 ? json_array_get(address, ret->rank - 1 - d)
                                 : address;
        ret->mode[d] =
            !address || d >= ret->rank ? TEXTURE_CLAMP : (enum texture_mode)mode_of(word);
    }
    return 0;
}

int spec_texture_resolve(const struct spec_case *c, const struct spec_arg *arg,
                         struct texture *ret, struct err *err) {
    const json_t *t = arg->json;
    size_t buffer = kernel_spec_buffer(c->spec, json_get_string(t, "of", ""));
    bool cube = json_get_bool(t, "cube", false) && arg->kind == ARG_TEXTURE;
    *ret = (struct texture){
        .name = c->spec->buffers[buffer].name,
        .is_surface = arg->kind == ARG_SURFACE,
        .type = c->spec->buffers[buffer].type,
        .channels = (unsigned)json_get_integer(t, "channels", 1),
        .linear_memory = is_second(t, "memory"),
        .filters = is_second(t, "filter"),
        .normalized = json_get_bool(t, "normalized", false) || cube,
        .cube = cube,
        .layered_cube = cube && json_get_bool(t, "layered", false),
        .seamless = json_get_bool(t, "seamless", false),
        .reads_floats = is_second(t, "read"),
    };
    int n = resolve_extents(&c->buffers[buffer], t, ret, err);
    if (n == 0 && ret->linear_memory && ret->rank != 1) {
        n = err_set(err, -EINVAL, "memory: linear memory has one dimension");
    }
    n = n < 0 ? n : check_limits(ret, err);
    return n < 0 ? n : resolve_modes(json_object_get(t, "address"), ret, err);
}
