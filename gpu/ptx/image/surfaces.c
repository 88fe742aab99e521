/* surfaces: suld.b, sust.b and sured.b on surface objects: bytes, x counted in bytes. */
#include "gpu/ptx/image/image_access.h"

enum reduction { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR };

/* ---- where ---- */

/* "(4096, 3), layer 2", with what such an access has. */
static void place_words(const struct image_access *x, const int64_t place[4],
                        char ret[128]) {
    int n = snprintf(ret, 128, "(%lld", (long long)place[0]);
    for (unsigned d = 1; d < x->rank; d++) {
        n += snprintf(ret + n, 128 - (size_t)n, ", %lld", (long long)place[d]);
    }
    n += snprintf(ret + n, 128 - (size_t)n, ")");
    if (x->is_layered) {
        snprintf(ret + n, 128 - (size_t)n, ", layer %lld", (long long)place[3]);
    }
}

/* "4096 bytes, 64 of them in 8 slices of 2 layers", with what it has of these. */
static void extent_words(const struct image *im, char ret[128]) {
    int n =
        snprintf(ret, 128, "%llu bytes", (unsigned long long)im->extent[0] * im->bytes);
    if (im->rank > 1) {
        n += snprintf(ret + n, 128 - (size_t)n, ", %u of them", im->extent[1]);
    }
    if (im->rank > 2) {
        n += snprintf(ret + n, 128 - (size_t)n, " in %u slices", im->extent[2]);
    }
    if (im->layers) {
        snprintf(ret + n, 128 - (size_t)n, " in %u layers", im->layers);
    }
}

static void tell_outside(const struct image_lane *at, const struct image *im,
                         const int64_t place[4], unsigned bytes) {
    struct finding_place where = image_place(at, im, 0);
    char asked[128], there[128];
    place_words(at->access, place, asked);
    extent_words(im, there);
    finding_add(
        &where, FINDING_OUT_OF_BOUNDS,
        "Invalid surface %s of %u bytes: %s of a surface of %s, whose rows have %s",
        at->access->operation == IMAGE_LOAD ? "read" : "write", bytes, asked,
        im->in->name, there);
    run_fault(at->warp->processor->run);
}

static void read_place(const struct image_lane *at, int64_t ret[4]) {
    const struct image_access *x = at->access;
    for (unsigned d = 0; d < 4; d++) {
        ret[d] = 0;
    }
    for (unsigned k = 0; k < (unsigned)x->rank + x->is_layered; k++) {
        unsigned to = x->is_layered ? (k ? k - 1 : 3) : k;
        ret[to] = LANES(const int32_t, at->warp, x->coordinates[k])[at->lane];
    }
}

/* Offset in the image's bytes; UINT64_MAX: left out, a finding made where that is wrong.
 */
static uint64_t place_of(const struct image_lane *at, const struct image *im,
                         unsigned bytes) {
    int64_t place[4],
        last[4] = {(int64_t)im->extent[0] * im->bytes - bytes, im->extent[1] - 1,
                   im->extent[2] - 1, im->layers ? im->layers - 1 : 0};
    read_place(at, place);
    if (place[0] % bytes) {
        struct finding_place where = image_place(at, im, 0);
        finding_add(
            &where, FINDING_MISALIGNED,
            "x of a surface access of %u bytes is %lld: it counts bytes, and is not a "
            "multiple of %u",
            bytes, (long long)place[0], bytes);
        run_fault(at->warp->processor->run);
        return UINT64_MAX;
    }
    for (unsigned d = 0; d < 4; d++) {
        if (place[d] >= 0 && place[d] <= last[d]) {
            continue;
        }
        if (at->access->outside != IMAGE_CLAMP_OUTSIDE || last[d] < 0) {
            if (at->access->outside == IMAGE_TRAP_OUTSIDE) {
                tell_outside(at, im, place, bytes);
            }
            return UINT64_MAX;
        }
        place[d] = place[d] < 0 ? 0 : last[d] - (d == 0 ? last[0] % bytes : 0);
    }
    return image_offset(im, (uint64_t)place[3], (uint64_t)place[2], (uint64_t)place[1],
                        0) +
           (uint64_t)place[0];
}

/* ---- bytes ---- */

static void mark_written(const struct image_lane *at, const struct image *im,
                         uint64_t offset, unsigned bytes) {
    if (!im->in->writable) {
        struct finding_place where = image_place(at, im, offset);
        finding_add(&where, FINDING_INPUT_MODIFIED, "Write of %u bytes to the input %s",
                    bytes, im->in->name);
    }
    for (uint64_t k = offset; im->in->shadow && k < offset + bytes; k++) {
        __atomic_fetch_or(&im->in->shadow[k >> 2], (uint8_t)(0x11u << (k & 3)),
                          __ATOMIC_RELAXED);
    }
    at->warp->block->changes++;
}

/* Between registers and memory; NULL: the registers become 0. */
static void move(const struct image_lane *at, uint8_t *memory) {
    const struct image_access *x = at->access;
    for (unsigned k = 0; k < x->count; k++) {
        if (x->registers[k] == STEP_NO_REGISTER) {
            continue;
        }
        uint8_t *reg =
            LANES(uint8_t, at->warp, x->registers[k]) + (size_t)at->lane * x->bytes;
        uint8_t *there = memory ? memory + (size_t)k * x->bytes : NULL;
        if (!there) {
            memset(reg, 0, x->bytes);
        } else if (x->operation == IMAGE_STORE) {
            memcpy(there, reg, x->bytes);
        } else {
            memcpy(reg, there, x->bytes);
        }
    }
}

/* ---- sured ---- */

