#include "tests/cuda/images.h"

#include "base/mem.h"
#include "tests/cuda/device_memory.h"
#include "tests/cuda/tasks.h"

#include <errno.h>
#include <string.h>

struct array {
    struct object object;
    struct cuda_array_shape shape;
    unsigned element_bytes;
    struct allocation *in;
};

void device_images_finish(void) {
    struct array *a;
    while ((a = object_first(OBJECT_ARRAY))) {
        object_remove(&a->object);
        free(a);
    }
}

/* ---- arrays ---- */

static enum ptx_type type_of(int format) {
    switch (format) {
    case CUDA_ARRAY_UINT8:
        return PTX_U8;
    case CUDA_ARRAY_UINT16:
        return PTX_U16;
    case CUDA_ARRAY_UINT32:
        return PTX_U32;
    case CUDA_ARRAY_INT8:
        return PTX_S8;
    case CUDA_ARRAY_INT16:
        return PTX_S16;
    case CUDA_ARRAY_INT32:
        return PTX_S32;
    case CUDA_ARRAY_HALF:
        return PTX_F16;
    case CUDA_ARRAY_FLOAT:
        return PTX_F32;
    default:
        return PTX_NONE;
    }
}

static uint64_t or_one(uint64_t n) {
    return n ? n : 1;
}

static bool shape_fine(const struct cuda_array_shape *s) {
    bool layered = s->flags & CUDA_ARRAY_LAYERED;
    bool gathers = s->flags & CUDA_ARRAY_GATHER;
    bool flat = s->height > 0 && s->depth == 0;
    bool cube = s->width == s->height && s->width <= 32768 &&
                (layered ? s->depth % 6 == 0 && s->depth <= 2046 : s->depth == 6);
    return type_of(s->format) != PTX_NONE && s->width > 0 && s->width <= 131072 &&
           s->height <= 65536 && s->depth <= 16384 &&
           (s->channels == 1 || s->channels == 2 || s->channels == 4) &&
           (!layered || s->depth > 0) && (layered || !s->depth || s->height > 0) &&
           (!(s->flags & CUDA_ARRAY_CUBEMAP) || (cube && !gathers)) &&
           (!gathers || flat) && s->flags < 16;
}

int cuArray3DCreate_v2(cuda_array_ref *ret, const struct cuda_array_shape *shape) {
    ENTER(cuArray3DCreate_v2, NEED_CONTEXT);
    if (!ret || !shape || !shape_fine(shape)) {
        return CUDA_INVALID_VALUE;
    }
    struct array *a = xcalloc(1, sizeof *a);
    a->shape = *shape;
    a->element_bytes = ptx_type_bytes(type_of(shape->format)) * shape->channels;
    a->in = device_buffer_new(shape->width * or_one(shape->height) *
                              or_one(shape->depth) * a->element_bytes);
    if (!a->in) {
        free(a);
        return CUDA_OUT_OF_MEMORY;
    }
    object_add(&a->object, OBJECT_ARRAY);
    *ret = (cuda_array_ref)(void *)a;
    return CUDA_OK;
}

int cuArrayDestroy(cuda_array_ref array) {
    ENTER(cuArrayDestroy, NEED_CONTEXT);
    struct array *a = object_find(array, OBJECT_ARRAY);
    if (!a) {
        return STANDIN_INVALID_HANDLE;
    }
    int code = tasks_wait(tasks.submitted);
    object_remove(&a->object);
    (void)device_memory_free(device(), a->in->address);
    free(a);
    return code;
}

/* ---- copies ---- */

struct place { /* one end of a copy */
    uint8_t *first;
    size_t pitch, slice, end; /* bytes; end: how many there are */
};

static int place_of(struct place *ret, const struct cuda_box_end *e,
                    const struct cuda_box_copy *c) {
    size_t span = 0;
    if (e->type == CUDA_MEMORYTYPE_ARRAY) {
        const struct array *a = object_find(e->array, OBJECT_ARRAY);
        if (!a) {
            return STANDIN_INVALID_HANDLE;
        }
        ret->pitch = a->shape.width * a->element_bytes;
        ret->slice = ret->pitch * or_one(a->shape.height);
        ret->end = a->in->bytes;
        ret->first = a->in->host;
    } else if (e->type == CUDA_MEMORYTYPE_DEVICE) {
        ret->pitch = e->pitch ? e->pitch : c->width_bytes;
        ret->slice = ret->pitch * or_one(e->height ? e->height : c->height);
        span = ret->slice * c->depth;
        ret->end = span;
        ret->first = device_bytes_at(e->device, span);
    }
    size_t from = e->z * ret->slice + e->y * ret->pitch + e->x_bytes;
    bool fits = ret->first && c->width_bytes + e->x_bytes <= ret->pitch &&
                (e->y + c->height) * ret->pitch <= ret->slice &&
                (e->z + c->depth) * ret->slice <= ret->end;
    ret->first = fits ? ret->first + from : NULL;
    return fits ? CUDA_OK : CUDA_INVALID_VALUE;
}

/* Done when it returns, behind all that was asked before: a driver may do so. */
int cuMemcpy3DAsync_v2(const struct cuda_box_copy *copy, cuda_stream_ref stream) {
    ENTER(cuMemcpy3DAsync_v2, NEED_CONTEXT);
    struct place from = {0}, to = {0};
    if (!copy || !object_find(stream, OBJECT_STREAM) || !copy->width_bytes ||
        !copy->height || !copy->depth) {
        return CUDA_INVALID_VALUE;
    }
    int code = tasks_wait(tasks.submitted);
    code = code ? code : place_of(&from, &copy->from, copy);
    code = code ? code : place_of(&to, &copy->to, copy);
    for (size_t z = 0; code == CUDA_OK && z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++) {
            memcpy(to.first + z * to.slice + y * to.pitch,
                   from.first + z * from.slice + y * from.pitch, copy->width_bytes);
        }
    }
    return code;
}

