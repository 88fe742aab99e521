#include "gpu/ptx/emit/native.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/comparison.h"
#include "gpu/ptx/race/race.h"

/* An instruction as alu.h's rows tell it, and its code. */
struct native_row {
    struct alu_row row;
    struct native native;
};

#define CODE(kind_, vector_, bytes_, ...)                                                \
    .native = {                                                                          \
        .kind = NATIVE_##kind_, .vector = (vector_), .bytes = (bytes_), ##__VA_ARGS__}
#define FROM(...) .from = {__VA_ARGS__}
#define HALVES(op, vec, ...)                                                             \
    {ALU_ROW_OF(op, 2, F16, ##__VA_ARGS__), CODE(HALVES, vec, 2, FROM(2, 2))}, {         \
        ALU_ROW_OF(op, 2, F16X2, ##__VA_ARGS__), CODE(HALVES, vec, 4, FROM(4, 4))        \
    }
#define FLOAT .makes_nans = true, .takes_loose = true
#define ALU_ROW_OF(op, n, type, ...) .row = ALU_ROW(op, n, NULL, type, ##__VA_ARGS__)
#define ALU_ROW2_OF(op, n, to, from, ...)                                                \
    .row = ALU_ROW2(op, n, NULL, to, from, ##__VA_ARGS__)

#define PLAIN_2(op, T, vec, b, ...)                                                      \
    { ALU_ROW_OF(op, 2, T, ##__VA_ARGS__), CODE(PLAIN, vec, b, FROM(b, b)) }
#define PLAIN_INTEGER(op, bits, vec, b, ...)                                             \
    PLAIN_2(op, U##bits, vec, b, ##__VA_ARGS__),                                         \
        PLAIN_2(op, S##bits, vec, b, ##__VA_ARGS__)
#define MAD_LO(T, mul, b)                                                                \
    { ALU_ROW_OF(MAD, 3, T, PTX_M_LO), CODE(PRODUCT, mul, b, FROM(b, b, b)) }
#define WIDE(T, mul)                                                                     \
    {ALU_ROW_OF(MUL, 2, T, PTX_M_WIDE), CODE(WIDE, mul, 8, FROM(4, 4))}, {               \
        ALU_ROW_OF(MAD, 3, T, PTX_M_WIDE), CODE(WIDE, mul, 8, FROM(4, 4, 8))             \
    }
#define QUOTIENTS(T, vec)                                                                \
    {ALU_ROW_OF(DIV, 2, T), CODE(QUOTIENT, vec, 4, FROM(4, 4))}, {                       \
        ALU_ROW_OF(REM, 2, T), CODE(QUOTIENT, vec, 4, FROM(4, 4), .how = 1)              \
    }
#define SHIFTS(op, T, narrow, wide)                                                      \
    {ALU_ROW_OF(op, 2, T##32), CODE(PLAIN, narrow, 4, FROM(4, 4))}, {                    \
        ALU_ROW_OF(op, 2, T##64), CODE(SHIFT_WIDE, wide, 8, FROM(8, 4))                  \
    }
#define MOVES(T, b)                                                                      \
    {ALU_ROW_OF(MOV, 1, T), CODE(MOVE, 0, b, FROM(b))}, {                                \
        ALU_ROW_OF(SELP, 3, T), CODE(SELECT, 0, b, FROM(b, b))                           \
    }
#define SIGN(op, T, vec, b, bits, ...)                                                   \
    { ALU_ROW_OF(op, 1, T, ##__VA_ARGS__), CODE(SIGN, vec, b, FROM(b), .mask = (bits)) }
#define CONVERT(to, from_, code)                                                         \
    { ALU_ROW2_OF(CVT, 1, to, from_), code }
#define LOGIC(op, vec)                                                                   \
    PLAIN_2(op, B16, vec, 2), PLAIN_2(op, B32, vec, 4), PLAIN_2(op, B64, vec, 8)
#define EXTREME(op, how_)                                                                \
    {ALU_ROW_OF(op, 2, F32),                                                             \
     CODE(EXTREME, VRANGEPS, 4, FROM(4, 4), FLOAT, .how = how_)},                        \
        {ALU_ROW_OF(op, 2, F32, PTX_M_FTZ),                                              \
         CODE(EXTREME, VRANGEPS, 4, FROM(4, 4), FLOAT, .how = how_,                      \
              .flush = FLUSH_SOURCES)},                                                  \
    {                                                                                    \
        ALU_ROW_OF(op, 2, F64),                                                          \
            CODE(EXTREME, VRANGEPD, 8, FROM(8, 8), .how = how_, .settles = true)         \
    }
#define SIGNS(op, vec, bits)                                                             \
    SIGN(op, F32, vec##D, 4, (bits) >> 32), SIGN(op, F64, vec##Q, 8, bits), {            \
        ALU_ROW_OF(op, 1, F32, PTX_M_FTZ),                                               \
            CODE(SIGN, vec##D, 4, FROM(4), .mask = (bits) >> 32, .flush = FLUSH_SOURCES) \
    }
#define FUNNEL(how_, ...)                                                                \
    {                                                                                    \
        ALU_ROW_OF(SHF, 3, B32, __VA_ARGS__),                                            \
            CODE(FUNNEL, 0, 4, FROM(4, 4, 4), .how = how_)                               \
    }
#define PREDICATE(op, n, how_)                                                           \
    { ALU_ROW_OF(op, n, PRED), CODE(PREDICATE, 0, 0, .how = PREDICATE_##how_) }

static const struct native_row rows[] = {
    HALVES(ADD, VADDPS),
    HALVES(SUB, VSUBPS),
    HALVES(MUL, VMULPS),
    HALVES(ADD, VADDPS, PTX_M_RN),
    HALVES(SUB, VSUBPS, PTX_M_RN),
    HALVES(MUL, VMULPS, PTX_M_RN),
    EXTREME(MIN, 4),
    EXTREME(MAX, 5),
    SIGNS(NEG, VPXOR, UINT64_C(0x8000000000000000)),
    SIGNS(ABS, VPAND, UINT64_C(0x7fffffffffffffff)),
    SIGN(NOT, B16, VPXORD, 2, UINT32_MAX),
    SIGN(NOT, B32, VPXORD, 4, UINT32_MAX),
    SIGN(NOT, B64, VPXORD, 8, UINT32_MAX),
    {ALU_ROW_OF(NEG, 1, S32), CODE(NEGATE, VPSUBD, 4, FROM(4))},
    {ALU_ROW_OF(NEG, 1, S64), CODE(NEGATE, VPSUBQ, 8, FROM(8))},
    {ALU_ROW_OF(ABS, 1, S32), CODE(PLAIN, VPABSD, 4, FROM(4))},
    {ALU_ROW_OF(ABS, 1, S64), CODE(PLAIN, VPABSQ, 8, FROM(8))},
    {ALU_ROW_OF(CLZ, 1, B32), CODE(PLAIN, VPLZCNTD, 4, FROM(4))},
    PLAIN_INTEGER(ADD, 16, VPADDW, 2),
    PLAIN_INTEGER(SUB, 16, VPSUBW, 2),
    PLAIN_INTEGER(MUL, 16, VPMULLW, 2, PTX_M_LO),
    PLAIN_INTEGER(ADD, 32, VPADDD, 4),
    PLAIN_INTEGER(ADD, 64, VPADDQ, 8),
    PLAIN_INTEGER(SUB, 32, VPSUBD, 4),
    PLAIN_INTEGER(SUB, 64, VPSUBQ, 8),
    PLAIN_INTEGER(MUL, 32, VPMULLD, 4, PTX_M_LO),
    PLAIN_INTEGER(MUL, 64, VPMULLQ, 8, PTX_M_LO),
    MAD_LO(U32, VPMULLD, 4),
    MAD_LO(S32, VPMULLD, 4),
    MAD_LO(U64, VPMULLQ, 8),
    MAD_LO(S64, VPMULLQ, 8),
    WIDE(U32, VPMULUDQ),
    WIDE(S32, VPMULDQ),
    {ALU_ROW_OF(MUL, 2, U32, PTX_M_HI), CODE(HIGH, VPMULUDQ, 4, FROM(4, 4))},
    {ALU_ROW_OF(MUL, 2, S32, PTX_M_HI), CODE(HIGH, VPMULDQ, 4, FROM(4, 4))},
    QUOTIENTS(U32, VCVTTPD2UDQ),
    QUOTIENTS(S32, VCVTTPD2DQ),
    PLAIN_2(MIN, U32, VPMINUD, 4),
    PLAIN_2(MIN, S32, VPMINSD, 4),
    PLAIN_2(MAX, U32, VPMAXUD, 4),
    PLAIN_2(MAX, S32, VPMAXSD, 4),
    PLAIN_2(MIN, U64, VPMINUQ, 8),
    PLAIN_2(MIN, S64, VPMINSQ, 8),
    PLAIN_2(MAX, U64, VPMAXUQ, 8),
    PLAIN_2(MAX, S64, VPMAXSQ, 8),
    LOGIC(AND, VPANDD),
    LOGIC(OR, VPORD),
    LOGIC(XOR, VPXORD),
    {ALU_ROW_OF(LOP3, 4, B32), CODE(LOGIC, VPTERNLOGD, 4, FROM(4, 4, 4))},
    SHIFTS(SHL, B, VPSLLVD, VPSLLVQ),
    SHIFTS(SHR, B, VPSRLVD, VPSRLVQ),
    SHIFTS(SHR, U, VPSRLVD, VPSRLVQ),
    SHIFTS(SHR, S, VPSRAVD, VPSRAVQ),
    FUNNEL(0, PTX_M_L, PTX_M_WRAP),
    FUNNEL(FUNNEL_CLAMP, PTX_M_L, PTX_M_CLAMP),
    FUNNEL(FUNNEL_RIGHT, PTX_M_R, PTX_M_WRAP),
    FUNNEL(FUNNEL_RIGHT | FUNNEL_CLAMP, PTX_M_R, PTX_M_CLAMP),
    {ALU_ROW_OF(BFE, 3, U32), CODE(FIELD, 0, 4, FROM(4, 4, 4))},
    MOVES(B16, 2),
    MOVES(U16, 2),
    MOVES(S16, 2),
    MOVES(B32, 4),
    MOVES(U32, 4),
    MOVES(S32, 4),
    MOVES(F32, 4),
    MOVES(B64, 8),
    MOVES(U64, 8),
    MOVES(S64, 8),
    MOVES(F64, 8),
    CONVERT(F32, F16, CODE(WIDEN, VCVTPH2PS, 4, FROM(2), .makes_nans = true)),
    CONVERT(F32, BF16, CODE(WIDEN, VPMOVZXWD, 4, FROM(2), .how = 16, .makes_nans = true)),
    {ALU_ROW2_OF(CVT, 1, F16, F32, PTX_M_RN),
     CODE(TO_HALF, 0, 2, FROM(4), .takes_loose = true)},
    PREDICATE(MOV, 1, MOVE),
    PREDICATE(NOT, 1, NOT),
    PREDICATE(AND, 2, AND),
    PREDICATE(OR, 2, OR),
    PREDICATE(XOR, 2, XOR),
};

static const struct native a_call = {.kind = NATIVE_CALL};

/* Of whole numbers: the immediates of VPCMP; of floats those of VCMPPS that are quiet. */
static const uint8_t whole[] = {
    [EQ] = 0, [NE] = 4, [LT] = 1, [LE] = 2, [GT] = 6, [GE] = 5};
static const uint8_t floats[] = {
    [EQ] = 0x00,  [NE] = 0x0c,  [LT] = 0x11,  [LE] = 0x12,  [GT] = 0x1e,
    [GE] = 0x1d,  [EQU] = 0x08, [NEU] = 0x04, [LTU] = 0x19, [LEU] = 0x1a,
    [GTU] = 0x16, [GEU] = 0x15, [NUM] = 0x07, [NAN_] = 0x03};

static struct native comparison(const struct step *s) {
    static const struct {
        uint8_t vector, bytes;
        const uint8_t *how;
    } compared[COMPARED] = {
        [C_U16] = {VPCMPUW, 2, whole}, [C_S16] = {VPCMPW, 2, whole},
        [C_U32] = {VPCMPUD, 4, whole}, [C_S32] = {VPCMPD, 4, whole},
        [C_U64] = {VPCMPUQ, 8, whole}, [C_S64] = {VPCMPQ, 8, whole},
        [C_F32] = {VCMPPS, 4, floats}, [C_F32_FTZ] = {VCMPPS, 4, floats},
        [C_F64] = {VCMPPD, 8, floats},
    };
    uint32_t what = AUX_WHAT(s->aux);
    if (!compared[what].bytes) {
        return a_call;
    }
    return (struct native){.kind = NATIVE_COMPARE,
                           .vector = compared[what].vector,
                           .from = {compared[what].bytes, compared[what].bytes},
                           .how = compared[what].how[AUX_HOW(s->aux)],
                           .flush = what == C_F32_FTZ ? FLUSH_SOURCES : 0,
                           .takes_loose = compared[what].how == floats};
}

/* ---- floats: any rounding, .ftz, .sat ---- */

static const uint8_t directions[] = {[ALU_RN] = ROUND_NEAREST,
                                     [ALU_RZ] = ROUND_ZERO,
                                     [ALU_RM] = ROUND_DOWN,
                                     [ALU_RP] = ROUND_UP,
                                     [ALU_ROUND_NONE] = ROUND_NEAREST};

/* The same bits by .approx and .full as by .rn (alu_special.c), but for quotients. */
static struct native float_arithmetic(const struct ptx_instruction *i) {
    static const struct {
        uint16_t opcode;
        uint8_t kind, sources, narrow, wide;
    } operations[] = {
        {PTX_OP_ADD, NATIVE_PLAIN, 2, VADDPS, VADDPD},
        {PTX_OP_SUB, NATIVE_PLAIN, 2, VSUBPS, VSUBPD},
        {PTX_OP_MUL, NATIVE_PLAIN, 2, VMULPS, VMULPD},
        {PTX_OP_DIV, NATIVE_PLAIN, 2, VDIVPS, VDIVPD},
        {PTX_OP_SQRT, NATIVE_PLAIN, 1, VSQRTPS, VSQRTPD},
        {PTX_OP_RCP, NATIVE_RECIPROCAL, 1, VDIVPS, VDIVPD},
        {PTX_OP_RSQRT, NATIVE_RSQRT, 1, 0, 0},
        {PTX_OP_FMA, NATIVE_FUSED, 3, VFMADD231PS, VFMADD231PD},
        {PTX_OP_MAD, NATIVE_FUSED, 3, VFMADD231PS, VFMADD231PD},
    };
    struct alu_modifiers m = alu_modifiers_of(i);
    uint8_t rounding = directions[alu_take_rounding(&m)];
    bool ftz = alu_take(&m, PTX_M_FTZ), sat = alu_take(&m, PTX_M_SAT);
    bool approx = alu_take(&m, PTX_M_APPROX), full = alu_take(&m, PTX_M_FULL);
    bool wide = i->types[0] == PTX_F64;
    for (size_t k = 0; k < ARRAY_LEN(operations); k++) {
        if (operations[k].opcode != i->opcode || !alu_nothing_left(&m) ||
            (wide && (approx || ftz))) {
            continue;
        }
        bool quick = approx && i->opcode == PTX_OP_DIV;
        uint8_t bytes = wide ? 8 : 4, n = operations[k].sources;
        return (struct native){.kind = quick ? NATIVE_QUICK_QUOTIENT : operations[k].kind,
                               .vector = wide ? operations[k].wide : operations[k].narrow,
                               .bytes = bytes,
                               .from = {bytes, n > 1 ? bytes : 0, n > 2 ? bytes : 0},
                               .makes_nans = !wide && !sat,
                               .takes_loose = !wide,
                               .settles = wide,
                               .saturates = sat,
                               .flush = ftz ? FLUSH_SOURCES | FLUSH_RESULT : 0,
                               .rounding = approx || full ? ROUND_NEAREST : rounding};
    }
    return a_call;
}

/* Whole numbers, or registers, of one width to another. */
static struct native resized(unsigned from, unsigned to, bool is_signed) {
    static const uint8_t wider[][2] = {
        [2] = {VPMOVZXWD, VPMOVSXWD}, [4] = {VPMOVZXDQ, VPMOVSXDQ}};
    struct native n = {.bytes = (uint8_t)to, .from = {(uint8_t)from}};
    if (from < 2 || to < 2 || from > 8 || to > 8) {
        return a_call;
    }
    if (from == to) {
        n.kind = NATIVE_MOVE;
        return n;
    }
    if (to == 2 * from) {
        n.kind = NATIVE_WIDEN;
        n.vector = wider[from][is_signed];
        return n;
    }
    n.kind = NATIVE_NARROW;
    n.vector = from == 8 ? VPMOVQD : VPMOVDW;
    return from == 2 * to ? n : a_call;
}

struct conversion {
    enum ptx_type to, from;
    enum alu_rounding rounding, integral;
    bool ftz, sat;
};

static struct native to_whole(const struct conversion *c) {
    bool able = c->from == PTX_F32 && (c->to == PTX_S32 || c->to == PTX_U32) &&
                c->integral != ALU_ROUND_NONE;
    return !able ? a_call
                 : (struct native){.kind = NATIVE_INTEGER,
                                   .bytes = 4,
                                   .from = {4},
                                   .how = (uint8_t)(directions[c->integral] |
                                                    (c->to == PTX_U32 ? OF_UNSIGNED : 0)),
                                   .takes_loose = true,
                                   .flush = c->ftz ? FLUSH_SOURCES : 0};
}

static struct native from_whole(const struct conversion *c) {
    bool wide = c->to == PTX_F64, is_signed = ptx_type_signed(c->from);
    unsigned from = ptx_type_bytes(c->from);
    if (c->sat || from < 4 || (from == 8 && !wide)) {
        return a_call;
    }
    struct native n = {.kind = NATIVE_PLAIN,
                       .vector = is_signed ? VCVTDQ2PS : VCVTUDQ2PS,
                       .bytes = wide ? 8 : 4,
                       .from = {(uint8_t)from},
                       .rounding = directions[c->rounding]};
    if (wide) {
        n.kind = from == 8 ? NATIVE_PLAIN : NATIVE_WIDEN;
        n.vector = from == 8 ? (is_signed ? VCVTQQ2PD : VCVTUQQ2PD)
                             : (is_signed ? VCVTDQ2PD : VCVTUDQ2PD);
    }
    return n;
}

static struct native between_floats(const struct conversion *c) {
    bool from = c->from == PTX_F64, to = c->to == PTX_F64;
    bool integral = c->integral != ALU_ROUND_NONE;
    struct native n = {.kind = NATIVE_MOVE,
                       .bytes = to ? 8 : 4,
                       .from = {from ? 8 : 4},
                       .saturates = c->sat,
                       .flush = c->ftz ? FLUSH_SOURCES | FLUSH_RESULT : 0};
    if ((to && c->sat) || (from && !to && c->rounding != ALU_RN)) {
        return a_call;
    }
    if (from != to) {
        n.kind = to ? NATIVE_WIDEN : NATIVE_NARROW;
        n.vector = to ? VCVTPS2PD : VCVTPD2PS;
        n.flush &= to ? FLUSH_SOURCES : FLUSH_RESULT;
        return integral ? a_call : n;
    }
    n.settles = to;
    n.flush &= FLUSH_SOURCES;
    if (integral) {
        n.kind = NATIVE_PLAIN;
        n.vector = to ? VRNDSCALEPD : VRNDSCALEPS;
        n.how = (uint8_t)(8 | directions[c->integral]);
        n.makes_nans = !to && !c->sat;
    }
    return n;
}

static struct native converted(const struct ptx_instruction *i) {
    struct alu_modifiers m = alu_modifiers_of(i);
    struct conversion c = {.to = (enum ptx_type)i->types[0],
                           .from = (enum ptx_type)i->types[1],
                           .rounding = alu_take_rounding(&m),
                           .integral = alu_take_integral(&m),
                           .ftz = alu_take(&m, PTX_M_FTZ),
                           .sat = alu_take(&m, PTX_M_SAT)};
    bool to = c.to >= PTX_U8 && c.to <= PTX_S64,
         to_float = c.to == PTX_F32 || c.to == PTX_F64;
    bool from = c.from >= PTX_U8 && c.from <= PTX_S64,
         from_float = c.from == PTX_F32 || c.from == PTX_F64;
    if (i->type_count != 2 || alu_sources(i) != 1 || !alu_nothing_left(&m)) {
        return a_call;
    }
    return to && from               ? (c.sat ? a_call
                                             : resized(ptx_type_bytes(c.from), ptx_type_bytes(c.to),
                                                       ptx_type_signed(c.from)))
           : to && from_float       ? to_whole(&c)
           : to_float && from       ? from_whole(&c)
           : to_float && from_float ? between_floats(&c)
                                    : a_call;
}

static struct native arithmetic(const struct ptx_instruction *i, const struct step *s) {
    if (i->opcode == PTX_OP_SETP) {
        return comparison(s);
    }
    unsigned modifiers = alu_modifier_count(i);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (alu_row_fits(&rows[k].row, i, modifiers)) {
            return rows[k].native;
        }
    }
    bool is_float = i->types[0] == PTX_F32 || i->types[0] == PTX_F64;
    return i->opcode == PTX_OP_CVT          ? converted(i)
           : is_float && i->type_count == 1 ? float_arithmetic(i)
                                            : a_call;
}

/* A load or store that the fast handlers do, perhaps after the race check; order and
 * proxies have others. */
static bool is_plain_access(const struct program *p, const struct step *s) {
    if (s->extra >= p->access_count) {
        return false;
    }
    const struct access *a = &p->accesses[s->extra];
    bool space =
        a->space == PTX_GLOBAL || a->space == PTX_CONST || a->space == PTX_SHARED;
    return race_handler(a, s) == a->plain && !a->polls && !a->is_atomic && space && a->bytes > 1 &&
           (a->is_store ? a->count == 1 : a->count <= 4);
}

/* mov.b64 between one register and two. */
static struct native pair_move(const struct program *p, const struct ptx_function *f,
                               const struct step *s) {
    const struct ptx_instruction *i = &f->code[s->instruction];
    const struct ptx_operand *o = &f->operands[i->operands];
    if (i->opcode != PTX_OP_MOV || i->operand_count != 2 ||
        (o[0].kind != PTX_OPERAND_VECTOR && o[1].kind != PTX_OPERAND_VECTOR) ||
        p->vectors[s->extra].count != 2 || p->vectors[s->extra].bytes != 4) {
        return a_call;
    }
    return o[1].kind == PTX_OPERAND_VECTOR
               ? (struct native){.kind = NATIVE_JOIN, .bytes = 8}
               : (struct native){.kind = NATIVE_SPLIT, .from = {8}};
}

struct native native_of(const struct program *program, const struct code *code,
                        const struct step *s) {
    unsigned from, to;
    bool is_signed;
    const struct ptx_instruction *i = &code->function->code[s->instruction];
    if (s->run == step_nothing) {
        return (struct native){.kind = NATIVE_NOTHING};
    }
    if (s->run == step_add_offset) {
        return (struct native){.kind = NATIVE_MOVE, .bytes = 8, .from = {8}};
    }
    if (lower_is_copy(s, &from, &to, &is_signed)) {
        return resized(from, to, is_signed);
    }
    struct native pair = pair_move(program, code->function, s);
    if (pair.kind != NATIVE_CALL) {
        return pair;
    }
    unsigned bytes = step_param_bytes(s);
    if (bytes >= 4) {
        return (struct native){.kind = NATIVE_PARAMETER, .bytes = (uint8_t)bytes};
    }
    if ((i->opcode == PTX_OP_LD || i->opcode == PTX_OP_ST) &&
        is_plain_access(program, s)) {
        const struct access *a = &program->accesses[s->extra];
        return (struct native){.kind = NATIVE_ACCESS,
                               .bytes = a->is_store ? 0 : a->bytes,
                               .from = {8, a->is_store ? a->bytes : 0}};
    }
    bool known =
        code->lane_wise[s - code->steps] == STEP_ARITHMETIC && s->dst != STEP_NO_REGISTER;
    return known ? arithmetic(i, s) : a_call;
}
