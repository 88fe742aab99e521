/* textures: texture and surface objects, over arrays and over linear memory. */
#include "base/err.h"
#include "base/find.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/arrays.h"

enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCHED };

static struct object { /* what the program asked for, of each handle */
    uint64_t handle;
    struct cudart_resource resource;
    struct cudart_texture texture;
} * objects; /* under runtime.lock */
static size_t object_count;

/* ---- what is shown ---- */

static cudart_error show_array(const struct array *a, struct machine_image *ret) {
    bool cube = a->flags & ARRAY_CUBEMAP;
    bool layered = cube || (a->flags & ARRAY_LAYERED);
    unsigned channels;
    ret->cubes = cube && (a->flags & ARRAY_LAYERED);
    ret->cube = cube && !ret->cubes;
    ret->address = a->in->address;
    ret->type = channels_type(&a->channels, &channels);
    ret->channels = channels;
    ret->extent[0] = (uint32_t)a->extent.width;
    ret->extent[1] = (uint32_t)a->extent.height;
    ret->extent[2] = layered ? 0 : (uint32_t)a->extent.depth;
    ret->layers = layered ? (uint32_t)a->extent.depth : 0;
    ret->rank = 1u + (a->extent.height > 0) + (!layered && a->extent.depth > 0);
    return CUDART_SUCCESS;
}

static cudart_error show_memory(const struct cudart_resource *r,
                                struct machine_image *ret) {
    unsigned channels;
    bool pitched = r->type == RESOURCE_PITCHED;
    ret->type = channels_type(pitched ? &r->of.pitched.channels : &r->of.linear.channels,
                              &channels);
    ret->channels = channels;
    if (ret->type == PTX_NONE) {
        return explain(CUDART_INVALID_CHANNEL,
                       "the texture's elements have no such format");
    }
    unsigned bytes = ptx_type_bytes(ret->type) * channels;
    if (pitched) {
        ret->address = (uintptr_t)r->of.pitched.pointer;
        ret->rank = 2;
        ret->extent[0] = (uint32_t)r->of.pitched.width;
        ret->extent[1] = (uint32_t)r->of.pitched.height;
        ret->pitch = r->of.pitched.pitch;
    } else {
        ret->address = (uintptr_t)r->of.linear.pointer;
        ret->rank = 1;
        ret->extent[0] = (uint32_t)(r->of.linear.bytes / bytes);
        ret->linear = true;
    }
    return CUDART_SUCCESS;
}

static cudart_error show(const struct cudart_resource *r, struct machine_image *ret) {
    if (r->type == RESOURCE_LINEAR || r->type == RESOURCE_PITCHED) {
        return show_memory(r, ret);
    }
    const struct array *a = r->type == RESOURCE_ARRAY ? array_find(r->of.array) : NULL;
    return a ? show_array(a, ret)
           : r->type == RESOURCE_MIPMAPPED
               ? explain(CUDART_NOT_SUPPORTED, "mipmapped arrays are not supported")
               : explain(CUDART_INVALID_HANDLE, "the array does not exist (any more)");
}

static cudart_error modes_read(const struct cudart_texture *t, struct machine_image *im) {
    for (unsigned d = 0; d < 3; d++) {
        if (t->address[d] < MACHINE_WRAP || t->address[d] > MACHINE_BORDER) {
            return explain(CUDART_INVALID_VALUE, "%d is not an address mode",
                           t->address[d]);
        }
        im->mode[d] = (enum machine_address_mode)t->address[d];
    }
    im->filters = t->filter == 1 && !im->linear;
    im->normalized = t->normalized != 0 && !im->linear;
    im->seamless = t->seamless && (im->cube || im->cubes);
    im->reads_floats =
        t->read == 1 && !ptx_type_float(im->type) && ptx_type_bytes(im->type) < 4;
    return t->srgb ? explain(CUDART_NOT_SUPPORTED, "textures of sRGB are not supported")
                   : CUDART_SUCCESS;
}

/* ---- objects ---- */

struct texture_making {
    const struct machine_image *image;
    uint64_t handle;
    struct err err;
};

