#pragma once
/* cube_map: which face of a cube a direction meets, and where; which texels lie behind
 * the edges of a face.
 *
 * Faces: NVIDIA, CUDA C++ Programming Guide, "Cubemap Textures", in the order of
 * CUarray_cubemap_face. The guide leaves directions to an edge open: here z goes before y
 * before x. Behind an edge is the texel of the next face that touches it. */
#include <stdbool.h>
#include <stdint.h>

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
/* Of faces of n x n texels, one of x and y may lie one outside: made the texel that is
 * there. */
struct cube_texel cube_fold(struct cube_texel texel, uint32_t n);
