/* Logic, shifts and bit fields: and, or, xor, not, cnot, lop3, shl, shr, shf, prmt, bfe,
 * bfi, bfind, bmsk, szext, brev, clz, popc, fns. Logic of predicates is in alu_select.c.
 *
 * Shift amounts are 32-bit unsigned and clamp at the width; shf.wrap takes them modulo
 * 32. Loops over lanes carry no shift by the width or more, which C leaves undefined. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/lanes.h"

#define LOGIC(n, U)                                                                      \
    BINARY(and_##n, U, U, U, a &b)                                                       \
    BINARY(or_##n, U, U, U, a | b)                                                       \
    BINARY(xor_##n, U, U, U, a ^ b)                                                      \
    UNARY(not_##n, U, U, ~a)                                                             \
    UNARY(cnot_##n, U, U, a == 0)
LOGIC(16, uint16_t)
LOGIC(32, uint32_t)
LOGIC(64, uint64_t)

#define SHIFTS(n, U, S)                                                                  \
    BINARY(shl_##n, U, U, uint32_t, b < n ? (U)(a << (b & (n - 1))) : (U)0)              \
    BINARY(shr_u##n, U, U, uint32_t, b < n ? (U)(a >> (b & (n - 1))) : (U)0)             \
    BINARY(shr_s##n, S, S, uint32_t, a >> (b < n ? b : n - 1))
SHIFTS(16, uint16_t, int16_t)
SHIFTS(32, uint32_t, int32_t)
SHIFTS(64, uint64_t, int64_t)

/* Funnel shifts of the 64-bit word c:a … high part b, low part a. */
LANE_INLINE uint64_t pair_of(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}
#define CLAMP32(c) ((c) < 32 ? (c) : 32u)
TERNARY(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t,
        pair_of(a, b) << (c & 31) >> 32)
TERNARY(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, pair_of(a, b) >> (c & 31))
TERNARY(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
        pair_of(a, b) << CLAMP32(c) >> 32)
TERNARY(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, pair_of(a, b) >> CLAMP32(c))

/* lop3: the table is an immediate, so the fourth source is uniform. Bit 4a+2b+c of it is
 * the result for those three bits. */
LANE_INLINE uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, const uint32_t on[8]) {
    uint32_t when_a =
        (~b & ((~c & on[4]) | (c & on[5]))) | (b & ((~c & on[6]) | (c & on[7])));
    uint32_t when_not =
        (~b & ((~c & on[0]) | (c & on[1]))) | (b & ((~c & on[2]) | (c & on[3])));
    return (~a & when_not) | (a & when_a);
}
LANE_INLINE void lop3_table(struct warp *warp, const struct step *step, uint32_t on[8]) {
    const uint32_t table = *SOURCE(uint32_t, 3);
    for (unsigned k = 0; k < 8; k++) {
        on[k] = table >> k & 1 ? UINT32_MAX : 0;
    }
}
static void run_lop3(STEP_ARGS) {
    uint32_t on[8];
    lop3_table(warp, step, on);
    const uint32_t *pa = SOURCE(uint32_t, 0);
    const uint32_t *pb = SOURCE(uint32_t, 1);
    const uint32_t *pc = SOURCE(uint32_t, 2);
    LANES_EACH(uint32_t, { r = lop3(pa[l], pb[l], pc[l], on); });
}
/* lop3.or, lop3.and: the fourth source is a predicate, the table is in aux. p may be the
 * same register as q. */
LANE_INLINE void lop3_predicate(STEP_ARGS, bool is_or) {
    uint32_t on[8];
    for (unsigned k = 0; k < 8; k++) {
        on[k] = step->aux >> k & 1 ? UINT32_MAX : 0;
    }
    const uint32_t *pa = SOURCE(uint32_t, 0);
    const uint32_t *pb = SOURCE(uint32_t, 1);
    const uint32_t *pc = SOURCE(uint32_t, 2);
    uint32_t q = lanes_predicate(warp, step, 3);
    LANES_TRUTH(some);
    LANES_FOR {
        some[l] = lop3(pa[l], pb[l], pc[l], on) != 0 ? UINT32_MAX : 0;
    }
    LANES_EACH(uint32_t, { r = lop3(pa[l], pb[l], pc[l], on); });
    uint32_t bits = lanes_bits_32(some);
    lanes_set_predicate(warp, step->dst2, mask, is_or ? bits | q : bits & q);
}
static void run_lop3_or(STEP_ARGS) {
    lop3_predicate(warp, step, mask, true);
}
static void run_lop3_and(STEP_ARGS) {
    lop3_predicate(warp, step, mask, false);
}

