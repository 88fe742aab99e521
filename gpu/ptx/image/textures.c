/* textures: tex, tld4 and txq on texture objects.
 *
 * Formulas: NVIDIA, CUDA C++ Programming Guide, "Texture Fetching". The weights of linear
 * filtering have 8 bits of fraction, as there; that they are rounded to the nearest, and
 * that sums are rounded once, is ours. Mipmaps there are none: a level or gradients
 * change nothing. A cube is filtered within the face, by the address modes, or where
 * it is seamless with the texels behind the edge; the texel that a corner lacks is the
 * mean of the three around it (OpenGL 4.6, 8.14: so it recommends, and leaves it open).
 */
#include "gpu/ptx/alu/half_bits.h"
#include "gpu/ptx/image/cube_map.h"
#include "gpu/ptx/image/image_access.h"

#include <math.h>

struct texel {
    double channel[4];
};

/* ---- one texel ---- */

static double channel_value(const struct image *im, const uint8_t *at) {
    uint32_t bits = 0;
    memcpy(&bits, at, im->bytes / im->channels);
    float f;
    switch (im->type) {
    case PTX_F32:
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    case PTX_F16:
        return (double)half_to_float((uint16_t)bits);
    case PTX_U8:
        return im->reads_floats ? bits / 255.0 : bits;
    case PTX_U16:
        return im->reads_floats ? bits / 65535.0 : bits;
    case PTX_S8:
        return im->reads_floats ? fmax((int8_t)bits / 127.0, -1) : (int8_t)bits;
    case PTX_S16:
        return im->reads_floats ? fmax((int16_t)bits / 32767.0, -1) : (int16_t)bits;
    case PTX_S32:
        return (int32_t)bits;
    default:
        return bits;
    }
}

/* Missing channels read as 0, a fourth as 1. */
static struct texel texel_read(const struct image_lane *at, const struct image *im,
                               uint64_t offset) {
    struct texel t = {{0, 0, 0, 1}};
    const uint8_t *bytes = im->in->host + offset;
    image_check_written(at, im, offset, im->bytes);
    for (unsigned c = 0; c < im->channels; c++) {
        t.channel[c] = channel_value(im, bytes + (size_t)c * im->bytes / im->channels);
    }
    return t;
}

/* ---- coordinates ---- */

struct axis {
    int64_t first; /* texel; the next one has the weight */
    double weight; /* 0 to 1, a multiple of 1/256 */
};

static struct axis axis_of(const struct image *im, unsigned d, double x, bool filters) {
    double n = im->extent[d];
    if (x != x) {
        x = 0;
    }
    x = fmin(fmax(x, -0x1p40), 0x1p40);
    if (im->is_normalized) {
        double whole = floor(x);
        if (im->address[d] == IMAGE_WRAP) {
            x -= whole;
        } else if (im->address[d] == IMAGE_MIRROR) {
            x = fmod(whole, 2) == 0 ? x - whole : 1 - (x - whole);
        }
        x *= n;
    }
    x = filters ? x - 0.5 : x;
    struct axis a = {.first = (int64_t)floor(x)};
    a.weight = filters ? rint((x - floor(x)) * 256) / 256 : 0;
    return a;
}

/* -1: outside, a border. */
static int64_t address_apply(const struct image *im, unsigned d, int64_t i) {
    int64_t n = im->extent[d];
    if (i >= 0 && i < n) {
        return i;
    }
    if (im->is_linear || im->address[d] == IMAGE_BORDER) {
        return -1;
    }
    if (im->address[d] == IMAGE_WRAP) {
        return (i % n + n) % n;
    }
    return i < 0 ? 0 : n - 1; /* what is mirrored lies inside, but for half a texel */
}

/* The texel at whole places, by the address modes. */
static struct texel texel_at(const struct image_lane *at, const struct image *im,
                             uint32_t layer, const int64_t place[3]) {
    int64_t inside[3];
    for (unsigned d = 0; d < 3; d++) {
        inside[d] = d < im->rank ? address_apply(im, d, place[d]) : 0;
        if (inside[d] < 0) {
            return (struct texel){{0, 0, 0, 0}};
        }
    }
    return texel_read(at, im,
                      image_offset(im, layer, (uint64_t)inside[2], (uint64_t)inside[1],
                                   (uint64_t)inside[0]));
}

