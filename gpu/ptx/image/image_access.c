#include "gpu/ptx/image/image_access.h"

/* ---- running ---- */

struct finding_place image_place(const struct image_lane *at, const struct image *im,
                                 uint64_t offset) {
    return (struct finding_place){.warp = at->warp,
                                  .step = at->step,
                                  .lane = at->lane,
                                  .buffer = im ? im->in->name : NULL,
                                  .offset = (int64_t)offset};
}

const struct image *image_any(const struct image_lane *at) {
    uint64_t handle = LANES(const uint64_t, at->warp, at->step->src[0])[at->lane];
    struct run *run = at->warp->processor->run;
    const struct image *im = images_find(run->images, handle);
    if (!im || im->in->freed) {
        struct finding_place place = image_place(at, im, 0);
        finding_add(&place, FINDING_OUT_OF_BOUNDS,
                    im ? "The memory behind the texture or surface 0x%llx has been freed"
                       : "0x%llx is not a texture or surface object",
                    (unsigned long long)handle);
        run_fault(run);
        return NULL;
    }
    (void)run_find_for(run, im->in->address, true, im->is_surface);
    return im;
}

const struct image *image_of(const struct image_lane *at, bool surface) {
    static const char *const words[2][2] = {{"texture", "layered texture"},
                                            {"surface", "layered surface"}};
    static const char *const cubes[] = {"", " cubemap"};
    const struct image_access *x = at->access;
    const struct image *im = image_any(at);
    if (!im || (im->is_surface == surface && im->rank == x->rank &&
                im->is_layered == x->is_layered && im->is_cube == x->is_cube)) {
        return im;
    }
    struct finding_place place = image_place(at, im, 0);
    finding_add(&place, FINDING_LAUNCH_ERROR,
                "The object is a %uD%s %s of %s, but the instruction needs a %uD%s %s",
                im->rank, cubes[im->is_cube], words[im->is_surface][im->is_layered],
                im->in->name, x->rank, cubes[x->is_cube], words[surface][x->is_layered]);
    run_fault(at->warp->processor->run);
    return NULL;
}

void image_check_written(const struct image_lane *at, const struct image *im,
                         uint64_t offset, unsigned bytes) {
    const uint8_t *shadow = im->in->shadow;
    if (!shadow || !at->warp->processor->run->check_initialized) {
        return;
    }
    for (uint64_t k = offset; k < offset + bytes; k++) {
        if (!(shadow[k >> 2] >> (k & 3) & 1)) {
            struct finding_place place = image_place(at, im, offset);
            finding_add(&place, FINDING_UNINITIALIZED,
                        "Uninitialized %s read of %u bytes: offset %llu of %s was never "
                        "written",
                        im->is_surface ? "surface" : "texture", bytes,
                        (unsigned long long)offset, im->in->name);
            return;
        }
    }
}

/* ---- lowering ---- */

bool image_geometry(const struct ptx_instruction *i, struct image_access *ret) {
    ret->is_cube = ptx_has(i, PTX_M_CUBE) || ptx_has(i, PTX_M_ACUBE);
    ret->is_layered =
        ptx_has(i, PTX_M_A1D) || ptx_has(i, PTX_M_A2D) || ptx_has(i, PTX_M_ACUBE);
    ret->rank = ptx_has(i, PTX_M_D1D) || ptx_has(i, PTX_M_A1D)                   ? 1
                : ptx_has(i, PTX_M_D2D) || ptx_has(i, PTX_M_A2D) || ret->is_cube ? 2
                : ptx_has(i, PTX_M_D3D)                                          ? 3
                                                                                 : 0;
    return ret->rank > 0;
}

bool image_lower_address(struct lowering *l, const struct ptx_instruction *i,
                         const struct ptx_operand *o, struct image_access *x,
                         uint32_t *ret_handle) {
    unsigned wanted = x->rank + x->is_cube + x->is_layered;
    if (o->kind != PTX_OPERAND_ADDRESS || o->base != PTX_BASE_REGISTER ||
        o->offset != 0 || o->count < wanted) {
        return false;
    }
    struct ptx_operand handle = {.kind = PTX_OPERAND_REGISTER, .index = o->index};
    *ret_handle = lower_source(l, i, &handle, 8, PTX_U64);
    for (unsigned k = 0; k < wanted; k++) {
        x->coordinates[k] = lower_source(l, i, lower_element(l, o, k), 4, PTX_B32);
    }
    return !l->failed;
}
