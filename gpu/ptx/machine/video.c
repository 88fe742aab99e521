/* video: vadd … vset4: arithmetic on chosen bytes and halves of words, one part or all of
 * them at once. CUDA's SIMD intrinsics (__vabsdiffu4, __vsadu4 …) are compiled to some,
 * OpenCV and others write them. PTX ISA 9.0, "Video Instructions"; where that leaves open
 * how wide a result is between its steps (vshl that saturates or is compared), it is
 * refused. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/machine/families.h"

enum video_operation {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVRG,
    VIDEO_SET,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD
};
enum video_second { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX };
enum video_compare {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE
};

struct video { /* in step->aux */
    uint32_t operation : 4, parts : 3, second : 2, compare : 3, shift : 4;
    uint32_t d_signed : 1, a_signed : 1, b_signed : 1, saturates : 1;
    uint32_t wraps : 1, minus_product : 1, minus_c : 1, plus_one : 1;
};
/* In step->extra. Of several parts, three bits each: which of the parts of a and b, those
 * of b behind those of a; d: a bit for each that is written. Of one part: part_bits. */
struct video_choice {
    uint32_t a : 12, b : 12, d : 4;
};

_Static_assert(sizeof(struct video) <= sizeof(uint32_t), "");
_Static_assert(sizeof(struct video_choice) <= sizeof(uint32_t), "");

/* ---- values ---- */

static int64_t extend(uint32_t value, unsigned bits, bool is_signed) {
    uint64_t mask = (UINT64_C(1) << bits) - 1, v = value & mask;
    return (int64_t)(is_signed && v >> (bits - 1) ? v | ~mask : v);
}

/* One part of a word: 0 all of it, 1 and 2 its halves, 3 to 6 its bytes. */
static unsigned part_bits(unsigned choice) {
    return choice == 0 ? 32 : choice < 3 ? 16 : 8;
}
static unsigned part_shift(unsigned choice) {
    return choice == 0 ? 0 : choice < 3 ? 16 * (choice - 1) : 8 * (choice - 3);
}

static bool compare(enum video_compare how, int64_t a, int64_t b) {
    switch (how) {
    case COMPARE_EQ:
        return a == b;
    case COMPARE_NE:
        return a != b;
    case COMPARE_LT:
        return a < b;
    case COMPARE_LE:
        return a <= b;
    case COMPARE_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* Shifts by up to 32: of a left one the low 32 bits are right. */
static int64_t shifted(const struct video *v, int64_t a, int64_t b) {
    unsigned by = v->wraps ? b & 31 : b > 32 ? 32 : (unsigned)b;
    return v->operation == VIDEO_SHL ? (int64_t)((uint64_t)a << by) : a >> by;
}

static int64_t apply(const struct video *v, int64_t a, int64_t b) {
    switch ((enum video_operation)v->operation) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_AVRG:
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_SET:
        return compare((enum video_compare)v->compare, a, b);
    default:
        return shifted(v, a, b);
    }
}

static int64_t saturate(int64_t v, unsigned bits, bool is_signed) {
    int64_t most = (INT64_C(1) << (bits - is_signed)) - 1,
            least = is_signed ? -most - 1 : 0;
    return v < least ? least : v > most ? most : v;
}

static int64_t combine(enum video_second second, int64_t value, int64_t c) {
    switch (second) {
    case SECOND_ADD:
        return value + c;
    case SECOND_MIN:
        return value < c ? value : c;
    case SECOND_MAX:
        return value > c ? value : c;
    default:
        return value;
    }
}

/* ---- words ---- */

static int64_t part_of(uint32_t a, uint32_t b, unsigned part, unsigned parts,
                       bool is_signed) {
    unsigned bits = 32 / parts;
    return extend((part < parts ? a : b) >> part % parts * bits, bits, is_signed);
}

static uint32_t video_parts(const struct video *v, const struct video_choice *x,
                            uint32_t a, uint32_t b, uint32_t c) {
    unsigned parts = v->parts, bits = 32 / parts;
    uint32_t word = c, sum = c, mask = (1u << bits) - 1;
    for (unsigned p = 0; p < parts; p++) {
        int64_t r = apply(v, part_of(a, b, x->a >> 3 * p & 7, parts, v->a_signed),
                          part_of(a, b, x->b >> 3 * p & 7, parts, v->b_signed));
        r = v->saturates ? saturate(r, bits, v->d_signed) : r;
        if (x->d >> p & 1) {
            sum += (uint32_t)r;
            word = (word & ~(mask << p * bits)) | ((uint32_t)r & mask) << p * bits;
        }
    }
    return v->second ? sum : word;
}

static uint32_t video_whole(const struct video *v, const struct video_choice *x,
                            uint32_t a, uint32_t b, uint32_t c) {
    unsigned bits = part_bits(x->d), shift = part_shift(x->d);
    int64_t r = apply(v, extend(a >> part_shift(x->a), part_bits(x->a), v->a_signed),
                      extend(b >> part_shift(x->b), part_bits(x->b), v->b_signed));
    r = v->saturates ? saturate(r, bits, v->d_signed) : r;
    r = combine((enum video_second)v->second, r, extend(c, 32, v->d_signed));
    uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1) << shift;
    return ((uint32_t)r << shift & mask) | (x->d ? c & ~mask : 0);
}