/* layer: the cube's first; texel: may be outside by one. */
static struct texel texel_of_cube(const struct image_lane *at, const struct image *im,
                                  uint32_t layer, struct cube_texel texel) {
    texel = cube_fold(texel, im->extent[0]);
    const int64_t place[3] = {texel.x, texel.y, 0};
    return texel_at(at, im, layer + texel.face, place);
}

static struct texel texel_seamless(const struct image_lane *at, const struct image *im,
                                   uint32_t layer, struct cube_texel texel) {
    int64_t last = im->extent[0] - 1, x = texel.x, y = texel.y;
    struct cube_texel around[3] = {texel, texel, texel};
    if ((x >= 0 && x <= last) || (y >= 0 && y <= last)) {
        return texel_of_cube(at, im, layer, texel);
    }
    struct texel mean = {{0, 0, 0, 0}};
    around[0].x = around[1].x = x < 0 ? 0 : last;
    around[0].y = around[2].y = y < 0 ? 0 : last;
    for (unsigned k = 0; k < 3; k++) {
        struct texel one = texel_of_cube(at, im, layer, around[k]);
        for (unsigned c = 0; c < 4; c++) {
            mean.channel[c] += one.channel[c] / 3;
        }
    }
    return mean;
}

/* layer: the face's, or the first of the cube whose filter knows no edges. */
static struct texel texel_by_kind(const struct image_lane *at, const struct image *im,
                                  uint32_t layer, unsigned face, const int64_t place[3]) {
    if (!im->is_seamless) {
        return texel_at(at, im, layer + face, place);
    }
    struct cube_texel texel = {face, place[0], place[1]};
    return texel_seamless(at, im, layer, texel);
}

static struct texel sample(const struct image_lane *at, const struct image *im,
                           uint32_t layer, unsigned face, const struct axis axes[3]) {
    struct texel sum = {{0, 0, 0, 0}};
    for (unsigned corner = 0; corner < 1u << im->rank; corner++) {
        double weight = 1;
        int64_t place[3] = {0, 0, 0};
        for (unsigned d = 0; d < im->rank; d++) {
            bool next = corner >> d & 1;
            place[d] = axes[d].first + next;
            weight *= next ? axes[d].weight : 1 - axes[d].weight;
        }
        if (weight == 0) {
            continue;
        }
        struct texel one = texel_by_kind(at, im, layer, face, place);
        for (unsigned c = 0; c < 4; c++) {
            sum.channel[c] += weight == 1 ? one.channel[c] : weight * one.channel[c];
        }
    }
    return sum;
}

/* ---- the instruction ---- */

static uint32_t result_bits(const struct image *im, enum ptx_type, double v) {
    bool floats = im->reads_floats || ptx_type_float((enum ptx_type)im->type);
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (floats) {
        return bits;
    }
    return (uint32_t)(int64_t)v;
}

static void put(const struct image_lane *at, const struct image *im,
                const double values[4]) {
    const struct image_access *x = at->access;
    for (unsigned k = 0; k < x->count; k++) {
        if (x->registers[k] != STEP_NO_REGISTER) {
            LANES(uint32_t, at->warp, x->registers[k])
            [at->lane] = im ? result_bits(im, (enum ptx_type)x->type, values[k]) : 0;
        }
    }
}

/* The instruction's texel type differs from the image's. */
static void tell_mixed(const struct image_lane *at, const struct image *im) {
    bool floats = im->reads_floats || ptx_type_float((enum ptx_type)im->type);
    if (floats == ptx_type_float((enum ptx_type)at->access->type)) {
        return;
    }
    struct finding_place place = image_place(at, im, 0);
    place.warning = true;
    finding_add(&place, FINDING_LAUNCH_ERROR,
                "The texture of %s gives %s, the instruction takes %s: the bits go over "
                "as they are",
                im->in->name, floats ? "floats" : "integers",
                floats ? "integers" : "floats");
}