/* prmt: the eight bytes of b:a; a selector's low three bits choose one, its fourth
 * spreads that byte's sign. */
LANE_INLINE uint32_t prmt_byte(uint64_t bytes, uint32_t selector) {
    uint32_t byte = (uint32_t)(bytes >> (8 * (selector & 7))) & 0xff;
    uint32_t sign = byte & 0x80 ? 0xff : 0;
    return selector & 8 ? sign : byte;
}
LANE_INLINE uint32_t prmt(uint32_t a, uint32_t b, uint32_t selectors) {
    uint64_t bytes = pair_of(a, b);
    return prmt_byte(bytes, selectors) | prmt_byte(bytes, selectors >> 4) << 8 |
           prmt_byte(bytes, selectors >> 8) << 16 |
           prmt_byte(bytes, selectors >> 12) << 24;
}
/* Modes: four tables of selectors, packed as 16 bits each, for c & 3. */
LANE_INLINE uint32_t prmt_mode(uint64_t modes, uint32_t c) {
    return (uint32_t)(modes >> (16 * (c & 3))) & 0xffff;
}
#define PRMT(name, modes)                                                                \
    TERNARY(name, uint32_t, uint32_t, uint32_t, uint32_t, prmt(a, b, prmt_mode(modes, c)))
TERNARY(prmt_index, uint32_t, uint32_t, uint32_t, uint32_t, prmt(a, b, c))
PRMT(prmt_f4e, UINT64_C(0x6543543243213210))
PRMT(prmt_b4e, UINT64_C(0x0123701267015670))
PRMT(prmt_rc8, UINT64_C(0x3333222211110000))
PRMT(prmt_ecl, UINT64_C(0x3333322232113210))
PRMT(prmt_ecr, UINT64_C(0x3210221011100000))
PRMT(prmt_rc16, UINT64_C(0x3232101032321010))

/* Ones in the low n bits, n from 0 to the width. */
LANE_INLINE uint32_t low_bits_32(uint32_t n) {
    return n < 32 ? (1u << (n & 31)) - 1 : UINT32_MAX;
}
LANE_INLINE uint64_t low_bits_64(uint32_t n) {
    return n < 64 ? (UINT64_C(1) << (n & 63)) - 1 : UINT64_MAX;
}

/* bfe, bfi: position and length are the low bytes of b and c (c and d). A signed field
 * that reaches past the top, or a longer one, is filled with its highest bit. */
