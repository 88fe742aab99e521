/* driver_copies: the driver's descriptions of copies, arrays, textures, launches and graph
 * nodes that differ from the runtime's. */
#include "gpu/runtime/arrays.h"
#include "gpu/runtime/driver_api.h"
#include "gpu/runtime/graph.h"

/* ---- copies ---- */

enum { AT_HOST = 1, AT_DEVICE, AT_ARRAY, AT_ANY }; /* CUmemorytype */

static cudart_error side_of(struct array **ret_array, struct cudart_position *ret_position,
                            struct cudart_pitched *ret, const struct driver_side *s,
                            size_t height) {
    const struct array *a = s->type == AT_ARRAY ? array_find(s->array) : NULL;
    if (a) {
        *ret_array = s->array;
        *ret_position = (struct cudart_position){s->x / a->element_bytes, s->y, s->z};
        return CUDART_SUCCESS;
    }
    if (s->type < AT_HOST || s->type > AT_ANY || s->type == AT_ARRAY) {
        return explain(CUDART_INVALID_VALUE, "a copy's end of type %d", s->type);
    }
    void *base = s->type == AT_HOST ? s->host : (void *)(uintptr_t)s->device;
    *ret_position = (struct cudart_position){s->x, s->y, s->z};
    *ret = (struct cudart_pitched){base, s->pitch, s->pitch, s->height ? s->height : height};
    return CUDART_SUCCESS;
}

static cudart_error copy_of(struct cudart_copy_3d *ret, const struct driver_copy_3d *c) {
    NEED(c);
    *ret = (struct cudart_copy_3d){.kind = COPY_DEFAULT,
                                   .extent = {c->width, c->height, c->depth}};
    cudart_error code =
        side_of(&ret->from_array, &ret->from_position, &ret->from, &c->from, c->height);
    code = code ? code
                : side_of(&ret->to_array, &ret->to_position, &ret->to, &c->to, c->height);
    const struct array *a =
        code ? NULL : array_find(ret->to_array ? ret->to_array : ret->from_array);
    if (a) { /* widths are then in elements */
        ret->extent.width /= a->element_bytes;
    }
    return code;
}

static struct driver_side flat_side(const struct driver_flat_side *s) {
    return (struct driver_side){.x = s->x,
                                .y = s->y,
                                .type = s->type,
                                .host = s->host,
                                .device = s->device,
                                .array = s->array,
                                .pitch = s->pitch};
}

static struct driver_copy_3d flat_copy(const struct driver_copy_2d *c) {
    return (struct driver_copy_3d){flat_side(&c->from), flat_side(&c->to), c->width,
                                   c->height, 1};
}

EXPORT int cuMemcpy3D_v2(const struct driver_copy_3d *c) {
    struct cudart_copy_3d copy;
    cudart_error code = copy_of(&copy, c);
    RETURN(code ? code : cudaMemcpy3D(&copy));
}
EXPORT int cuMemcpy3DAsync_v2(const struct driver_copy_3d *c, struct stream *s) {
    struct cudart_copy_3d copy;
    cudart_error code = copy_of(&copy, c);
    RETURN(code ? code : cudaMemcpy3DAsync(&copy, s));
}
EXPORT int cuMemcpy2D_v2(const struct driver_copy_2d *c) {
    NEED(c);
    const struct driver_copy_3d copy = flat_copy(c);
    return cuMemcpy3D_v2(&copy);
}
EXPORT int cuMemcpy2DAsync_v2(const struct driver_copy_2d *c, struct stream *s) {
    NEED(c);
    const struct driver_copy_3d copy = flat_copy(c);
    return cuMemcpy3DAsync_v2(&copy, s);
}

/* ---- arrays ---- */

/* CUarray_format: bits and kind of a channel. */
static cudart_error channels_of(struct cudart_channels *ret, int format, unsigned count) {
    enum { SIGNED, UNSIGNED, FLOATS };
    static const struct {
        int format, bits, kind;
    } formats[] = {{0x01, 8, UNSIGNED}, {0x02, 16, UNSIGNED}, {0x03, 32, UNSIGNED},
                   {0x08, 8, SIGNED},   {0x09, 16, SIGNED},   {0x0a, 32, SIGNED},
                   {0x10, 16, FLOATS},  {0x20, 32, FLOATS}};
    for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
        if (formats[k].format == format && (count == 1 || count == 2 || count == 4)) {
            int bits = formats[k].bits;
            *ret = (struct cudart_channels){bits, count > 1 ? bits : 0,
                                            count > 2 ? bits : 0, count > 3 ? bits : 0,
                                            formats[k].kind};
            return CUDART_SUCCESS;
        }
    }
    return explain(CUDART_NOT_SUPPORTED, "elements of format 0x%x with %u channels",
                   format, count);
}

EXPORT int cuArrayCreate_v2(struct array **ret, const struct driver_array *d) {
    struct cudart_channels channels;
    NEED(d);
    cudart_error code = channels_of(&channels, d->format, d->channels);
    RETURN(code ? code : cudaMallocArray(ret, &channels, d->width, d->height, 0));
}

EXPORT int cuArray3DCreate_v2(struct array **ret, const struct driver_array_3d *d) {
    struct cudart_channels channels;
    NEED(d);
    cudart_error code = channels_of(&channels, d->format, d->channels);
    RETURN(code ? code
                : cudaMalloc3DArray(ret, &channels,
                                    (struct cudart_extent){d->width, d->height, d->depth},
                                    d->flags));
}

/* ---- textures and surfaces ---- */

