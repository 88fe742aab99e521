#pragma once
/* image_access: what texture and surface instructions have in common. */
#include "gpu/ptx/image/images.h"
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/state/run.h"

/* One lane at one instruction. */
struct image_lane {
    struct warp *warp;
    const struct step *step;
    const struct image_access *access;
    unsigned lane;
};

/* ---- running ---- */

/* The image of the lane's handle; NULL after a finding: there is none, it is of the other
 * kind, has other dimensions than the instruction's, or its memory was freed. */
const struct image *image_of(const struct image_lane *at, bool surface);
const struct image *image_any(const struct image_lane *at); /* of any kind */
struct finding_place image_place(const struct image_lane *at, const struct image *im,
                                 uint64_t offset);
/* A finding when bytes of the allocation were never written. */
void image_check_written(const struct image_lane *at, const struct image *im,
                         uint64_t offset, unsigned bytes);

/* ---- lowering ---- */

/* rank, is_layered and is_cube; false: multisamples. */
bool image_geometry(const struct ptx_instruction *i, struct image_access *ret);
/* The handle's register and the coordinates'. */
bool image_lower_address(struct lowering *l, const struct ptx_instruction *i,
                         const struct ptx_operand *o, struct image_access *x,
                         uint32_t *ret_handle);
lower_family lower_texture, lower_surface;
