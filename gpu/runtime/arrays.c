#include "gpu/runtime/arrays.h"

#include "gpu/runtime/api.h"
#include "gpu/runtime/transfers.h"

static struct array *arrays; /* under runtime.lock */

struct array *array_find(struct array *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct array *a = arrays;
    while (a && a != handle) {
        a = a->next;
    }
    pthread_mutex_unlock(&runtime.lock);
    return a;
}

static cudart_error no_array(void) {
    return explain(CUDART_INVALID_HANDLE, "the array does not exist (any more)");
}

/* ---- elements ---- */

enum { KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT };

enum ptx_type channels_type(const struct cudart_channels *c, unsigned *ret_count) {
    const int bits[] = {c->x, c->y, c->z, c->w};
    unsigned count = 0;
    while (count < 4 && bits[count] == c->x && c->x) {
        count++;
    }
    for (unsigned k = count; k < 4; k++) {
        count = bits[k] ? 0 : count;
    }
    *ret_count = count;
    if (count == 0 || count == 3 || (c->x != 8 && c->x != 16 && c->x != 32)) {
        return PTX_NONE;
    }
    int size = c->x == 8 ? 0 : c->x == 16 ? 1 : 2;
    static const enum ptx_type types[][3] = {[KIND_SIGNED] = {PTX_S8, PTX_S16, PTX_S32},
                                             [KIND_UNSIGNED] = {PTX_U8, PTX_U16, PTX_U32},
                                             [KIND_FLOAT] = {PTX_NONE, PTX_F16, PTX_F32}};
    return c->kind >= 0 && c->kind <= KIND_FLOAT ? types[c->kind][size] : PTX_NONE;
}

EXPORT struct cudart_channels cudaCreateChannelDesc(int x, int y, int z, int w,
                                                    int kind) {
    return (struct cudart_channels){x, y, z, w, kind};
}

/* ---- making ---- */

static size_t or_one(size_t n) {
    return n ? n : 1;
}

static cudart_error extent_check(const struct cudart_extent *e, unsigned flags) {
    bool cube = flags & ARRAY_CUBEMAP;
    if (e->width == 0 || e->width > 131072 || e->height > 65536 || e->depth > 16384) {
        return explain(CUDART_INVALID_VALUE, "an array of %zu x %zu x %zu elements",
                       e->width, e->height, e->depth);
    }
    if (cube && (e->width != e->height || e->depth == 0 || e->depth % 6)) {
        return explain(CUDART_INVALID_VALUE,
                       "a cube has 6 faces that are as wide as high");
    }
    return CUDART_SUCCESS;
}

static cudart_error array_new(struct array **ret, const struct cudart_channels *channels,
                              struct cudart_extent extent, unsigned flags) {
    NEED(ret);
    NEED(channels);
    unsigned count;
    enum ptx_type type = channels_type(channels, &count);
    cudart_error code =
        type == PTX_NONE
            ? explain(CUDART_INVALID_CHANNEL, "elements of %d, %d, %d, %d bits",
                      channels->x, channels->y, channels->z, channels->w)
            : extent_check(&extent, flags);
    if (code) {
        return code;
    }
    struct array *a = xcalloc(1, sizeof *a);
    a->channels = *channels;
    a->extent = extent;
    a->flags = flags;
    a->element_bytes = ptx_type_bytes(type) * count;
    a->in = device_memory_new(&runtime.device, "array",
                              extent.width * or_one(extent.height) *
                                  or_one(extent.depth) * a->element_bytes,
                              0);
    if (!a->in) {
        free(a);
        return CUDART_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&runtime.lock);
    a->next = arrays;
    arrays = a;
    pthread_mutex_unlock(&runtime.lock);
    *ret = a;
    return CUDART_SUCCESS;
}

static int array_release(void *of) {
    const struct array *a = of;
    return device_memory_free(&runtime.device, a->in->address) ? CUDART_INVALID_HANDLE
                                                               : 0;
}

static cudart_error array_free(struct array *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct array **at = &arrays;
    while (*at && *at != handle) {
        at = &(*at)->next;
    }
    struct array *a = *at;
    *at = a ? a->next : *at;
    pthread_mutex_unlock(&runtime.lock);
    if (!a) {
        return handle ? no_array() : CUDART_SUCCESS;
    }
    cudart_error code = queue_do(&runtime.device.queue, array_release, a);
    free(a);
    return code;
}

