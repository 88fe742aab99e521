#pragma once
/* texture: how a texture or surface object presents a buffer. */
#include "gpu/tensor/tensor_type.h"

/* CUaddress_mode's values. */
enum texture_mode { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };

struct texture {
    const char *name; /* of the buffer */
    bool is_surface;
    enum tensor_type type;
    unsigned channels;         /* values per element: 1, 2, 4 */
    unsigned rank;             /* 1 to 3, without layers */
    uint32_t extent[3];        /* elements in x, y, z; 0 beyond the rank */
    uint32_t layers;           /* 0: not layered; for cubes, the number of faces */
    bool cube, layered_cube;   /* 6 layers; several cubes, selected by number */
    bool seamless;             /* the cube's filter crosses edges */
    bool linear_memory;        /* not an array: rank 1, fetched by integer index */
    enum texture_mode mode[3]; /* for x, y, z */
    bool filters, normalized;
    bool reads_floats; /* integers of 8 and 16 bits are read as 0 to 1 or -1 to 1 */
};
