#include "gpu/ptx/image/image_make.h"

#include "base/err.h"
#include "gpu/ptx/image/images.h"

static bool type_is_shown(enum ptx_type t) {
    return t == PTX_F32 || t == PTX_F16 || (t >= PTX_U8 && t <= PTX_U32) ||
           (t >= PTX_S8 && t <= PTX_S32);
}

static int check_kind(const struct machine_image *from, struct err *err) {
    bool floats = from->reads_floats || ptx_type_float(from->type);
    if (!type_is_shown(from->type) ||
        (from->channels != 1 && from->channels != 2 && from->channels != 4)) {
        return err_set(err, -EINVAL, "%u channels of %s: no format of an image",
                       from->channels, ptx_type_name(from->type));
    }
    if (from->rank < 1 || from->rank > 3 || (from->layers && from->rank == 3) ||
        (from->linear && (from->rank != 1 || from->layers || from->surface))) {
        return err_set(err, -EINVAL, "an image has no such dimensions");
    }
    if (from->reads_floats &&
        (ptx_type_float(from->type) || ptx_type_bytes(from->type) == 4)) {
        return err_set(err, -EINVAL, "%s is not read as normalized floats",
                       ptx_type_name(from->type));
    }
    return !from->filters || (floats && !from->linear)
               ? 0
               : err_set(err, -EINVAL, "only what is read as floats is filtered");
}

static int check_cube(const struct machine_image *from, struct err *err) {
    bool cube = from->cube || from->cubes;
    bool fits = from->rank == 2 && from->extent[0] == from->extent[1] && !from->surface &&
                from->layers && from->layers % 6 == 0 &&
                (from->cubes || from->layers == 6);
    if ((cube && !fits) || (!cube && from->seamless)) {
        return err_set(err, -EINVAL, "a cube has 6 layers that are as wide as high");
    }
    return 0;
}

/* The pitch that it has, and whether its memory holds it; the last row is not padded. */
static int check_bytes(struct image *im, uint64_t pitch, struct err *err) {
    uint64_t row = (uint64_t)im->extent[0] * im->bytes, room = im->in->bytes - im->offset;
    uint64_t rows = im->layers ? im->layers : 1, bytes;
    im->pitch = pitch ? pitch : row;
    for (unsigned d = 0; d < im->rank; d++) {
        if (im->extent[d] == 0 ||
            (d && __builtin_mul_overflow(rows, (uint64_t)im->extent[d], &rows))) {
            return err_set(err, -EINVAL, "extent %u of the image is %u", d,
                           im->extent[d]);
        }
    }
    if (im->pitch < row || im->pitch % im->bytes ||
        __builtin_mul_overflow(rows - 1, im->pitch, &bytes) ||
        __builtin_add_overflow(bytes, row, &bytes)) {
        return err_set(err, -EINVAL, "rows of %llu bytes have a pitch of %llu",
                       (unsigned long long)row, (unsigned long long)im->pitch);
    }
    return bytes <= room
               ? 0
               : err_set(err, -EINVAL, "the image has %llu bytes, its memory %llu",
                         (unsigned long long)bytes, (unsigned long long)room);
}

int image_make(struct image *ret, struct allocation *in, const struct machine_image *from,
               struct err *err) {
    int rc = check_kind(from, err);
    rc = rc ? rc : check_cube(from, err);
    if (rc) {
        return rc;
    }
    *ret = (struct image){.in = in,
                          .offset = from->address - in->address,
                          .type = (uint8_t)from->type,
                          .bytes = (uint8_t)(ptx_type_bytes(from->type) * from->channels),
                          .channels = (uint8_t)from->channels,
                          .rank = (uint8_t)from->rank,
                          .extent = {1, 1, 1},
                          .layers = from->layers,
                          .is_layered = from->cube ? false : from->layers > 0,
                          .is_cube = from->cube || from->cubes,
                          .is_seamless = from->seamless,
                          .is_surface = from->surface,
                          .is_linear = from->linear,
                          .filters = from->filters,
                          .is_normalized = from->normalized,
                          .reads_floats = from->reads_floats};
    for (unsigned d = 0; d < from->rank; d++) {
        bool periodic = from->mode[d] == MACHINE_WRAP || from->mode[d] == MACHINE_MIRROR;
        bool clamps = from->seamless || (periodic && !from->normalized);
        ret->extent[d] = from->extent[d];
        ret->address[d] = clamps ? IMAGE_CLAMP : (uint8_t)from->mode[d];
    }
    return check_bytes(ret, from->pitch, err);
}