#define FIELDS(n, U, S)                                                                  \
    LANE_INLINE U bfe_u_##n(U a, uint32_t position, uint32_t length) {                   \
        U shifted = position < n ? (U)(a >> (position & (n - 1))) : 0;                   \
        return shifted & low_bits_##n(length < n ? length : n);                          \
    }                                                                                    \
    LANE_INLINE U bfe_s_##n(U a, uint32_t position, uint32_t length) {                   \
        uint32_t top = position + length - 1;                                            \
        top = top < n ? top : n - 1;                                                     \
        U sign = length != 0 && (a >> (top & (n - 1)) & 1) ? (U)-1 : 0;                  \
        uint32_t inside = position < n ? n - position : 0;                               \
        U keep = low_bits_##n(length < inside ? length : inside);                        \
        return (bfe_u_##n(a, position, length) & keep) | (sign & (U)~keep);              \
    }                                                                                    \
    LANE_INLINE U bfi_##n(U a, U b, uint32_t position, uint32_t length) {                \
        U field = low_bits_##n(length < n ? length : n);                                 \
        U where = position < n ? (U)(field << (position & (n - 1))) : 0;                 \
        U what = position < n ? (U)(a << (position & (n - 1))) : 0;                      \
        return (b & (U)~where) | (what & where);                                         \
    }                                                                                    \
    TERNARY(bfe_u##n, U, U, uint32_t, uint32_t, bfe_u_##n(a, b & 0xff, c & 0xff))        \
    TERNARY(bfe_s##n, U, U, uint32_t, uint32_t, bfe_s_##n(a, b & 0xff, c & 0xff))        \
    static void bfi_b##n(STEP_ARGS) {                                                    \
        const U *pa = SOURCE(U, 0);                                                      \
        const U *pb = SOURCE(U, 1);                                                      \
        const uint32_t *pc = SOURCE(uint32_t, 2);                                        \
        const uint32_t *pd = SOURCE(uint32_t, 3);                                        \
        LANES_EACH(U, { r = bfi_##n(pa[l], pb[l], pc[l] & 0xff, pd[l] & 0xff); });       \
    }
FIELDS(32, uint32_t, int32_t)
FIELDS(64, uint64_t, int64_t)

LANE_INLINE uint32_t clz_32(uint32_t a) {
    return a ? (uint32_t)__builtin_clz(a) : 32;
}
LANE_INLINE uint32_t clz_64(uint64_t a) {
    return a ? (uint32_t)__builtin_clzll(a) : 64;
}
/* In vectors; the instruction is scalar before AVX-512 VPOPCNTDQ. */
LANE_INLINE uint32_t pop_32(uint32_t a) {
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f;
    return a * 0x01010101u >> 24;
}
LANE_INLINE uint32_t pop_64(uint64_t a) {
    return pop_32((uint32_t)a) + pop_32((uint32_t)(a >> 32));
}
/* bfind: the highest bit that differs from the sign; -1 without; .shiftamt: the shift
 * that brings it to the top. 31 - 32 wraps to -1 by itself. */
#define COUNTS(n, U, S)                                                                  \
    UNARY(clz_b##n, uint32_t, U, clz_##n(a))                                             \
    UNARY(popc_b##n, uint32_t, U, pop_##n(a))                                            \
    UNARY(bfind_u##n, uint32_t, U, n - 1 - clz_##n(a))                                   \
    UNARY(bfind_s##n, uint32_t, S, n - 1 - clz_##n((U)(a < 0 ? ~a : a)))                 \
    UNARY(bfind_shift_u##n, uint32_t, U, a ? clz_##n(a) : UINT32_MAX)                    \
    UNARY(bfind_shift_s##n, uint32_t, S,                                                 \
          (a < 0 ? ~a : a) ? clz_##n((U)(a < 0 ? ~a : a)) : UINT32_MAX)
COUNTS(32, uint32_t, int32_t)
COUNTS(64, uint64_t, int64_t)

LANE_INLINE uint32_t brev_32(uint32_t a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
    return a >> 16 | a << 16;
}
UNARY(brev_b32, uint32_t, uint32_t, brev_32(a))
UNARY(brev_b64, uint64_t, uint64_t,
      pair_of(brev_32((uint32_t)(a >> 32)), brev_32((uint32_t)a)))

/* bmsk: b ones from bit a on. wrap: both modulo 32; clamp: both at most 32. */
LANE_INLINE uint32_t bmsk(uint32_t position, uint32_t width) {
    return (uint32_t)((UINT64_C(1) << width) - 1) << (position & 31);
}
BINARY(bmsk_wrap, uint32_t, uint32_t, uint32_t, bmsk(a & 31, b & 31))
BINARY(bmsk_clamp, uint32_t, uint32_t, uint32_t, a < 32 ? bmsk(a, CLAMP32(b)) : 0)

/* szext: the low b bits of a, extended. wrap: b modulo 32; clamp: 32 and more keep all.
 */
LANE_INLINE uint32_t szext_s(uint32_t a, uint32_t width) {
    uint32_t sign = width != 0 && (a >> ((width - 1) & 31) & 1) ? UINT32_MAX : 0;
    uint32_t keep = low_bits_32(width);
    return (a & keep) | (sign & ~keep);
}
BINARY(szext_wrap_u32, uint32_t, uint32_t, uint32_t, a &low_bits_32(b & 31))
BINARY(szext_wrap_s32, uint32_t, uint32_t, uint32_t, szext_s(a, b & 31))
BINARY(szext_clamp_u32, uint32_t, uint32_t, uint32_t, a &low_bits_32(CLAMP32(b)))
BINARY(szext_clamp_s32, uint32_t, uint32_t, uint32_t, szext_s(a, CLAMP32(b)))

/* fns: the position of the |c|-th set bit of a, upwards from bit b for c > 0, downwards
 * for c < 0; c = 0 asks for bit b itself. */
static uint32_t fns(uint32_t bits, uint32_t base, int32_t offset) {
    if (base > 31) {
        return UINT32_MAX;
    }
    if (offset == 0) {
        return bits >> base & 1 ? base : UINT32_MAX;
    }
    int step = offset > 0 ? 1 : -1;
    uint32_t count = offset > 0 ? (uint32_t)offset : 0u - (uint32_t)offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step) {
        if (bits >> at & 1 && --count == 0) {
            return (uint32_t)at;
        }
    }
    return UINT32_MAX;
}
TERNARY(fns_b32, uint32_t, uint32_t, uint32_t, int32_t, fns(a, b, c))

#define LOGIC_ROWS(n)                                                                    \
    ALU_ROW(AND, 2, and_##n, B##n), ALU_ROW(OR, 2, or_##n, B##n),                        \
        ALU_ROW(XOR, 2, xor_##n, B##n), ALU_ROW(NOT, 1, not_##n, B##n),                  \
        ALU_ROW(CNOT, 1, cnot_##n, B##n), ALU_ROW(SHL, 2, shl_##n, B##n),                \
        ALU_ROW(SHR, 2, shr_u##n, B##n), ALU_ROW(SHR, 2, shr_u##n, U##n),                \
        ALU_ROW(SHR, 2, shr_s##n, S##n)
#define FIELD_ROWS(n)                                                                    \
    ALU_ROW(BFE, 3, bfe_u##n, U##n), ALU_ROW(BFE, 3, bfe_s##n, S##n),                    \
        ALU_ROW(BFI, 4, bfi_b##n, B##n), ALU_ROW(CLZ, 1, clz_b##n, B##n),                \
        ALU_ROW(POPC, 1, popc_b##n, B##n), ALU_ROW(BREV, 1, brev_b##n, B##n),            \
        ALU_ROW(BFIND, 1, bfind_u##n, U##n), ALU_ROW(BFIND, 1, bfind_s##n, S##n),        \
        ALU_ROW(BFIND, 1, bfind_shift_u##n, U##n, PTX_M_SHIFTAMT),                       \
        ALU_ROW(BFIND, 1, bfind_shift_s##n, S##n, PTX_M_SHIFTAMT)

static const struct alu_row rows[] = {
    LOGIC_ROWS(16),
    LOGIC_ROWS(32),
    LOGIC_ROWS(64),
    FIELD_ROWS(32),
    FIELD_ROWS(64),
    ALU_ROW(LOP3, 4, run_lop3, B32),
    ALU_ROW(LOP3, 5, run_lop3_or, B32, PTX_M_OR),
    ALU_ROW(LOP3, 5, run_lop3_and, B32, PTX_M_AND),
    ALU_ROW(SHF, 3, shf_l_wrap, B32, PTX_M_L, PTX_M_WRAP),
    ALU_ROW(SHF, 3, shf_r_wrap, B32, PTX_M_R, PTX_M_WRAP),
    ALU_ROW(SHF, 3, shf_l_clamp, B32, PTX_M_L, PTX_M_CLAMP),
    ALU_ROW(SHF, 3, shf_r_clamp, B32, PTX_M_R, PTX_M_CLAMP),
    ALU_ROW(PRMT, 3, prmt_index, B32),
    ALU_ROW(PRMT, 3, prmt_f4e, B32, PTX_M_F4E),
    ALU_ROW(PRMT, 3, prmt_b4e, B32, PTX_M_B4E),
    ALU_ROW(PRMT, 3, prmt_rc8, B32, PTX_M_RC8),
    ALU_ROW(PRMT, 3, prmt_ecl, B32, PTX_M_ECL),
    ALU_ROW(PRMT, 3, prmt_ecr, B32, PTX_M_ECR),
    ALU_ROW(PRMT, 3, prmt_rc16, B32, PTX_M_RC16),
    ALU_ROW(BMSK, 2, bmsk_wrap, B32, PTX_M_WRAP),
    ALU_ROW(BMSK, 2, bmsk_clamp, B32, PTX_M_CLAMP),
    ALU_ROW(SZEXT, 2, szext_wrap_u32, U32, PTX_M_WRAP),
    ALU_ROW(SZEXT, 2, szext_wrap_s32, S32, PTX_M_WRAP),
    ALU_ROW(SZEXT, 2, szext_clamp_u32, U32, PTX_M_CLAMP),
    ALU_ROW(SZEXT, 2, szext_clamp_s32, S32, PTX_M_CLAMP),
    ALU_ROW(FNS, 3, fns_b32, B32),
};

step_run *LANES_NAME(bind_bits)(const struct ptx_instruction *i, struct step *) {
    return alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
}