static uint32_t video_mad(const struct video *v, const struct video_choice *x, uint32_t a,
                          uint32_t b, uint32_t c) {
    bool is_signed = v->a_signed || v->b_signed || v->minus_product || v->minus_c;
    __int128 r = (__int128)extend(a >> part_shift(x->a), part_bits(x->a), v->a_signed) *
                 extend(b >> part_shift(x->b), part_bits(x->b), v->b_signed);
    r = v->minus_product ? ~r : r;
    r += extend(v->minus_c && !v->minus_product && !v->plus_one ? ~c : c, 32, is_signed);
    r += v->minus_product || v->minus_c || v->plus_one;
    r >>= v->shift;
    if (v->saturates) {
        __int128 most = (__int128)(is_signed ? INT32_MAX : UINT32_MAX),
                 least = is_signed ? -most - 1 : 0;
        r = r < least ? least : r > most ? most : r;
    }
    return (uint32_t)r;
}

static void step_video(struct warp *w, const struct step *s, uint32_t mask) {
    struct video v;
    struct video_choice x;
    memcpy(&v, &s->aux, sizeof v);
    memcpy(&x, &s->extra, sizeof x);
    const uint32_t *a = LANES(const uint32_t, w, s->src[0]);
    const uint32_t *b = LANES(const uint32_t, w, s->src[1]);
    const uint32_t *c = LANES(const uint32_t, w, s->src[2]);
    uint32_t *d = LANES(uint32_t, w, s->dst);
    bits_each(l, mask) {
        d[l] = (v.parts > 1                ? video_parts
                : v.operation == VIDEO_MAD ? video_mad
                                           : video_whole)(&v, &x, a[l], b[l], c[l]);
    }
}

/* ---- lowering ---- */

static bool video_init(const struct ptx_instruction *i, struct video *ret) {
    static const struct {
        uint16_t opcode;
        uint8_t operation, parts;
    } table[] = {
        {PTX_OP_VADD, VIDEO_ADD, 1},          {PTX_OP_VADD2, VIDEO_ADD, 2},
        {PTX_OP_VADD4, VIDEO_ADD, 4},         {PTX_OP_VSUB, VIDEO_SUB, 1},
        {PTX_OP_VSUB2, VIDEO_SUB, 2},         {PTX_OP_VSUB4, VIDEO_SUB, 4},
        {PTX_OP_VABSDIFF, VIDEO_ABSDIFF, 1},  {PTX_OP_VABSDIFF2, VIDEO_ABSDIFF, 2},
        {PTX_OP_VABSDIFF4, VIDEO_ABSDIFF, 4}, {PTX_OP_VMIN, VIDEO_MIN, 1},
        {PTX_OP_VMIN2, VIDEO_MIN, 2},         {PTX_OP_VMIN4, VIDEO_MIN, 4},
        {PTX_OP_VMAX, VIDEO_MAX, 1},          {PTX_OP_VMAX2, VIDEO_MAX, 2},
        {PTX_OP_VMAX4, VIDEO_MAX, 4},         {PTX_OP_VAVRG2, VIDEO_AVRG, 2},
        {PTX_OP_VAVRG4, VIDEO_AVRG, 4},       {PTX_OP_VSET, VIDEO_SET, 1},
        {PTX_OP_VSET2, VIDEO_SET, 2},         {PTX_OP_VSET4, VIDEO_SET, 4},
        {PTX_OP_VSHL, VIDEO_SHL, 1},          {PTX_OP_VSHR, VIDEO_SHR, 1},
        {PTX_OP_VMAD, VIDEO_MAD, 1}};
    for (size_t k = 0; k < ARRAY_LEN(table); k++) {
        if (table[k].opcode == i->opcode) {
            ret->operation = table[k].operation & 15u;
            ret->parts = table[k].parts & 7u;
            return true;
        }
    }
    return false;
}