EXPORT cudart_error cudaMallocArray(struct array **ret,
                                    const struct cudart_channels *channels, size_t width,
                                    size_t height, unsigned flags) {
    RETURN(array_new(ret, channels, (struct cudart_extent){width, height, 0}, flags));
}
EXPORT cudart_error cudaMalloc3DArray(struct array **ret,
                                      const struct cudart_channels *channels,
                                      struct cudart_extent extent, unsigned flags) {
    RETURN(array_new(ret, channels, extent, flags));
}
EXPORT cudart_error cudaFreeArray(struct array *a) {
    RETURN(array_free(a));
}
EXPORT cudart_error cudaGetChannelDesc(struct cudart_channels *ret,
                                       struct array *handle) {
    const struct array *a = array_find(handle);
    if (a) {
        *ret = a->channels;
    }
    RETURN(a ? CUDART_SUCCESS : no_array());
}
EXPORT cudart_error cudaArrayGetInfo(struct cudart_channels *ret,
                                     struct cudart_extent *ret_extent,
                                     unsigned *ret_flags, struct array *handle) {
    const struct array *a = array_find(handle);
    if (a && ret) {
        *ret = a->channels;
    }
    if (a && ret_extent) {
        *ret_extent = a->extent;
    }
    if (a && ret_flags) {
        *ret_flags = a->flags;
    }
    RETURN(a ? CUDART_SUCCESS : no_array());
}

/* ---- copies ---- */

/* x in bytes. */
static struct rows array_rows(const struct array *a, size_t x, size_t y, size_t z) {
    size_t pitch = a->extent.width * a->element_bytes,
           slice = pitch * or_one(a->extent.height);
    return (struct rows){
        (uint8_t *)(uintptr_t)(a->in->address + z * slice + y * pitch + x), pitch, slice,
        true};
}

static cudart_error fits(const struct array *a, size_t x, size_t y, size_t width,
                         size_t height) {
    size_t pitch = a->extent.width * a->element_bytes, rows = or_one(a->extent.height);
    return x > pitch || width > pitch - x || y > rows || height > rows - y
               ? explain(CUDART_INVALID_VALUE,
                         "%zu x %zu bytes at %zu, %zu of an array of %zu x %zu", width,
                         height, x, y, pitch, rows)
               : CUDART_SUCCESS;
}

static struct rows host_rows(const void *address, size_t pitch) {
    return (struct rows){.address = (uint8_t *)(uintptr_t)address, .pitch = pitch};
}

static cudart_error copy_to(struct array *handle, size_t x, size_t y, const void *from,
                            size_t pitch, size_t width, size_t height, int kind,
                            struct stream *s, bool waits) {
    const struct array *a = array_find(handle);
    cudart_error code = a ? fits(a, x, y, width, height) : no_array();
    return code ? code
                : copy_rows(array_rows(a, x, y, 0), host_rows(from, pitch),
                            (struct copy_shape){width, height, 1}, kind, s, waits);
}

static cudart_error copy_from(void *to, size_t pitch, struct array *handle, size_t x,
                              size_t y, size_t width, size_t height, int kind,
                              struct stream *s, bool waits) {
    const struct array *a = array_find(handle);
    cudart_error code = a ? fits(a, x, y, width, height) : no_array();
    return code ? code
                : copy_rows(host_rows(to, pitch), array_rows(a, x, y, 0),
                            (struct copy_shape){width, height, 1}, kind, s, waits);
}

EXPORT cudart_error cudaMemcpy2DToArray(struct array *a, size_t x, size_t y,
                                        const void *from, size_t pitch, size_t width,
                                        size_t height, int kind) {
    RETURN(copy_to(a, x, y, from, pitch, width, height, kind, NULL, true));
}
EXPORT cudart_error cudaMemcpy2DToArrayAsync(struct array *a, size_t x, size_t y,
                                             const void *from, size_t pitch, size_t width,
                                             size_t height, int kind, struct stream *s) {
    RETURN(copy_to(a, x, y, from, pitch, width, height, kind, s, false));
}
EXPORT cudart_error cudaMemcpy2DFromArray(void *to, size_t pitch, struct array *a,
                                          size_t x, size_t y, size_t width, size_t height,
                                          int kind) {
    RETURN(copy_from(to, pitch, a, x, y, width, height, kind, NULL, true));
}
EXPORT cudart_error cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, struct array *a,
                                               size_t x, size_t y, size_t width,
                                               size_t height, int kind,
                                               struct stream *s) {
    RETURN(copy_from(to, pitch, a, x, y, width, height, kind, s, false));
}

