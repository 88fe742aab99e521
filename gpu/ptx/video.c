/* video: vadd, vsub, vabsdiff, vmin and vmax on two halves or four bytes at once, as
 * CUDA's SIMD intrinsics (__vabsdiffu4, __vsadu4 …) are compiled. The others, and parts
 * chosen by selectors, are refused. PTX ISA, "Video Instructions". */
#include "gpu/ptx/alu.h"
#include "gpu/ptx/lower.h"
#include "gpu/ptx/schedule.h"

#include <string.h>

enum video_operation { VIDEO_ADD, VIDEO_SUB, VIDEO_ABSDIFF, VIDEO_MIN, VIDEO_MAX };

struct video { /* in step->aux */
    uint8_t operation, bits;
    bool d_signed : 1, a_signed : 1, b_signed : 1, saturates : 1, sums : 1;
};

_Static_assert(sizeof(struct video) <= sizeof(uint32_t), "");

static struct video video_of(const struct step *s) {
    struct video v;
    memcpy(&v, &s->aux, sizeof v);
    return v;
}

static int32_t part_of(uint32_t word, unsigned part, unsigned bits, bool is_signed) {
    uint32_t mask = (1u << bits) - 1, value = word >> (part * bits) & mask;
    bool below = is_signed && value >> (bits - 1);
    return (int32_t)(below ? value | ~mask : value);
}

static int32_t apply(enum video_operation operation, int32_t a, int32_t b) {
    switch (operation) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

static int32_t saturate(int32_t v, unsigned bits, bool is_signed) {
    int32_t most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    int32_t least = is_signed ? -most - 1 : 0;
    return v < least ? least : v > most ? most : v;
}

static uint32_t video_word(const struct video *v, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t word = 0, sum = c, mask = (1u << v->bits) - 1;
    for (unsigned part = 0; part < 32u / v->bits; part++) {
        int32_t r = apply((enum video_operation)v->operation,
                          part_of(a, part, v->bits, v->a_signed),
                          part_of(b, part, v->bits, v->b_signed));
        r = v->saturates ? saturate(r, v->bits, v->d_signed) : r;
        sum += (uint32_t)r;
        word |= ((uint32_t)r & mask) << (part * v->bits);
    }
    return v->sums ? sum : word;
}

static void step_video(struct warp *w, const struct step *s, uint32_t mask) {
    struct video v = video_of(s);
    const uint32_t *a = LANES(const uint32_t, w, s->src[0]);
    const uint32_t *b = LANES(const uint32_t, w, s->src[1]);
    const uint32_t *c = LANES(const uint32_t, w, s->src[2]);
    uint32_t *d = LANES(uint32_t, w, s->dst);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = video_word(&v, a[l], b[l], c[l]);
    }
}

/* ---- lowering ---- */

static bool video_init(const struct ptx_instruction *i, struct video *ret) {
    static const struct {
        uint16_t opcode;
        uint8_t operation, bits;
    } table[] = {
        {PTX_OP_VADD2, VIDEO_ADD, 16},         {PTX_OP_VADD4, VIDEO_ADD, 8},
        {PTX_OP_VSUB2, VIDEO_SUB, 16},         {PTX_OP_VSUB4, VIDEO_SUB, 8},
        {PTX_OP_VABSDIFF2, VIDEO_ABSDIFF, 16}, {PTX_OP_VABSDIFF4, VIDEO_ABSDIFF, 8},
        {PTX_OP_VMIN2, VIDEO_MIN, 16},         {PTX_OP_VMIN4, VIDEO_MIN, 8},
        {PTX_OP_VMAX2, VIDEO_MAX, 16},         {PTX_OP_VMAX4, VIDEO_MAX, 8}};
    for (size_t k = 0; k < ARRAY_LEN(table); k++) {
        if (table[k].opcode == i->opcode) {
            ret->operation = table[k].operation;
            ret->bits = table[k].bits;
            return true;
        }
    }
    return false;
}

static bool types_fit(const struct ptx_instruction *i) {
    for (unsigned k = 0; k < i->type_count; k++) {
        if (i->types[k] != PTX_U32 && i->types[k] != PTX_S32) {
            return false;
        }
    }
    return i->type_count == 3;
}

/* Whole words: a register without a selector, or a constant. */
static bool is_word(const struct lowering *l, const struct ptx_operand *o) {
    return o->kind == PTX_OPERAND_REGISTER
               ? !o->negated && o->first == 0 && lower_register_bytes(l, o->index) == 4
               : o->kind == PTX_OPERAND_IMMEDIATE && !o->is_float;
}

enum lower_answer lower_video(struct lowering *l, const struct ptx_instruction *i) {
    struct video v = {0};
    if (!video_init(i, &v)) {
        return LOWER_NOT_MINE;
    }
    struct alu_modifiers m = alu_modifiers_of(i);
    v.saturates = alu_take(&m, PTX_M_SAT);
    v.sums = alu_take(&m, PTX_M_ADD);
    bool fits = alu_nothing_left(&m) && types_fit(i) && i->operand_count == 4 &&
                !i->has_pair && !(v.saturates && v.sums) &&
                lower_operand(l, i, 0)->kind == PTX_OPERAND_REGISTER;
    for (unsigned k = 0; fits && k < 4; k++) {
        fits = is_word(l, lower_operand(l, i, k));
    }
    if (!fits) {
        return LOWER_REFUSED;
    }
    v.d_signed = i->types[0] == PTX_S32;
    v.a_signed = i->types[1] == PTX_S32;
    v.b_signed = i->types[2] == PTX_S32;
    uint32_t src[3];
    for (unsigned k = 0; k < 3; k++) {
        src[k] = lower_source(l, i, lower_operand(l, i, k + 1), 4, PTX_B32);
    }
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 4, false);
    struct step *s = lower_step(l, i, step_video, true);
    memcpy(s->src, src, sizeof src);
    memcpy(&s->aux, &v, sizeof v);
    s->dst = to;
    return LOWER_DONE;
}
