#pragma once
/* image_make: checks and makes textures and surfaces. */
#include "gpu/ptx/read/module.h"

struct allocation;
struct image;

enum machine_address_mode { /* CUaddress_mode's values */
                            MACHINE_WRAP,
                            MACHINE_CLAMP,
                            MACHINE_MIRROR,
                            MACHINE_BORDER, /* 0 outside */
};
/* How a texture or surface object views an allocation: its elements row after row, from
 * its first byte. Wrap and mirror count as clamp without normalized coordinates;
 * filtering requires elements that are read as floats. */
struct machine_image {
    uint64_t address;
    enum ptx_type type; /* PTX_F32, PTX_F16, PTX_U8 to PTX_S32 */
    unsigned channels;  /* values of an element: 1, 2, 4 */
    unsigned rank;      /* 1 to 3 */
    uint32_t extent[3]; /* elements in x, y, z; what is beyond the rank is ignored */
    uint64_t pitch;     /* bytes from row to row, 0: packed */
    uint32_t layers;    /* 0: not layered; rank 1 and 2 only; faces of cubes */
    bool cube;          /* layers are 6, of a texture of rank 2, as wide as high */
    bool cubes;         /* likewise, several cubes (or one) by number */
    bool seamless;      /* a cube's filter goes beyond edges; modes do not matter */
    bool surface;       /* suld, sust, sured; else tex, for which the rest is */
    bool linear;        /* linear memory: rank 1, whole coordinates, 0 outside */
    enum machine_address_mode mode[3];
    bool filters;      /* linear between elements, else the nearest */
    bool normalized;   /* coordinates from 0 to 1 */
    bool reads_floats; /* 8 and 16 bits: 0 to 1 or -1 to 1 */
};
/* `in` contains from->address. -EINVAL: invalid (machine_image). */
int image_make(struct image *ret, struct allocation *in, const struct machine_image *from,
               struct err *err);