static uint64_t reduce(const struct image_access *x, uint64_t old, uint64_t value) {
    bool wide = x->bytes == 8;
    int64_t a = wide ? (int64_t)old : (int32_t)old;
    int64_t b = wide ? (int64_t)value : (int32_t)value;
    bool less = ptx_type_signed((enum ptx_type)x->type) ? b < a : value < old;
    switch ((enum reduction)x->reduction) {
    case REDUCE_ADD:
        return old + value;
    case REDUCE_MIN:
        return less ? value : old;
    case REDUCE_MAX:
        return less || value == old ? old : value;
    case REDUCE_AND:
        return old & value;
    default:
        return old | value;
    }
}

/* Rows of narrow texels begin anywhere: a lock, where the host's atomics need alignment.
 */
static pthread_mutex_t reduce_lock = PTHREAD_MUTEX_INITIALIZER;

static void reduce_at(const struct image_lane *at, uint8_t *memory) {
    const struct image_access *x = at->access;
    uint64_t old = 0, value = 0;
    memcpy(&value,
           LANES(uint8_t, at->warp, x->registers[0]) + (size_t)at->lane * x->bytes,
           x->bytes);
    pthread_mutex_lock(&reduce_lock);
    memcpy(&old, memory, x->bytes);
    old = reduce(x, old, value);
    memcpy(memory, &old, x->bytes);
    pthread_mutex_unlock(&reduce_lock);
}

/* ---- the step ---- */

static void lane_surface(const struct image_lane *at) {
    const struct image_access *x = at->access;
    unsigned bytes = (unsigned)x->bytes * x->count;
    const struct image *im = image_of(at, true);
    uint64_t offset = im ? place_of(at, im, bytes) : UINT64_MAX;
    if (offset == UINT64_MAX) {
        if (x->operation == IMAGE_LOAD) {
            move(at, NULL);
        }
        return;
    }
    if (x->operation != IMAGE_STORE) {
        image_check_written(at, im, offset, bytes);
    }
    if (x->operation != IMAGE_LOAD) {
        mark_written(at, im, offset, bytes);
    }
    if (x->operation == IMAGE_REDUCE) {
        reduce_at(at, im->in->host + offset);
    } else {
        move(at, im->in->host + offset);
    }
}

static void step_surface(struct warp *w, const struct step *s, uint32_t mask) {
    const struct image_access *x = &w->processor->run->program->images[s->extra];
    bits_each(lane, mask) {
        lane_surface(&(struct image_lane){w, s, x, lane});
    }
}

/* ---- lowering ---- */

static bool surface_mode(const struct ptx_instruction *i, struct image_access *x) {
    x->outside = ptx_has(i, PTX_M_TRAP)    ? IMAGE_TRAP_OUTSIDE
                 : ptx_has(i, PTX_M_CLAMP) ? IMAGE_CLAMP_OUTSIDE
                                           : IMAGE_ZERO_OUTSIDE;
    return x->outside != IMAGE_ZERO_OUTSIDE || ptx_has(i, PTX_M_ZERO);
}

static int reduction_of(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_ADD)   ? REDUCE_ADD
           : ptx_has(i, PTX_M_MIN) ? REDUCE_MIN
           : ptx_has(i, PTX_M_MAX) ? REDUCE_MAX
           : ptx_has(i, PTX_M_AND) ? REDUCE_AND
           : ptx_has(i, PTX_M_OR)  ? REDUCE_OR
                                   : -1;
}

static bool surface_init(const struct ptx_instruction *i, struct image_access *x) {
    bool reduces = i->opcode == PTX_OP_SURED;
    x->type = i->type_count ? i->types[0] : PTX_NONE;
    x->bytes = (uint8_t)ptx_type_bytes((enum ptx_type)x->type);
    x->count = i->vector;
    x->operation = i->opcode == PTX_OP_SULD   ? IMAGE_LOAD
                   : i->opcode == PTX_OP_SUST ? IMAGE_STORE
                                              : IMAGE_REDUCE;
    int reduction = reduction_of(i);
    x->reduction = (uint8_t)(reduction < 0 ? 0 : reduction);
    unsigned bytes = (unsigned)x->bytes * x->count;
    bool sized = reduces ? (x->bytes == 4 || x->bytes == 8) && reduction >= 0
                         : x->bytes > 0 && x->bytes <= 8 && bytes <= 16 && x->count <= 4;
    return sized && i->operand_count == 2 && ptx_has(i, PTX_M_B) && surface_mode(i, x) &&
           image_geometry(i, x);
}

enum lower_answer lower_surface(struct lowering *l, const struct ptx_instruction *i) {
    struct image_access x = {0};
    bool load = i->opcode == PTX_OP_SULD;
    uint32_t handle;
    if (!surface_init(i, &x) ||
        !image_lower_address(l, i, lower_operand(l, i, load ? 1 : 0), &x, &handle)) {
        return LOWER_REFUSED;
    }
    const struct ptx_operand *o = lower_operand(l, i, load ? 0 : 1);
    for (unsigned k = 0; k < x.count; k++) {
        const struct ptx_operand *e =
            o->kind == PTX_OPERAND_VECTOR ? lower_element(l, o, k) : o;
        x.registers[k] = !load ? lower_source(l, i, e, x.bytes, (enum ptx_type)x.type)
                         : e->kind == PTX_OPERAND_SINK
                             ? STEP_NO_REGISTER
                             : lower_result(l, e, x.bytes, false);
    }
    uint32_t extra = lower_add_image(l, &x);
    struct step *s = lower_step(l, i, step_surface, true);
    s->src[0] = handle;
    s->extra = extra;
    return LOWER_DONE;
}
