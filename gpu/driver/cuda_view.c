#include "gpu/driver/cuda_view.h"

#include "base/err.h"
#include "base/find.h"

/* Larger arrays cannot be gathered from. */
#define MAX_GATHER 32768

struct own {
    struct cuda_view image;
    cuda_array_ref array; /* NULL: linear memory */
    uint64_t handle;
};

struct cuda_views {
    struct cuda_context *context;
    struct own *list;
    size_t count;
};

struct cuda_views *cuda_views_new(struct cuda_context *c) {
    struct cuda_views *images = xcalloc(1, sizeof *images);
    images->context = c;
    return images;
}

static void own_free(struct cuda_context *c, const struct own *own) {
    if (own->handle && own->image.surface) {
        (void)c->api->surface_destroy(own->handle);
    } else if (own->handle) {
        (void)c->api->texture_destroy(own->handle);
    }
    if (own->array) {
        (void)c->api->array_destroy(own->array);
    }
}

void cuda_views_free(struct cuda_views *images) {
    if (!images) {
        return;
    }
    for (size_t i = 0; i < images->count && !images->context->lost; i++) {
        own_free(images->context, &images->list[i]);
    }
    free(images->list);
    free(images);
}

bool cuda_views_has_surface(const struct cuda_views *images) {
    return any_of(i, 0, images->count, images->list[i].image.surface);
}

/* ---- making ---- */

static bool driver_can(const struct cuda_api *api) {
    return api->array_create && api->array_destroy && api->copy_box &&
           api->texture_create && api->texture_destroy && api->surface_create &&
           api->surface_destroy;
}

static struct cuda_array_shape shape_of(const struct cuda_view *im) {
    bool layered = im->layers && (!im->cube || im->layered_cube);
    bool gathers = im->rank == 2 && !im->layers && !im->surface &&
                   im->extent[0] <= MAX_GATHER && im->extent[1] <= MAX_GATHER;
    return (struct cuda_array_shape){.width = im->extent[0],
                                     .height = im->rank > 1 ? im->extent[1] : 0,
                                     .depth = im->layers     ? im->layers
                                              : im->rank > 2 ? im->extent[2]
                                                             : 0,
                                     .format = (int)im->format,
                                     .channels = im->channels,
                                     .flags = (layered ? CUDA_ARRAY_LAYERED : 0u) |
                                              (im->cube ? CUDA_ARRAY_CUBEMAP : 0u) |
                                              (im->surface ? CUDA_ARRAY_SURFACE : 0u) |
                                              (gathers ? CUDA_ARRAY_GATHER : 0u)};
}

static struct cuda_resource resource_of(const struct own *own) {
    const struct cuda_view *im = &own->image;
    struct cuda_resource r = {.type = CUDA_RESOURCE_ARRAY};
    r.of.array = own->array;
    if (im->linear_memory) {
        r.type = CUDA_RESOURCE_LINEAR;
        r.of.linear.address = im->address;
        r.of.linear.format = (int)im->format;
        r.of.linear.channels = im->channels;
        r.of.linear.bytes = (size_t)im->extent[0] * im->element_bytes;
    }
    return r;
}

static int make(struct cuda_context *c, struct own *own, struct err *err) {
    const struct cuda_view *im = &own->image;
    int r = 0;
    if (!im->linear_memory) {
        struct cuda_array_shape shape = shape_of(im);
        r = cuda_context_check(c, c->api->array_create(&own->array, &shape),
                               "making an array", err);
    }
    if (r < 0) {
        own->array = NULL;
        return r;
    }
    struct cuda_resource resource = resource_of(own);
    unsigned long long handle = 0;
    int code = im->surface ? c->api->surface_create(&handle, &resource)
                           : c->api->texture_create(&handle, &resource, &im->modes, NULL);
    r = cuda_context_check(
        c, code, im->surface ? "making a surface object" : "making a texture object",
        err);
    own->handle = r == 0 ? handle : 0;
    return r;
}

int cuda_views_add(struct cuda_views *images, const struct cuda_view *image,
                   uint64_t *ret_handle, struct err *err) {
    struct cuda_context *c = images->context;
    struct own own = {.image = *image};
    if (!driver_can(c->api)) {
        return err_set(err, -ENOTSUP, "the driver makes no textures");
    }
    int r = cuda_context_usable(c, err);
    r = r < 0 ? r : make(c, &own, err);
    if (r < 0) {
        if (!c->lost) {
            own_free(c, &own);
        }
        return r;
    }
    images->list = xreallocarray(images->list, images->count + 1, sizeof *images->list);
    images->list[images->count++] = own;
    *ret_handle = own.handle;
    return 0;
}

/* ---- copying ---- */

static int copy(struct cuda_context *c, const struct own *own, bool back,
                struct err *err) {
    const struct cuda_view *im = &own->image;
    size_t row = (size_t)im->extent[0] * im->element_bytes;
    size_t rows = im->rank > 1 ? im->extent[1] : 1;
    struct cuda_box_end memory = {.type = CUDA_MEMORYTYPE_DEVICE,
                                  .device = im->address,
                                  .pitch = row,
                                  .height = rows};
    struct cuda_box_end array = {.type = CUDA_MEMORYTYPE_ARRAY, .array = own->array};
    struct cuda_box_copy box = {.from = back ? array : memory,
                                .to = back ? memory : array,
                                .width_bytes = row,
                                .height = rows,
                                .depth = im->layers     ? im->layers
                                         : im->rank > 2 ? im->extent[2]
                                                        : 1};
    return cuda_context_check(c, c->api->copy_box(&box, c->stream),
                              back ? "copying a surface back" : "filling a texture", err);
}

int cuda_views_fill(struct cuda_views *images, struct err *err) {
    int r = 0;
    for (size_t i = 0; i < images->count && r == 0; i++) {
        const struct own *own = &images->list[i];
        r = own->array ? copy(images->context, own, false, err) : 0;
    }
    return r;
}

int cuda_views_fetch(struct cuda_views *images, struct err *err) {
    int r = 0;
    for (size_t i = 0; i < images->count && r == 0; i++) {
        const struct own *own = &images->list[i];
        r = own->image.surface ? copy(images->context, own, true, err) : 0;
    }
    return r;
}
