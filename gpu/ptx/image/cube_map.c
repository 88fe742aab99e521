#include "gpu/ptx/image/cube_map.h"

#include <math.h>

/* Axes 0 to 2 are x, y, z; a face's major one, and those along which s and t run. */
static const struct face {
    uint8_t major, s, t;
    int8_t major_sign, s_sign, t_sign;
} faces[CUBE_FACES] = {
    {0, 2, 1, 1, -1, -1}, {0, 2, 1, -1, 1, -1}, {1, 0, 2, 1, 1, 1},
    {1, 0, 2, -1, 1, -1}, {2, 0, 1, 1, 1, -1},  {2, 0, 1, -1, -1, -1},
};

static unsigned face_of(double x, double y, double z) {
    if (fabs(z) >= fabs(x) && fabs(z) >= fabs(y)) {
        return z < 0 ? 5 : 4;
    }
    if (fabs(y) >= fabs(x)) {
        return y < 0 ? 3 : 2;
    }
    return x < 0 ? 1 : 0;
}

struct cube_place cube_place(const double d[3]) {
    unsigned face = face_of(d[0], d[1], d[2]);
    const struct face *f = &faces[face];
    double m = f->major_sign * d[f->major];
    return (struct cube_place){.face = face,
                               .s = (f->s_sign * d[f->s] / m + 1) / 2,
                               .t = (f->t_sign * d[f->t] / m + 1) / 2};
}

/* Places in halves of a texel from the middle of the cube, whose faces are n away: what
 * sticks out along one axis is bent round the edge. */
struct cube_texel cube_fold(struct cube_texel texel, uint32_t n) {
    int64_t size = n, place[3], s = 2 * texel.x + 1 - size, t = 2 * texel.y + 1 - size;
    const struct face *f = &faces[texel.face];
    place[f->major] = f->major_sign * (size - 1);
    place[f->s] = f->s_sign * s;
    place[f->t] = f->t_sign * t;
    unsigned out = s < -size || s > size ? f->s : t < -size || t > size ? f->t : f->major;
    if (out == f->major) {
        return texel;
    }
    texel.face = 2 * out + (place[out] < 0);
    f = &faces[texel.face];
    texel.x = (f->s_sign * place[f->s] + size - 1) / 2;
    texel.y = (f->t_sign * place[f->t] + size - 1) / 2;
    return texel;
}