static bool types_fit(const struct ptx_instruction *i, struct video *v) {
    unsigned count = v->operation == VIDEO_SET ? 2 : 3;
    for (unsigned k = 0; k < i->type_count; k++) {
        if (i->types[k] != PTX_U32 && i->types[k] != PTX_S32) {
            return false;
        }
    }
    if (i->type_count != count) {
        return false;
    }
    v->d_signed = count == 3 && i->types[0] == PTX_S32;
    v->a_signed = i->types[count - 2] == PTX_S32;
    v->b_signed = i->types[count - 1] == PTX_S32;
    return (v->operation != VIDEO_SHL && v->operation != VIDEO_SHR) || !v->b_signed;
}

static bool take_compare(struct alu_modifiers *m, struct video *v) {
    static const enum ptx_modifier words[] = {PTX_M_EQ, PTX_M_NE, PTX_M_LT,
                                              PTX_M_LE, PTX_M_GT, PTX_M_GE};
    for (unsigned k = 0; k < ARRAY_LEN(words); k++) {
        if (alu_take(m, words[k])) {
            v->compare = k & 7;
            return true;
        }
    }
    return false;
}

/* At most one second operation; parts are only added up. */
static bool take_second(struct alu_modifiers *m, struct video *v) {
    bool add = alu_take(m, PTX_M_ADD);
    bool min = v->parts == 1 && alu_take(m, PTX_M_MIN);
    bool max = v->parts == 1 && alu_take(m, PTX_M_MAX);
    v->second = add ? SECOND_ADD : min ? SECOND_MIN : max ? SECOND_MAX : SECOND_NONE;
    return add + min + max <= 1 && !(v->parts > 1 && v->second && v->saturates);
}

static bool take_scale(struct alu_modifiers *m, struct video *v) {
    v->plus_one = alu_take(m, PTX_M_PO);
    bool by7 = alu_take(m, PTX_M_SHR7), by15 = alu_take(m, PTX_M_SHR15);
    v->shift = by7 ? 7 : by15 ? 15 : 0;
    return !(by7 && by15);
}

static bool words_fit(const struct ptx_instruction *i, struct video *v) {
    struct alu_modifiers m = alu_modifiers_of(i);
    bool fits = true;
    v->saturates = v->operation != VIDEO_SET && alu_take(&m, PTX_M_SAT);
    if (v->operation == VIDEO_SET) {
        fits = take_compare(&m, v);
    }
    if (v->operation == VIDEO_SHL || v->operation == VIDEO_SHR) {
        v->wraps = alu_take(&m, PTX_M_WRAP);
        fits = v->wraps != alu_take(&m, PTX_M_CLAMP);
    }
    fits = fits && (v->operation == VIDEO_MAD ? take_scale(&m, v) : take_second(&m, v));
    bool open = v->operation == VIDEO_SHL && (v->saturates || v->second > SECOND_ADD);
    return fits && !open && alu_nothing_left(&m);
}

