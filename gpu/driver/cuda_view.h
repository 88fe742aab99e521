#pragma once
/* cuda_view: texture and surface objects for buffers of a trial. Each object has a
 * separate array. Arrays are filled from their buffers when a launch begins, and those of
 * surfaces are copied back when it has ended. Linear memory is used in place. Nothing is
 * freed in a lost context. */
#include "gpu/driver/cuda_context.h"

struct cuda_views;

struct cuda_view {
    cuda_address address; /* of the buffer: consecutive rows */
    enum cuda_array_format format;
    unsigned element_bytes, channels;
    unsigned rank;           /* 1 to 3 */
    uint32_t extent[3];      /* elements in x, y, z; 0 beyond the rank */
    uint32_t layers;         /* 0: not layered */
    bool cube, layered_cube; /* the layers are the faces of cubes */
    bool surface, linear_memory;
    struct cuda_texture_modes modes; /* for a texture */
};

struct cuda_views *cuda_views_new(struct cuda_context *c);
void cuda_views_free(struct cuda_views *images); /* NULL is fine */
/* *ret_handle: the kernel's argument. -ENOTSUP: the driver lacks it, -ENOMEM, -EIO. */
int cuda_views_add(struct cuda_views *images, const struct cuda_view *image,
                   uint64_t *ret_handle, struct err *err);
/* Enqueued on the context's stream; they do not wait. */
int cuda_views_fill(struct cuda_views *images, struct err *err);
int cuda_views_fetch(struct cuda_views *images, struct err *err); /* surfaces */
bool cuda_views_has_surface(const struct cuda_views *images);
