#pragma once
/* driver_api: the types of CUDA's driver, whose functions the library exports beside the
 * runtime's, over the same device and with the same numbers of errors. Those that do what
 * one of the runtime does, with the same arguments, are its twins (driver_twins.txt);
 * driver*.c and virtual_memory.c have the others. There is one device and so one context:
 * which is current is kept, and no call is refused for lack of one. A stream or event of
 * one interface is one of the other. */
#include "gpu/runtime/api.h"
#include "gpu/runtime/registration.h"

struct context;
EXPORT int cuDevicePrimaryCtxRetain(struct context **ret, int device);

/* ---- driver_copies.c ---- */

struct driver_side { /* of CUDA_MEMCPY3D */
    size_t x, y, z, level;
    int type;
    void *host;
    uint64_t device;
    struct array *array;
    void *reserved;
    size_t pitch, height;
};
struct driver_copy_3d {
    struct driver_side from, to;
    size_t width, height, depth;
};
struct driver_flat_side { /* of CUDA_MEMCPY2D */
    size_t x, y;
    int type;
    void *host;
    uint64_t device;
    struct array *array;
    size_t pitch;
};
struct driver_copy_2d {
    struct driver_flat_side from, to;
    size_t width, height;
};
struct driver_copy_node { /* CUDA_MEMCPY_NODE_PARAMS */
    int flags, reserved;
    struct context *context;
    struct driver_copy_3d copy;
};
struct driver_array { /* CUDA_ARRAY_DESCRIPTOR */
    size_t width, height;
    int format;
    unsigned channels;
};
struct driver_array_3d { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
struct driver_resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        struct array *array;
        struct {
            void *pointer;
            int format;
            unsigned channels;
            size_t width, height, pitch; /* of linear memory, the width is in bytes */
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
};
struct driver_texture { /* CUDA_TEXTURE_DESC */
    int address[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_min, mipmap_max, border[4];
    int reserved[12];
};
struct driver_launch { /* CUlaunchConfig */
    struct dim3 grid, block;
    unsigned shared;
    struct stream *stream;
    struct cudart_launch_attribute *attributes;
    unsigned attribute_count;
};

/* ---- virtual_memory.c ---- */

struct memory_location { /* CUmemLocation */
    int type, id;
};
struct memory_access { /* CUmemAccessDesc */
    struct memory_location where;
    int flags;
};
struct memory_properties { /* CUmemAllocationProp */
    int type, handle_types;
    struct memory_location where;
    void *windows;
    unsigned char compression, direct;
    unsigned short usage;
    unsigned char reserved[4];
};
