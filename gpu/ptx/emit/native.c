#include "gpu/ptx/emit/native.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/comparison.h"

#include <string.h>

/* An instruction as alu.h's rows tell it, and its code. */
struct native_row {
    struct alu_row row;
    struct native native;
};

#define CODE(kind_, vector_, bytes_, ...)                                                \
    .native = {                                                                          \
        .kind = NATIVE_##kind_, .vector = (vector_), .bytes = (bytes_), ##__VA_ARGS__}
#define FROM(...) .from = {__VA_ARGS__}
#define PLAIN_DOUBLE(op, n, vec, ...)                                                    \
    {                                                                                    \
        ALU_ROW_OF(op, n, F64, ##__VA_ARGS__),                                           \
            CODE(PLAIN, vec, 8, FROM(8, (n) > 1 ? 8 : 0), .settles = true)               \
    }
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
#define PLAIN_FLOAT(op, vec)                                                             \
    {ALU_ROW_OF(op, 2, F32), CODE(PLAIN, vec, 4, FROM(4, 4), FLOAT)}, {                  \
        ALU_ROW_OF(op, 2, F32, PTX_M_RN), CODE(PLAIN, vec, 4, FROM(4, 4), FLOAT)         \
    }
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
#define WIDEN(vec) CODE(WIDEN, vec, 8, FROM(4))
#define NARROW CODE(NARROW, 0, 4, FROM(8))
#define SAME(b) CODE(MOVE, 0, b, FROM(b))
#define LOGIC(op, vec) PLAIN_2(op, B32, vec, 4), PLAIN_2(op, B64, vec, 8)
#define PREDICATE(op, n, how_)                                                           \
    { ALU_ROW_OF(op, n, PRED), CODE(PREDICATE, 0, 0, .how = PREDICATE_##how_) }

static const struct native_row rows[] = {
    PLAIN_FLOAT(ADD, VADDPS),
    PLAIN_FLOAT(SUB, VSUBPS),
    PLAIN_FLOAT(MUL, VMULPS),
    {ALU_ROW_OF(DIV, 2, F32, PTX_M_RN), CODE(PLAIN, VDIVPS, 4, FROM(4, 4), FLOAT)},
    {ALU_ROW_OF(SQRT, 1, F32, PTX_M_RN), CODE(PLAIN, VSQRTPS, 4, FROM(4), FLOAT)},
    {ALU_ROW_OF(FMA, 3, F32, PTX_M_RN),
     CODE(FUSED, VFMADD231PS, 4, FROM(4, 4, 4), FLOAT)},
    {ALU_ROW_OF(MAD, 3, F32, PTX_M_RN),
     CODE(FUSED, VFMADD231PS, 4, FROM(4, 4, 4), FLOAT)},
    PLAIN_DOUBLE(ADD, 2, VADDPD),
    PLAIN_DOUBLE(SUB, 2, VSUBPD),
    PLAIN_DOUBLE(MUL, 2, VMULPD),
    PLAIN_DOUBLE(ADD, 2, VADDPD, PTX_M_RN),
    PLAIN_DOUBLE(SUB, 2, VSUBPD, PTX_M_RN),
    PLAIN_DOUBLE(MUL, 2, VMULPD, PTX_M_RN),
    PLAIN_DOUBLE(DIV, 2, VDIVPD, PTX_M_RN),
    PLAIN_DOUBLE(SQRT, 1, VSQRTPD, PTX_M_RN),
    {ALU_ROW_OF(FMA, 3, F64, PTX_M_RN),
     CODE(FUSED, VFMADD231PD, 8, FROM(8, 8, 8), .settles = true)},
    {ALU_ROW_OF(MAD, 3, F64, PTX_M_RN),
     CODE(FUSED, VFMADD231PD, 8, FROM(8, 8, 8), .settles = true)},
    HALVES(ADD, VADDPS),
    HALVES(SUB, VSUBPS),
    HALVES(MUL, VMULPS),
    HALVES(ADD, VADDPS, PTX_M_RN),
    HALVES(SUB, VSUBPS, PTX_M_RN),
    HALVES(MUL, VMULPS, PTX_M_RN),
    {ALU_ROW_OF(MIN, 2, F32), CODE(EXTREME, VRANGEPS, 4, FROM(4, 4), FLOAT, .how = 4)},
    {ALU_ROW_OF(MAX, 2, F32), CODE(EXTREME, VRANGEPS, 4, FROM(4, 4), FLOAT, .how = 5)},
    SIGN(NEG, F32, VPXORD, 4, 0x80000000),
    SIGN(ABS, F32, VPANDD, 4, 0x7fffffff),
    SIGN(NOT, B32, VPXORD, 4, UINT32_MAX),
    SIGN(NOT, B64, VPXORD, 8, UINT32_MAX),
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
    {ALU_ROW_OF(MOV, 1, B16), CODE(MOVE, 0, 2, FROM(2))},
    {ALU_ROW_OF(MOV, 1, U16), CODE(MOVE, 0, 2, FROM(2))},
    {ALU_ROW_OF(MOV, 1, S16), CODE(MOVE, 0, 2, FROM(2))},
    MOVES(B32, 4),
    MOVES(U32, 4),
    MOVES(S32, 4),
    MOVES(F32, 4),
    MOVES(B64, 8),
    MOVES(U64, 8),
    MOVES(S64, 8),
    MOVES(F64, 8),
    CONVERT(S64, S32, WIDEN(VPMOVSXDQ)),
    CONVERT(U64, S32, WIDEN(VPMOVSXDQ)),
    CONVERT(S64, U32, WIDEN(VPMOVZXDQ)),
    CONVERT(U64, U32, WIDEN(VPMOVZXDQ)),
    CONVERT(S32, S64, NARROW),
    CONVERT(S32, U64, NARROW),
    CONVERT(U32, S64, NARROW),
    CONVERT(U32, U64, NARROW),
    CONVERT(S32, U32, SAME(4)),
    CONVERT(U32, S32, SAME(4)),
    CONVERT(S64, U64, SAME(8)),
    CONVERT(U64, S64, SAME(8)),
    {ALU_ROW2_OF(CVT, 1, F32, S32, PTX_M_RN), CODE(PLAIN, VCVTDQ2PS, 4, FROM(4))},
    {ALU_ROW2_OF(CVT, 1, F32, U32, PTX_M_RN), CODE(PLAIN, VCVTUDQ2PS, 4, FROM(4))},
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
        [C_U32] = {VPCMPUD, 4, whole}, [C_S32] = {VPCMPD, 4, whole},
        [C_U64] = {VPCMPUQ, 8, whole}, [C_S64] = {VPCMPQ, 8, whole},
        [C_F32] = {VCMPPS, 4, floats}, [C_F64] = {VCMPPD, 8, floats},
    };
    uint32_t what = AUX_WHAT(s->aux);
    if (AUX_COMBINE(s->aux) != ALONE || s->dst2 != STEP_NO_REGISTER ||
        !compared[what].bytes) {
        return a_call;
    }
    return (struct native){.kind = NATIVE_COMPARE,
                           .vector = compared[what].vector,
                           .from = {compared[what].bytes, compared[what].bytes},
                           .how = compared[what].how[AUX_HOW(s->aux)],
                           .takes_loose = compared[what].how == floats};
}

static struct native arithmetic(const struct ptx_instruction *i, const struct step *s) {
    if (i->opcode == PTX_OP_SETP) {
        return comparison(s);
    }
    unsigned modifiers = alu_modifier_count(i);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (alu_row_fits(&rows[k].row, i, modifiers)) {
            return rows[k].native;
        }
    }
    return a_call;
}

/* A load or store that the fast handlers do; order, races and proxies have others. */
static bool is_plain_access(const struct program *p, const struct step *s) {
    if (s->extra >= p->access_count) {
        return false;
    }
    const struct access *a = &p->accesses[s->extra];
    bool space =
        a->space == PTX_GLOBAL || a->space == PTX_CONST || a->space == PTX_SHARED;
    return s->run == a->plain && !a->polls && !a->is_atomic && space && a->bytes > 1 &&
           (a->is_store ? a->count == 1 : a->count <= 4);
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
        return from == 4 && to == 8
                   ? (struct native){.kind = NATIVE_WIDEN,
                                     .vector = is_signed ? VPMOVSXDQ : VPMOVZXDQ,
                                     .bytes = 8,
                                     .from = {4}}
               : from == 8 && to == 4
                   ? (struct native){.kind = NATIVE_NARROW, .bytes = 4, .from = {8}}
                   : a_call;
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