/* ---- objects ---- */

static void shown_array(const struct array *a, struct machine_image *ret) {
    const struct cuda_array_shape *s = &a->shape;
    bool cube = s->flags & CUDA_ARRAY_CUBEMAP;
    bool layered = cube || (s->flags & CUDA_ARRAY_LAYERED);
    ret->cubes = cube && (s->flags & CUDA_ARRAY_LAYERED);
    ret->cube = cube && !ret->cubes;
    ret->address = a->in->address;
    ret->type = type_of(s->format);
    ret->channels = s->channels;
    ret->extent[0] = (uint32_t)s->width;
    ret->extent[1] = (uint32_t)s->height;
    ret->extent[2] = layered ? 0 : (uint32_t)s->depth;
    ret->layers = layered ? (uint32_t)s->depth : 0;
    ret->rank = 1u + (s->height > 0) + (!layered && s->depth > 0);
}

static int object_make(unsigned long long *ret, struct allocation *in,
                       const struct machine_image *im) {
    struct image own;
    uint64_t handle;
    if (image_make(&own, in, im, NULL) < 0 ||
        images_add(&device()->images, &own, &handle) < 0) {
        return CUDA_INVALID_VALUE;
    }
    *ret = handle;
    return CUDA_OK;
}

static void read_modes(const struct cuda_texture_modes *modes, struct machine_image *im) {
    for (unsigned d = 0; d < 3; d++) {
        im->mode[d] = (enum machine_address_mode)modes->address[d];
    }
    im->filters = modes->filter == 1;
    im->normalized = modes->flags & CUDA_TEXTURE_NORMALIZED_COORDINATES;
    im->seamless = modes->flags & CUDA_TEXTURE_SEAMLESS_CUBEMAP;
    im->reads_floats = !(modes->flags & CUDA_TEXTURE_READ_AS_INTEGER) &&
                       !ptx_type_float(im->type) && ptx_type_bytes(im->type) < 4;
}

static bool modes_fine(const struct cuda_texture_modes *modes) {
    bool fine = modes->filter == 0 || modes->filter == 1;
    bool normalized = modes->flags & CUDA_TEXTURE_NORMALIZED_COORDINATES;
    for (unsigned d = 0; d < 3; d++) {
        int mode = modes->address[d];
        fine = fine && mode >= 0 && mode <= 3 &&
               (normalized || mode == MACHINE_CLAMP || mode == MACHINE_BORDER);
    }
    return fine && !(modes->flags & ~(3u | CUDA_TEXTURE_SEAMLESS_CUBEMAP));
}

int cuTexObjectCreate(cuda_texture *ret, const struct cuda_resource *resource,
                      const struct cuda_texture_modes *modes,
                      const struct cuda_resource_view *view) {
    ENTER(cuTexObjectCreate, NEED_CONTEXT);
    struct machine_image im = {.rank = 1};
    if (!ret || !resource || !modes || view || !modes_fine(modes)) {
        return CUDA_INVALID_VALUE;
    }
    if (resource->type == CUDA_RESOURCE_ARRAY) {
        const struct array *a = object_find(resource->of.array, OBJECT_ARRAY);
        if (!a) {
            return STANDIN_INVALID_HANDLE;
        }
        shown_array(a, &im);
        read_modes(modes, &im);
        return object_make(ret, a->in, &im);
    }
    im.type = type_of(resource->of.linear.format);
    im.channels = resource->of.linear.channels;
    im.linear = true;
    read_modes(modes, &im);
    unsigned bytes = ptx_type_bytes(im.type) * im.channels;
    struct allocation *in = memory_find(&device()->memory, resource->of.linear.address);
    if (resource->type != CUDA_RESOURCE_LINEAR || !bytes || !in) {
        return CUDA_INVALID_VALUE;
    }
    im.extent[0] = (uint32_t)(resource->of.linear.bytes / bytes);
    im.address = resource->of.linear.address;
    return object_make(ret, in, &im);
}

int cuSurfObjectCreate(cuda_surface *ret, const struct cuda_resource *resource) {
    ENTER(cuSurfObjectCreate, NEED_CONTEXT);
    const struct array *a = resource && resource->type == CUDA_RESOURCE_ARRAY
                                ? object_find(resource->of.array, OBJECT_ARRAY)
                                : NULL;
    if (!ret || !a || !(a->shape.flags & CUDA_ARRAY_SURFACE)) {
        return CUDA_INVALID_VALUE;
    }
    struct machine_image im = {.surface = true};
    shown_array(a, &im);
    im.cube = im.cubes = false; /* faces are layers to it */
    return object_make(ret, a->in, &im);
}

static int object_destroy(uint64_t handle, bool surface) {
    const struct image *im = images_find(&device()->images, handle);
    if (!im || im->is_surface != surface) {
        return CUDA_INVALID_VALUE;
    }
    int code = tasks_wait(tasks.submitted);
    images_remove(&device()->images, handle);
    return code;
}

int cuTexObjectDestroy(cuda_texture texture) {
    ENTER(cuTexObjectDestroy, NEED_CONTEXT);
    return object_destroy(texture, false);
}

int cuSurfObjectDestroy(cuda_surface surface) {
    ENTER(cuSurfObjectDestroy, NEED_CONTEXT);
    return object_destroy(surface, true);
}
