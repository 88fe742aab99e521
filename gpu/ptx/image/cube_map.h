#pragma once
/* cube_map: the face of a cube that a direction meets, the position there, and the texels
 * across the edges of a face.
 *
 * Faces: NVIDIA, CUDA C++ Programming Guide, "Cubemap Textures", in the order of
 * CUarray_cubemap_face. The guide does not define directions to an edge: here z goes
 * before y before x. Across an edge is the nearest texel of the adjacent face. */
#include "base/mem.h"

#define CUBE_FACES 6

struct cube_place {
    unsigned face;
    double s, t; /* 0 to 1, x and y of the face */
};
struct cube_place cube_place(const double direction[3]);

struct cube_texel {
    unsigned face;
    int64_t x, y;
};
/* For faces of n x n texels; one of x and y may be one outside: then returns the texel of
 * the adjacent face. */
struct cube_texel cube_fold(struct cube_texel texel, uint32_t n);