static int object_make(void *of) {
    struct texture_making *m = of;
    struct image own;
    struct allocation *in = memory_find(&runtime.device.memory, m->image->address);
    if (!in || in->freed) {
        err_set(&m->err, -1, "the texture's memory is not memory of the device");
        return CUDART_INVALID_VALUE;
    }
    return image_make(&own, in, m->image, &m->err) ||
                   images_add(&runtime.device.images, &own, &m->handle)
               ? CUDART_INVALID_VALUE
               : CUDART_SUCCESS;
}

static cudart_error object_new(unsigned long long *ret, const struct machine_image *image,
                               const struct object *o) {
    struct texture_making m = {.image = image};
    cudart_error code = queue_do(&runtime.device.queue, object_make, &m);
    if (code) {
        return explain(code, "%s", m.err.msg);
    }
    pthread_mutex_lock(&runtime.lock);
    objects = xreallocarray(objects, object_count + 1, sizeof *objects);
    objects[object_count] = *o;
    objects[object_count++].handle = m.handle;
    pthread_mutex_unlock(&runtime.lock);
    *ret = m.handle;
    return CUDART_SUCCESS;
}

static cudart_error texture_new(unsigned long long *ret,
                                const struct cudart_resource *resource,
                                const struct cudart_texture *texture, const void *view) {
    NEED(ret);
    NEED(resource);
    NEED(texture);
    if (view) {
        return explain(CUDART_NOT_SUPPORTED, "views of resources are not supported");
    }
    struct machine_image im = {.rank = 1};
    cudart_error code = show(resource, &im);
    code = code ? code : modes_read(texture, &im);
    return code ? code : object_new(ret, &im, &(struct object){0, *resource, *texture});
}

static cudart_error surface_new(unsigned long long *ret,
                                const struct cudart_resource *resource) {
    NEED(ret);
    NEED(resource);
    struct machine_image im = {.surface = true};
    cudart_error code = resource->type == RESOURCE_ARRAY
                            ? show(resource, &im)
                            : explain(CUDART_INVALID_VALUE, "a surface shows an array");
    im.cube = im.cubes = false; /* faces are layers to it */
    return code ? code : object_new(ret, &im, &(struct object){0, *resource, {{0}}});
}

static struct object *object_find(uint64_t handle) {
    return list_find(one, objects, object_count, one->handle == handle);
}

static int object_drop(void *of) {
    images_remove(&runtime.device.images, *(const uint64_t *)of);
    return CUDART_SUCCESS;
}

static cudart_error object_destroy(uint64_t handle) {
    pthread_mutex_lock(&runtime.lock);
    struct object *o = object_find(handle);
    if (o) {
        *o = objects[--object_count];
    }
    pthread_mutex_unlock(&runtime.lock);
    if (!o) {
        return handle
                   ? explain(CUDART_INVALID_VALUE, "the object does not exist (any more)")
                   : CUDART_SUCCESS;
    }
    return queue_do(&runtime.device.queue, object_drop, &handle);
}

EXPORT cudart_error cudaCreateTextureObject(unsigned long long *ret,
                                            const struct cudart_resource *resource,
                                            const struct cudart_texture *texture,
                                            const void *view) {
    RETURN(texture_new(ret, resource, texture, view));
}
EXPORT cudart_error cudaDestroyTextureObject(unsigned long long texture) {
    RETURN(object_destroy(texture));
}
EXPORT cudart_error cudaCreateSurfaceObject(unsigned long long *ret,
                                            const struct cudart_resource *resource) {
    RETURN(surface_new(ret, resource));
}
EXPORT cudart_error cudaDestroySurfaceObject(unsigned long long surface) {
    RETURN(object_destroy(surface));
}
EXPORT cudart_error cudaGetTextureObjectResourceDesc(struct cudart_resource *ret,
                                                     unsigned long long texture) {
    pthread_mutex_lock(&runtime.lock);
    const struct object *o = object_find(texture);
    if (o) {
        *ret = o->resource;
    }
    pthread_mutex_unlock(&runtime.lock);
    RETURN(o ? CUDART_SUCCESS : CUDART_INVALID_VALUE);
}
EXPORT cudart_error cudaGetTextureObjectTextureDesc(struct cudart_texture *ret,
                                                    unsigned long long texture) {
    pthread_mutex_lock(&runtime.lock);
    const struct object *o = object_find(texture);
    if (o) {
        *ret = o->texture;
    }
    pthread_mutex_unlock(&runtime.lock);
    RETURN(o ? CUDART_SUCCESS : CUDART_INVALID_VALUE);
}
