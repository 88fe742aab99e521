#pragma once
/* texture: what a texture or surface object shows of a buffer. */
#include "gpu/tensor/tensor_type.h"

/* CUaddress_mode's values. */
enum texture_mode { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };

struct texture {
    const char *name; /* of the buffer */
    bool is_surface;
    enum tensor_type type;
    unsigned channels;         /* values of an element: 1, 2, 4 */
    unsigned rank;             /* 1 to 3, without layers */
    uint32_t extent[3];        /* elements in x, y, z; 0 beyond the rank */
    uint32_t layers;           /* 0: not layered; the faces of cubes */
    bool cube, layered_cube;   /* of 6 layers; several of them, by number */
    bool seamless;             /* the cube's filter goes beyond edges */
    bool linear_memory;        /* not an array: rank 1, fetched by whole numbers */
    enum texture_mode mode[3]; /* of x, y, z */
    bool filters, normalized;
    bool reads_floats; /* integers of 8 and 16 bits as 0 to 1 or -1 to 1 */
};