/* Which parts, by a register's selector: ptx_selector. */
static bool choice_of(const struct ptx_operand *o, const struct video *v, uint32_t preset,
                      uint32_t *ret) {
    struct ptx_selector s = ptx_selector_of(o);
    *ret = preset;
    if (s.count == 0) {
        return true;
    }
    if (v->parts > 1) {
        *ret = s.digits;
        return s.count == v->parts && s.bytes == (v->parts == 4) &&
               (v->parts == 4 || !(s.digits & 044));
    }
    *ret = s.digits + (s.bytes ? 3 : 1);
    return s.count == 1 && s.digits < (s.bytes ? 4u : 2u);
}

/* The part of d that is written; of several parts the higher ones first. */
static bool mask_of(const struct ptx_operand *o, const struct video *v, uint32_t *ret) {
    struct ptx_selector s = ptx_selector_of(o);
    if (v->parts == 1) {
        return choice_of(o, v, 0, ret) && !(v->second && *ret);
    }
    *ret = s.count ? 0 : (1u << v->parts) - 1;
    for (unsigned k = 0; k < s.count; k++) {
        unsigned digit = s.digits >> 3 * k & 7;
        if (digit >= v->parts || s.bytes != (v->parts == 4) || *ret >> digit) {
            return false;
        }
        *ret |= 1u << digit;
    }
    return true;
}

static bool is_word(const struct lowering *l, const struct ptx_operand *o, bool negated) {
    return o->kind == PTX_OPERAND_REGISTER
               ? (negated || !o->negated) && lower_register_bytes(l, o->index) == 4
               : o->kind == PTX_OPERAND_IMMEDIATE && !o->is_float;
}

static bool operands_fit(struct lowering *l, const struct ptx_instruction *i,
                         struct video *v, struct video_choice *ret) {
    static const uint32_t first[] = {[1] = 0, [2] = 010, [4] = 03210};
    static const uint32_t second[] = {[1] = 0, [2] = 032, [4] = 07654};
    bool mad = v->operation == VIDEO_MAD;
    uint32_t a, b, d;
    const struct ptx_operand *o[4] = {0};
    for (unsigned k = 0; k < i->operand_count && k < 4; k++) {
        o[k] = lower_operand(l, i, k);
        if (!is_word(l, o[k], mad && k > 0)) {
            return false;
        }
    }
    if (i->operand_count < 3 || i->operand_count > 4 || i->has_pair ||
        o[0]->kind != PTX_OPERAND_REGISTER || !mask_of(o[0], v, &d) ||
        !choice_of(o[1], v, first[v->parts], &a) ||
        !choice_of(o[2], v, second[v->parts], &b)) {
        return false;
    }
    *ret = (struct video_choice){.a = a & 0xfff, .b = b & 0xfff, .d = d & 15};
    v->minus_product = o[1]->negated != o[2]->negated;
    v->minus_c = o[3] && o[3]->negated;
    bool third = v->parts > 1 || mad || v->second || d;
    return (i->operand_count == 4) == third && (!o[3] || !ptx_selector_of(o[3]).count) &&
           !(mad && d) && !(v->minus_c + v->minus_product + v->plus_one > 1);
}

enum lower_answer lower_video(struct lowering *l, const struct ptx_instruction *i) {
    struct video v = {0};
    struct video_choice x;
    if (!video_init(i, &v)) {
        return LOWER_NOT_MINE;
    }
    if (!types_fit(i, &v) || !words_fit(i, &v) || !operands_fit(l, i, &v, &x)) {
        return LOWER_REFUSED;
    }
    uint32_t src[3];
    for (unsigned k = 0; k < 3; k++) { /* without a third one it counts for nothing */
        struct ptx_operand o = *lower_operand(l, i, k + 1 < i->operand_count ? k + 1 : 2);
        o.negated = false;
        src[k] = lower_source(l, i, &o, 4, PTX_B32);
    }
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 4, false);
    struct step *s = lower_step(l, i, step_video, true);
    memcpy(s->src, src, sizeof src);
    memcpy(&s->aux, &v, sizeof v);
    memcpy(&s->extra, &x, sizeof x);
    s->dst = to;
    return LOWER_DONE;
}