static double coordinate(const struct image_lane *at, unsigned k) {
    const struct image_access *x = at->access;
    uint32_t bits =
        LANES(const uint32_t, at->warp, x->coordinates[x->is_layered + k])[at->lane];
    float f;
    memcpy(&f, &bits, sizeof f);
    return x->whole ? (double)(int32_t)bits : (double)f;
}

/* Of cubes the first of the one that is asked for. */
static uint32_t layer_of(const struct image_lane *at, const struct image *im) {
    const struct image_access *x = at->access;
    if (!x->is_layered) {
        return 0;
    }
    uint32_t of_one = im->is_cube ? CUBE_FACES : 1, count = im->layers / of_one;
    int32_t layer = LANES(const int32_t, at->warp, x->coordinates[0])[at->lane];
    return (layer < 0                  ? 0
            : (uint32_t)layer >= count ? count - 1
                                       : (uint32_t)layer) *
           of_one;
}

static void fetch_cube(const struct image_lane *at, const struct image *im) {
    const double direction[3] = {coordinate(at, 0), coordinate(at, 1), coordinate(at, 2)};
    struct cube_place place = cube_place(direction);
    const struct axis axes[3] = {axis_of(im, 0, place.s, im->filters),
                                 axis_of(im, 1, place.t, im->filters)};
    struct texel t = sample(at, im, layer_of(at, im), place.face, axes);
    put(at, im, t.channel);
}

static void fetch(const struct image_lane *at, const struct image *im) {
    struct axis axes[3] = {{0, 0}};
    bool filters = im->filters && !at->access->whole;
    for (unsigned d = 0; d < im->rank; d++) {
        if (at->access->whole) {
            axes[d] = (struct axis){.first = (int64_t)coordinate(at, d)};
        } else {
            axes[d] = axis_of(im, d, coordinate(at, d), filters);
        }
    }
    struct texel t = sample(at, im, layer_of(at, im), 0, axes);
    put(at, im, t.channel);
}

/* One channel of the four texels that linear filtering would take, from (0, 1) round to
 * (0, 0) against the clock. */
static void gather(const struct image_lane *at, const struct image *im) {
    static const uint8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    double values[4];
    int64_t first[3] = {0, 0, 0};
    for (unsigned d = 0; d < 2; d++) {
        first[d] = axis_of(im, d, coordinate(at, d), true).first;
    }
    for (unsigned k = 0; k < 4; k++) {
        const int64_t place[3] = {first[0] + corners[k][0], first[1] + corners[k][1], 0};
        values[k] =
            texel_at(at, im, layer_of(at, im), place).channel[at->access->component];
    }
    put(at, im, values);
}

static void step_texture(struct warp *w, const struct step *s, uint32_t mask) {
    const struct image_access *x = &w->processor->run->program->images[s->extra];
    bits_each(lane, mask) {
        struct image_lane at = {w, s, x, lane};
        const struct image *im = image_of(&at, false);
        if (!im) {
            static const double nothing[4];
            put(&at, NULL, nothing);
            continue;
        }
        tell_mixed(&at, im);
        (x->gathers ? gather : x->is_cube ? fetch_cube : fetch)(&at, im);
    }
    if (s->dst2 != STEP_NO_REGISTER) { /* all memory is resident */
        *LANES(uint32_t, w, s->dst2) |= mask;
    }
}

static void step_query(struct warp *w, const struct step *s, uint32_t mask) {
    const struct image_access *x = &w->processor->run->program->images[s->extra];
    bits_each(lane, mask) {
        struct image_lane at = {w, s, x, lane};
        const struct image *im = image_any(&at);
        uint32_t value = 0;
        if (im) {
            value = x->query == IMAGE_QUERY_LAYERS ? im->layers
                    : x->query < im->rank          ? im->extent[x->query]
                                                   : 0;
        }
        LANES(uint32_t, w, s->dst)[at.lane] = value;
    }
}