/* Whole rows from (x, y) on: the oldest form, whose bytes run on over the rows' ends. */
static cudart_error run_shape(const struct array *a, size_t x, size_t bytes,
                              struct copy_shape *ret) {
    size_t pitch = a->extent.width * a->element_bytes;
    if (x && bytes > pitch - x) {
        return explain(CUDART_NOT_SUPPORTED,
                       "rows of an array in part: use cudaMemcpy2DToArray");
    }
    *ret = bytes <= pitch       ? (struct copy_shape){bytes, 1, 1}
           : bytes % pitch == 0 ? (struct copy_shape){pitch, bytes / pitch, 1}
                                : (struct copy_shape){0, 0, 0};
    return ret->width ? CUDART_SUCCESS
                      : explain(CUDART_NOT_SUPPORTED,
                                "the bytes are not whole rows of the array");
}

EXPORT cudart_error cudaMemcpyToArray(struct array *handle, size_t x, size_t y,
                                      const void *from, size_t bytes, int kind) {
    const struct array *a = array_find(handle);
    struct copy_shape s = {0};
    cudart_error code = a ? run_shape(a, x, bytes, &s) : no_array();
    RETURN(
        code ? code
             : copy_to(handle, x, y, from, s.width, s.width, s.height, kind, NULL, true));
}
EXPORT cudart_error cudaMemcpyFromArray(void *to, struct array *handle, size_t x,
                                        size_t y, size_t bytes, int kind) {
    const struct array *a = array_find(handle);
    struct copy_shape s = {0};
    cudart_error code = a ? run_shape(a, x, bytes, &s) : no_array();
    RETURN(
        code ? code
             : copy_from(to, s.width, handle, x, y, s.width, s.height, kind, NULL, true));
}

/* One side of a copy in three dimensions: positions and widths count an array's elements
 * where there is an array, else bytes. */
static cudart_error side(struct rows *ret, struct array *handle,
                         const struct cudart_position *p,
                         const struct cudart_pitched *linear, struct copy_shape s) {
    const struct array *a = handle ? array_find(handle) : NULL;
    if (handle && !a) {
        return no_array();
    }
    if (!a) {
        size_t slice = linear->pitch * linear->height;
        *ret = (struct rows){(uint8_t *)linear->pointer + p->z * slice +
                                 p->y * linear->pitch + p->x,
                             linear->pitch, slice, false};
        return CUDART_SUCCESS;
    }
    size_t x = p->x * a->element_bytes, depth = or_one(a->extent.depth);
    *ret = array_rows(a, x, p->y, p->z);
    return p->z > depth || s.depth > depth - p->z
               ? explain(CUDART_INVALID_VALUE, "%zu slices from %zu of an array of %zu",
                         s.depth, p->z, depth)
               : fits(a, x, p->y, s.width, s.height);
}

static cudart_error sides(const struct cudart_copy_3d *c, struct rows *to,
                          struct rows *from, struct copy_shape *shape) {
    NEED(c);
    const struct array *a = array_find(c->to_array ? c->to_array : c->from_array);
    *shape = (struct copy_shape){c->extent.width * (a ? a->element_bytes : 1),
                                 c->extent.height, c->extent.depth};
    cudart_error code = side(to, c->to_array, &c->to_position, &c->to, *shape);
    return code ? code : side(from, c->from_array, &c->from_position, &c->from, *shape);
}

static cudart_error copy_3d(const struct cudart_copy_3d *c, struct stream *stream,
                            bool waits) {
    struct copy_shape shape;
    struct rows to, from;
    cudart_error code = sides(c, &to, &from, &shape);
    return code ? code : copy_rows(to, from, shape, c->kind, stream, waits);
}

cudart_error copy_3d_make(struct op **ret, const struct cudart_copy_3d *c) {
    struct copy_shape shape;
    struct rows to, from;
    cudart_error code = sides(c, &to, &from, &shape);
    return code ? code : copy_make(ret, to, from, shape, c->kind);
}

EXPORT cudart_error cudaMemcpy3D(const struct cudart_copy_3d *c) {
    RETURN(copy_3d(c, NULL, true));
}
EXPORT cudart_error cudaMemcpy3DAsync(const struct cudart_copy_3d *c, struct stream *s) {
    RETURN(copy_3d(c, s, false));
}
EXPORT cudart_error cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y,
                                             struct array *from, size_t from_x,
                                             size_t from_y, size_t width, size_t height,
                                             int kind) {
    const struct array *t = array_find(to), *f = array_find(from);
    cudart_error code = t && f ? fits(t, to_x, to_y, width, height) : no_array();
    code = code ? code : fits(f, from_x, from_y, width, height);
    RETURN(code
               ? code
               : copy_rows(array_rows(t, to_x, to_y, 0), array_rows(f, from_x, from_y, 0),
                           (struct copy_shape){width, height, 1}, kind, NULL, true));
}
