/* Extended-precision chains: add.cc, addc, sub.cc, subc, mad.cc, madc. CC.CF is a bit per
 * lane in the warp. A subtraction is an addition of the complement there: it leaves 1
 * when nothing was borrowed, and subc borrows when it finds 0. The ISA calls it "the
 * borrow-out", but code reads it behind sub.cc by addc, in each division of __int128 by
 * NVRTC, and such code is right only so. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/lanes.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

/* Results and carries (0 or 1 in t) are complete before anything is written: the
 * destination may be a source. */
#define CARRY_LOOP(name, T, need_c, reads_carry, writes_carry, idle, body)               \
    static void name(STEP_ARGS) {                                                        \
        const T *pa = SOURCE(T, 0);                                                      \
        const T *pb = SOURCE(T, 1);                                                      \
        const T *pc = (need_c) ? SOURCE(T, 2) : pb;                                      \
        const uint32_t carries = (reads_carry) ? WARP_HEAD(warp)->carry : (idle);        \
        LANES_TRUTH(carry_out);                                                          \
        LANES_FOR {                                                                      \
            const T a = pa[l], b = pb[l], c = pc[l];                                     \
            const T in = (carries & lane_bits[l]) ? 1 : 0;                               \
            T r;                                                                         \
            bool out;                                                                    \
            (void)c;                                                                     \
            body;                                                                        \
            (void)r;                                                                     \
            carry_out[l] = out ? UINT32_MAX : 0;                                         \
        }                                                                                \
        LANES_EACH(T, {                                                                  \
            const T a = pa[l], b = pb[l], c = pc[l];                                     \
            const T in = (carries & lane_bits[l]) ? 1 : 0;                               \
            bool out;                                                                    \
            (void)c;                                                                     \
            body;                                                                        \
            (void)out;                                                                   \
        });                                                                              \
        if (writes_carry) {                                                              \
            uint32_t *cc = &WARP_HEAD(warp)->carry;                                      \
            *cc = (*cc & ~mask) | (lanes_bits_32(carry_out) & mask);                     \
        }                                                                                \
    }

#define ADD_BODY                                                                         \
    r = a + b + in;                                                                      \
    out = in ? r <= a : r < a
#define SUB_BODY(T)                                                                      \
    r = a + (T)~b + in;                                                                  \
    out = in ? a >= b : a > b
#define MAD_BODY(T, product)                                                             \
    const T p = (T)(product);                                                            \
    r = p + c + in;                                                                      \
    out = in ? r <= p : r < p

/* name, name_out, name_in, name_inout: which of carry in and out it has. idle: the carry
 * of one that reads none. */
#define CHAIN(name, T, need_c, idle, body)                                               \
    CARRY_LOOP(name##_out, T, need_c, false, true, idle, body)                           \
    CARRY_LOOP(name##_in, T, need_c, true, false, idle, body)                            \
    CARRY_LOOP(name##_inout, T, need_c, true, true, idle, body)
#define CHAINS(n, U, S, W, WS)                                                           \
    CHAIN(add_##n, U, false, 0, ADD_BODY)                                                \
    CHAIN(sub_##n, U, false, UINT32_MAX, SUB_BODY(U))                                    \
    CHAIN(mad_lo_##n, U, true, 0, MAD_BODY(U, (W)a *b))                                  \
    CHAIN(mad_hi_u##n, U, true, 0, MAD_BODY(U, (W)a *b >> n))                            \
    CHAIN(mad_hi_s##n, U, true, 0, MAD_BODY(U, (WS)(S)a *(S)b >> n))
CHAINS(32, uint32_t, int32_t, uint64_t, int64_t)
CHAINS(64, uint64_t, int64_t, u128, s128)

#define ADD_ROWS(T, n)                                                                   \
    ALU_ROW(ADD, 2, add_##n##_out, T, PTX_M_CC), ALU_ROW(ADDC, 2, add_##n##_in, T),      \
        ALU_ROW(ADDC, 2, add_##n##_inout, T, PTX_M_CC),                                  \
        ALU_ROW(SUB, 2, sub_##n##_out, T, PTX_M_CC), ALU_ROW(SUBC, 2, sub_##n##_in, T),  \
        ALU_ROW(SUBC, 2, sub_##n##_inout, T, PTX_M_CC)
#define MAD_ROWS(T, lo, hi)                                                              \
    ALU_ROW(MAD, 3, lo##_out, T, PTX_M_LO, PTX_M_CC),                                    \
        ALU_ROW(MAD, 3, hi##_out, T, PTX_M_HI, PTX_M_CC),                                \
        ALU_ROW(MADC, 3, lo##_in, T, PTX_M_LO), ALU_ROW(MADC, 3, hi##_in, T, PTX_M_HI),  \
        ALU_ROW(MADC, 3, lo##_inout, T, PTX_M_LO, PTX_M_CC),                             \
        ALU_ROW(MADC, 3, hi##_inout, T, PTX_M_HI, PTX_M_CC)

static const struct alu_row rows[] = {
    ADD_ROWS(U32, 32),
    ADD_ROWS(S32, 32),
    ADD_ROWS(U64, 64),
    ADD_ROWS(S64, 64),
    MAD_ROWS(U32, mad_lo_32, mad_hi_u32),
    MAD_ROWS(S32, mad_lo_32, mad_hi_s32),
    MAD_ROWS(U64, mad_lo_64, mad_hi_u64),
    MAD_ROWS(S64, mad_lo_64, mad_hi_s64),
};

step_run *LANES_NAME(bind_carry)(const struct ptx_instruction *i, struct step *) {
    return alu_find(rows, sizeof(rows) / sizeof(rows[0]), i);
}