/* ---- lowering ---- */

static int gather_component(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_R)   ? 0
           : ptx_has(i, PTX_M_G) ? 1
           : ptx_has(i, PTX_M_B) ? 2
           : ptx_has(i, PTX_M_A) ? 3
                                 : -1;
}

/* Offsets and depths to compare with are additional operands; a level and gradients
 * too. */
static bool has_known_operands(const struct ptx_instruction *i, unsigned first) {
    unsigned behind = i->operand_count - first - 1u;
    return behind == (ptx_has(i, PTX_M_GRAD) ? 2u : ptx_has(i, PTX_M_LEVEL));
}

static enum lower_answer lower_fetch(struct lowering *l,
                                     const struct ptx_instruction *i) {
    unsigned first = i->has_pair ? 2 : 1;
    struct image_access x = {.type = i->types[0],
                             .count = i->vector,
                             .gathers = i->opcode == PTX_OP_TLD4,
                             .whole = i->types[1] == PTX_S32};
    const struct ptx_operand *d = lower_operand(l, i, 0);
    bool typed = x.type == PTX_F32 || x.type == PTX_U32 || x.type == PTX_S32;
    int component = x.gathers ? gather_component(i) : 0;
    if (i->has_sampler || i->type_count != 2 || !typed || x.count != 4 || component < 0 ||
        d->kind != PTX_OPERAND_VECTOR || i->operand_count <= first ||
        (i->types[1] != PTX_F32 && !x.whole) || !has_known_operands(i, first) ||
        !image_geometry(i, &x) || (x.gathers && (x.rank != 2 || x.whole || x.is_cube)) ||
        (x.is_cube && x.whole)) {
        return LOWER_REFUSED;
    }
    x.component = (uint8_t)component;
    uint32_t handle;
    if (!image_lower_address(l, i, lower_operand(l, i, first), &x, &handle)) {
        return LOWER_REFUSED;
    }
    for (unsigned k = 0; k < x.count; k++) {
        const struct ptx_operand *e = lower_element(l, d, k);
        x.registers[k] =
            e->kind == PTX_OPERAND_SINK ? STEP_NO_REGISTER : lower_result(l, e, 4, false);
    }
    uint32_t resident = i->has_pair ? lower_result(l, lower_operand(l, i, 1), 0, false)
                                    : STEP_NO_REGISTER;
    uint32_t extra = lower_add_image(l, &x);
    struct step *s = lower_step(l, i, step_texture, true);
    s->src[0] = handle;
    s->extra = extra;
    s->dst2 = resident;
    return LOWER_DONE;
}

static enum lower_answer lower_query(struct lowering *l,
                                     const struct ptx_instruction *i) {
    struct image_access x = {.query = ptx_has(i, PTX_M_WIDTH)        ? IMAGE_QUERY_WIDTH
                                      : ptx_has(i, PTX_M_HEIGHT)     ? IMAGE_QUERY_HEIGHT
                                      : ptx_has(i, PTX_M_DEPTH)      ? IMAGE_QUERY_DEPTH
                                      : ptx_has(i, PTX_M_ARRAY_SIZE) ? IMAGE_QUERY_LAYERS
                                                                     : UINT8_MAX};
    uint32_t handle;
    if (x.query == UINT8_MAX || i->operand_count != 2 ||
        !image_lower_address(l, i, lower_operand(l, i, 1), &x, &handle)) {
        return LOWER_REFUSED;
    }
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 4, false);
    uint32_t extra = lower_add_image(l, &x);
    struct step *s = lower_step(l, i, step_query, true);
    s->src[0] = handle;
    s->dst = to;
    s->extra = extra;
    return LOWER_DONE;
}

enum lower_answer lower_texture(struct lowering *l, const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        return lower_fetch(l, i);
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        return lower_query(l, i);
    case PTX_OP_SULD:
    case PTX_OP_SUST:
    case PTX_OP_SURED:
        return lower_surface(l, i);
    default:
        return LOWER_NOT_MINE;
    }
}