enum { RESOURCE_LINEAR = 2, RESOURCE_PITCHED = 3 };
enum {                  /* CU_TRSF_… */
       READ_ELEMENTS = 0x01,
       NORMALIZED = 0x02,
       SRGB = 0x10,
       SEAMLESS = 0x40,
};

static cudart_error resource_of(struct cudart_resource *ret,
                                const struct driver_resource *r) {
    NEED(r);
    *ret = (struct cudart_resource){.type = r->type, .flags = r->flags};
    if (r->type == RESOURCE_LINEAR) {
        ret->of.linear.pointer = r->of.memory.pointer;
        ret->of.linear.bytes = r->of.memory.width;
        return channels_of(&ret->of.linear.channels, r->of.memory.format,
                           r->of.memory.channels);
    }
    if (r->type == RESOURCE_PITCHED) {
        ret->of.pitched.pointer = r->of.memory.pointer;
        ret->of.pitched.width = r->of.memory.width;
        ret->of.pitched.height = r->of.memory.height;
        ret->of.pitched.pitch = r->of.memory.pitch;
        return channels_of(&ret->of.pitched.channels, r->of.memory.format,
                           r->of.memory.channels);
    }
    ret->of.array = r->of.array;
    return CUDART_SUCCESS;
}

EXPORT int cuTexObjectCreate(unsigned long long *ret, const struct driver_resource *r,
                             const struct driver_texture *t, const void *view) {
    struct cudart_resource resource;
    NEED(t);
    struct cudart_texture texture = {.filter = t->filter,
                                     .read = !(t->flags & READ_ELEMENTS),
                                     .srgb = (t->flags & SRGB) != 0,
                                     .normalized = (t->flags & NORMALIZED) != 0,
                                     .anisotropy = t->anisotropy,
                                     .mipmap_filter = t->mipmap_filter,
                                     .mipmap_bias = t->mipmap_bias,
                                     .mipmap_min = t->mipmap_min,
                                     .mipmap_max = t->mipmap_max,
                                     .seamless = (t->flags & SEAMLESS) != 0};
    memcpy(texture.address, t->address, sizeof texture.address);
    memcpy(texture.border, t->border, sizeof texture.border);
    cudart_error code = resource_of(&resource, r);
    RETURN(code ? code : cudaCreateTextureObject(ret, &resource, &texture, view));
}

EXPORT int cuSurfObjectCreate(unsigned long long *ret, const struct driver_resource *r) {
    struct cudart_resource resource;
    cudart_error code = resource_of(&resource, r);
    RETURN(code ? code : cudaCreateSurfaceObject(ret, &resource));
}

/* ---- launches ---- */

static struct cudart_launch_config config_of(const struct driver_launch *c) {
    return (struct cudart_launch_config){.grid = c->grid,
                                         .block = c->block,
                                         .dynamic_shared = c->shared,
                                         .stream = c->stream,
                                         .attributes = c->attributes,
                                         .attribute_count = c->attribute_count};
}

EXPORT int cuLaunchKernelEx(const struct driver_launch *c, const void *function,
                            void **params, void **extra) {
    NEED(c);
    const struct cudart_launch_config config = config_of(c);
    RETURN(extra && !params
               ? explain(CUDART_NOT_SUPPORTED, "a launch without kernelParams")
               : cudaLaunchKernelExC(&config, function, params));
}

EXPORT int cuOccupancyMaxActiveClusters(int *ret, const void *function,
                                        const struct driver_launch *c) {
    NEED(c);
    const struct cudart_launch_config config = config_of(c);
    return cudaOccupancyMaxActiveClusters(ret, function, &config);
}

EXPORT int cuOccupancyMaxPotentialClusterSize(int *ret, const void *function,
                                              const struct driver_launch *c) {
    NEED(c);
    const struct cudart_launch_config config = config_of(c);
    return cudaOccupancyMaxPotentialClusterSize(ret, function, &config);
}

/* ---- nodes of graphs ---- */

EXPORT int cuGraphAddMemcpyNode(struct node **ret, struct graph *g,
                                struct node *const *needs, size_t count,
                                const struct driver_copy_3d *c, struct context *) {
    struct cudart_copy_3d copy;
    cudart_error code = copy_of(&copy, c);
    RETURN(code ? code : cudaGraphAddMemcpyNode(ret, g, needs, count, &copy));
}

EXPORT int cuGraphMemcpyNodeSetParams(struct node *n, const struct driver_copy_3d *c) {
    struct cudart_copy_3d copy;
    cudart_error code = copy_of(&copy, c);
    RETURN(code ? code : cudaGraphMemcpyNodeSetParams(n, &copy));
}

EXPORT int cuGraphExecMemcpyNodeSetParams(struct graph *exec, struct node *n,
                                          const struct driver_copy_3d *c,
                                          struct context *) {
    struct cudart_copy_3d copy;
    cudart_error code = copy_of(&copy, c);
    RETURN(code ? code : cudaGraphExecMemcpyNodeSetParams(exec, n, &copy));
}

/* All nodes but copies are described as the runtime's. */
EXPORT int cuGraphAddNode_v2(struct node **ret, struct graph *g,
                             struct node *const *needs, const void *edges, size_t count,
                             struct cudart_node *p) {
    NEED(p);
    if (p->type != NODE_COPY) {
        return cudaGraphAddNode(ret, g, needs, edges, count, p);
    }
    const struct driver_copy_node *c = (const void *)&p->of;
    return cuGraphAddMemcpyNode(ret, g, needs, count, &c->copy, c->context);
}

EXPORT int cuGraphConditionalHandleCreate(uint64_t *ret, struct graph *g,
                                          struct context *, unsigned first,
                                          unsigned flags) {
    return cudaGraphConditionalHandleCreate(ret, g, first, flags);
}
