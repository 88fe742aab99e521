#pragma once
/* assembler: encodes x86-64 instructions: vectors of 512 bits (EVEX), masks (VEX), and
 * the few scalar ones that addresses and counters need.
 *
 * Source of the encodings: Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2, sections 2.1 (REX), 2.3 (VEX), 2.7 (EVEX) and the instructions' pages.
 * tests/unit/gpu/test_ptx_assembler.c compares every form with an assembler's bytes.
 *
 * The purpose of the code is unknown here. A buffer that is too small becomes `full`, and
 * further bytes are dropped. */
#include "base/mem.h"

struct assembler {
    uint8_t *bytes;
    size_t size, room;
    bool full;
};

enum gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* The operand that may be memory. */
enum asm_place_kind {
    PLACE_REGISTER,  /* `base`: of the operand's kind */
    PLACE_MEMORY,    /* [base + at] */
    PLACE_BROADCAST, /* one element at [base + at] for all */
    PLACE_INDEXED,   /* [base + at + element of the vector `index`]: gather, scatter */
    PLACE_ROUNDED,   /* a register, and the direction `index` to round in */
};
enum asm_rounding { ROUND_NEAREST, ROUND_DOWN, ROUND_UP, ROUND_ZERO };
struct asm_place {
    uint8_t kind, base, index;
    int32_t at;
};
static inline struct asm_place in_register(unsigned number) {
    return (struct asm_place){.kind = PLACE_REGISTER, .base = (uint8_t)number};
}
static inline struct asm_place in_rounded(unsigned number, enum asm_rounding direction) {
    return (struct asm_place){
        .kind = PLACE_ROUNDED, .base = (uint8_t)number, .index = (uint8_t)direction};
}
static inline struct asm_place in_memory(enum gpr base, int32_t at) {
    return (struct asm_place){.kind = PLACE_MEMORY, .base = (uint8_t)base, .at = at};
}

/* name, map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2), W, opcode,
 * bytes in memory (of one element of a broadcast: 8 with W, else 4), vector length (0:
 * 128, 1: 256, 2: 512). Operands in Intel's order are (reg, second, rm), (reg, rm) where
 * ASM_TWO, (rm, reg) where ASM_STORE; an immediate byte follows where ASM_BYTE. */
#define ASM_VECTOR_OPS(X)                                                                \
    X(VADDPS, 1, 0, 0, 0x58, 64, 2, ASM_ROUND)                                           \
    X(VSUBPS, 1, 0, 0, 0x5c, 64, 2, ASM_ROUND)                                           \
    X(VMULPS, 1, 0, 0, 0x59, 64, 2, ASM_ROUND)                                           \
    X(VDIVPS, 1, 0, 0, 0x5e, 64, 2, ASM_ROUND)                                           \
    X(VSQRTPS, 1, 0, 0, 0x51, 64, 2, ASM_TWO | ASM_ROUND)                                \
    X(VADDPD, 1, 1, 1, 0x58, 64, 2, ASM_ROUND)                                           \
    X(VSUBPD, 1, 1, 1, 0x5c, 64, 2, ASM_ROUND)                                           \
    X(VMULPD, 1, 1, 1, 0x59, 64, 2, ASM_ROUND)                                           \
    X(VDIVPD, 1, 1, 1, 0x5e, 64, 2, ASM_ROUND)                                           \
    X(VFMADD213PS, 2, 1, 0, 0xa8, 64, 2, ASM_ROUND)                                      \
    X(VFMADD231PS, 2, 1, 0, 0xb8, 64, 2, ASM_ROUND)                                      \
    X(VFMADD213PD, 2, 1, 1, 0xa8, 64, 2, ASM_ROUND)                                      \
    X(VFMADD231PD, 2, 1, 1, 0xb8, 64, 2, ASM_ROUND)                                      \
    X(VSQRTPD, 1, 1, 1, 0x51, 64, 2, ASM_TWO | ASM_ROUND)                                \
    X(VRANGEPS, 3, 1, 0, 0x50, 64, 2, ASM_BYTE)                                          \
    X(VCMPPS, 1, 0, 0, 0xc2, 64, 2, ASM_BYTE | ASM_MASK)                                 \
    X(VCMPPD, 1, 1, 1, 0xc2, 64, 2, ASM_BYTE | ASM_MASK)                                 \
    X(VPCMPD, 3, 1, 0, 0x1f, 64, 2, ASM_BYTE | ASM_MASK)                                 \
    X(VPCMPUD, 3, 1, 0, 0x1e, 64, 2, ASM_BYTE | ASM_MASK)                                \
    X(VPCMPQ, 3, 1, 1, 0x1f, 64, 2, ASM_BYTE | ASM_MASK)                                 \
    X(VPCMPUQ, 3, 1, 1, 0x1e, 64, 2, ASM_BYTE | ASM_MASK)                                \
    X(VPTESTMD, 2, 1, 0, 0x27, 64, 2, ASM_MASK)                                          \
    X(VPADDD, 1, 1, 0, 0xfe, 64, 2, 0)                                                   \
    X(VPSUBD, 1, 1, 0, 0xfa, 64, 2, 0)                                                   \
    X(VPADDQ, 1, 1, 1, 0xd4, 64, 2, 0)                                                   \
    X(VPSUBQ, 1, 1, 1, 0xfb, 64, 2, 0)                                                   \
    X(VPMULLD, 2, 1, 0, 0x40, 64, 2, 0)                                                  \
    X(VPMULLQ, 2, 1, 1, 0x40, 64, 2, 0)                                                  \
    X(VPMULUDQ, 1, 1, 1, 0xf4, 64, 2, 0)                                                 \
    X(VPMULDQ, 2, 1, 1, 0x28, 64, 2, 0)                                                  \
    X(VPANDD, 1, 1, 0, 0xdb, 64, 2, 0)                                                   \
    X(VPANDND, 1, 1, 0, 0xdf, 64, 2, 0)                                                  \
    X(VPORD, 1, 1, 0, 0xeb, 64, 2, 0)                                                    \
    X(VPXORD, 1, 1, 0, 0xef, 64, 2, 0)                                                   \
    X(VPTERNLOGD, 3, 1, 0, 0x25, 64, 2, ASM_BYTE)                                        \
    X(VPSLLVD, 2, 1, 0, 0x47, 64, 2, 0)                                                  \
    X(VPSRLVD, 2, 1, 0, 0x45, 64, 2, 0)                                                  \
    X(VPSRAVD, 2, 1, 0, 0x46, 64, 2, 0)                                                  \
    X(VPSLLVQ, 2, 1, 1, 0x47, 64, 2, 0)                                                  \
    X(VPSRLVQ, 2, 1, 1, 0x45, 64, 2, 0)                                                  \
    X(VPSRAVQ, 2, 1, 1, 0x46, 64, 2, 0)                                                  \
    X(VPMINSD, 2, 1, 0, 0x39, 64, 2, 0)                                                  \
    X(VPMINUD, 2, 1, 0, 0x3b, 64, 2, 0)                                                  \
    X(VPMAXSD, 2, 1, 0, 0x3d, 64, 2, 0)                                                  \
    X(VPMAXUD, 2, 1, 0, 0x3f, 64, 2, 0)                                                  \
    X(VPMINSQ, 2, 1, 1, 0x39, 64, 2, 0)                                                  \
    X(VPMINUQ, 2, 1, 1, 0x3b, 64, 2, 0)                                                  \
    X(VPMAXSQ, 2, 1, 1, 0x3d, 64, 2, 0)                                                  \
    X(VPMAXUQ, 2, 1, 1, 0x3f, 64, 2, 0)                                                  \
    X(VPBLENDMD, 2, 1, 0, 0x64, 64, 2, 0)                                                \
    X(VPBLENDMQ, 2, 1, 1, 0x64, 64, 2, 0)                                                \
    X(VMAXPS, 1, 0, 0, 0x5f, 64, 2, 0)                                                   \
    X(VMINPS, 1, 0, 0, 0x5d, 64, 2, 0)                                                   \
    X(VRANGEPD, 3, 1, 1, 0x50, 64, 2, ASM_BYTE)                                          \
    X(VRNDSCALEPS, 3, 1, 0, 0x08, 64, 2, ASM_TWO | ASM_BYTE)                             \
    X(VRNDSCALEPD, 3, 1, 1, 0x09, 64, 2, ASM_TWO | ASM_BYTE)                             \
    X(VFPCLASSPS, 3, 1, 0, 0x66, 64, 2, ASM_TWO | ASM_BYTE | ASM_MASK)                   \
    X(VPCMPW, 3, 1, 1, 0x3f, 64, 2, ASM_BYTE | ASM_MASK | ASM_WHOLE)                     \
    X(VPCMPUW, 3, 1, 1, 0x3e, 64, 2, ASM_BYTE | ASM_MASK | ASM_WHOLE)                    \
    X(VPADDW, 1, 1, 0, 0xfd, 64, 2, ASM_WHOLE)                                           \
    X(VPSUBW, 1, 1, 0, 0xf9, 64, 2, ASM_WHOLE)                                           \
    X(VPMULLW, 1, 1, 0, 0xd5, 64, 2, ASM_WHOLE)                                          \
    X(VPXORQ, 1, 1, 1, 0xef, 64, 2, 0)                                                   \
    X(VPANDQ, 1, 1, 1, 0xdb, 64, 2, 0)                                                   \
    X(VPABSD, 2, 1, 0, 0x1e, 64, 2, ASM_TWO)                                             \
    X(VPABSQ, 2, 1, 1, 0x1f, 64, 2, ASM_TWO)                                             \
    X(VPLZCNTD, 2, 1, 0, 0x44, 64, 2, ASM_TWO)                                           \
    X(VPSHUFB, 2, 1, 0, 0x00, 64, 2, ASM_WHOLE)                                          \
    X(VPBLENDMW, 2, 1, 1, 0x66, 64, 2, ASM_WHOLE)                                        \
    X(VMOVDQU32, 1, 2, 0, 0x6f, 64, 2, ASM_TWO | ASM_WHOLE)                              \
    X(VMOVDQU32_STORE, 1, 2, 0, 0x7f, 64, 2, ASM_STORE | ASM_WHOLE)                      \
    X(VMOVDQU8_STORE, 1, 3, 0, 0x7f, 64, 2, ASM_STORE | ASM_WHOLE)                       \
    X(VMOVDQU64_STORE, 1, 2, 1, 0x7f, 64, 2, ASM_STORE | ASM_WHOLE)                      \
    X(VMOVDQU16_STORE, 1, 3, 1, 0x7f, 64, 2, ASM_STORE | ASM_WHOLE)                      \
    X(VPMOVSXDQ, 2, 1, 0, 0x25, 32, 2, ASM_TWO | ASM_HALF)                               \
    X(VPMOVZXDQ, 2, 1, 0, 0x35, 32, 2, ASM_TWO | ASM_HALF)                               \
    X(VPMOVZXWD, 2, 1, 0, 0x33, 32, 2, ASM_TWO | ASM_HALF)                               \
    X(VPMOVSXWD, 2, 1, 0, 0x23, 32, 2, ASM_TWO | ASM_HALF)                               \
    X(VPMOVDW, 2, 2, 0, 0x33, 32, 2, ASM_STORE | ASM_HALF)                               \
    X(VPMOVQD, 2, 2, 0, 0x35, 32, 2, ASM_STORE | ASM_HALF)                               \
    X(VEXTRACTI64X4, 3, 1, 1, 0x3b, 32, 2, ASM_STORE | ASM_HALF | ASM_BYTE)              \
    X(VINSERTI64X4, 3, 1, 1, 0x3a, 32, 2, ASM_HALF | ASM_BYTE)                           \
    X(VPBROADCASTD, 2, 1, 0, 0x58, 4, 2, ASM_TWO | ASM_ONE)                              \
    X(VPBROADCASTQ, 2, 1, 1, 0x59, 8, 2, ASM_TWO | ASM_ONE)                              \
    X(VPBROADCASTW, 2, 1, 0, 0x79, 2, 2, ASM_TWO | ASM_ONE)                              \
    X(VPERMD, 2, 1, 0, 0x36, 64, 2, 0)                                                   \
    X(VPERMQ, 2, 1, 1, 0x36, 64, 2, 0)                                                   \
    X(VPERMI2D, 2, 1, 0, 0x76, 64, 2, 0)                                                 \
    X(VPERMI2Q, 2, 1, 1, 0x76, 64, 2, 0)                                                 \
    X(VCVTDQ2PS, 1, 0, 0, 0x5b, 64, 2, ASM_TWO | ASM_ROUND)                              \
    X(VCVTUDQ2PS, 1, 3, 0, 0x7a, 64, 2, ASM_TWO | ASM_ROUND)                             \
    X(VCVTDQ2PD, 1, 2, 0, 0xe6, 32, 2, ASM_TWO | ASM_HALF)                               \
    X(VCVTUDQ2PD, 1, 2, 0, 0x7a, 32, 2, ASM_TWO | ASM_HALF)                              \
    X(VCVTPH2PS, 2, 1, 0, 0x13, 32, 2, ASM_TWO | ASM_HALF)                               \
    X(VCVTPS2PH, 3, 1, 0, 0x1d, 32, 2, ASM_STORE | ASM_HALF | ASM_BYTE)                  \
    X(VCVTPS2PD, 1, 0, 0, 0x5a, 32, 2, ASM_TWO | ASM_HALF)                               \
    X(VCVTPD2PS, 1, 1, 1, 0x5a, 64, 2, ASM_TWO | ASM_HALVES | ASM_ROUND)                 \
    X(VCVTTPS2DQ, 1, 2, 0, 0x5b, 64, 2, ASM_TWO)                                         \
    X(VCVTPS2DQ, 1, 1, 0, 0x5b, 64, 2, ASM_TWO | ASM_ROUND)                              \
    X(VCVTTPS2UDQ, 1, 0, 0, 0x78, 64, 2, ASM_TWO)                                        \
    X(VCVTPS2UDQ, 1, 0, 0, 0x79, 64, 2, ASM_TWO | ASM_ROUND)                             \
    X(VCVTQQ2PD, 1, 2, 1, 0xe6, 64, 2, ASM_TWO | ASM_ROUND)                              \
    X(VCVTUQQ2PD, 1, 2, 1, 0x7a, 64, 2, ASM_TWO | ASM_ROUND)                             \
    X(VCVTTPD2DQ, 1, 1, 1, 0xe6, 64, 2, ASM_TWO | ASM_HALVES)                            \
    X(VCVTTPD2UDQ, 1, 0, 1, 0x78, 64, 2, ASM_TWO | ASM_HALVES)                           \
    X(VPGATHERDD, 2, 1, 0, 0x90, 4, 2, ASM_TWO | ASM_VSIB)                               \
    X(VPGATHERDQ, 2, 1, 1, 0x90, 8, 2, ASM_TWO | ASM_VSIB | ASM_HALF)                    \
    X(VPSCATTERDD, 2, 1, 0, 0xa0, 4, 2, ASM_STORE | ASM_VSIB)                            \
    X(VPSCATTERDQ, 2, 1, 1, 0xa0, 8, 2, ASM_STORE | ASM_VSIB | ASM_HALF)                 \
    X(VMOVD_TO, 1, 1, 0, 0x7e, 4, 0, ASM_STORE | ASM_GPR)                                \
    X(VMOVQ_TO, 1, 1, 1, 0x7e, 8, 0, ASM_STORE | ASM_GPR)
#define ASM_BYTE 1  /* an immediate byte */
#define ASM_TWO 2   /* no second operand */
#define ASM_STORE 4 /* rm is the destination */
#define ASM_MASK 8  /* reg is a mask register */
#define ASM_HALF 16 /* rm is a ymm; of ASM_VSIB its index */
#define ASM_ONE 32  /* rm is an xmm */
#define ASM_GPR 64  /* rm is a general register, reg an xmm */
#define ASM_VSIB 128
#define ASM_HALVES 256 /* reg is a ymm */
#define ASM_WHOLE 512  /* memory is never broadcast; of ASM_STORE rm is memory */
#define ASM_ROUND 1024 /* rm may be PLACE_ROUNDED */

enum vector_op {
#define X(name, ...) name,
    ASM_VECTOR_OPS(X)
#undef X
        VECTOR_OPS
};
struct vector_form {
    const char *name;
    uint8_t map, prefix, w, opcode, bytes, length;
    uint16_t flags;
};
extern const struct vector_form vector_forms[VECTOR_OPS];

/* Masked by k1 … k7 (0: unmasked); masked-out elements keep their value. `immediate`: for
 * ASM_BYTE. */
void asm_vector_masked(struct assembler *a, enum vector_op op, unsigned reg,
                       unsigned second, struct asm_place rm, unsigned mask,
                       uint8_t immediate);
static inline void asm_vector(struct assembler *a, enum vector_op op, unsigned reg,
                              unsigned second, struct asm_place rm) {
    asm_vector_masked(a, op, reg, second, rm, 0, 0);
}
static inline void asm_vector_byte(struct assembler *a, enum vector_op op, unsigned reg,
                                   unsigned second, struct asm_place rm,
                                   uint8_t immediate) {
    asm_vector_masked(a, op, reg, second, rm, 0, immediate);
}

/* Masks; name, prefix, W, L, opcode. Operands (reg, rm), or (reg, second, rm). */
#define ASM_MASK_OPS(X)                                                                  \
    X(KORTESTB, 1, 0, 0, 0x98)                                                           \
    X(KORTESTW, 0, 0, 0, 0x98)                                                           \
    X(KMOVW_LOAD, 0, 0, 0, 0x90)                                                         \
    X(KMOVD_LOAD, 1, 1, 0, 0x90)                                                         \
    X(KMOVQ_LOAD, 0, 1, 0, 0x90)                                                         \
    X(KMOVD_TO, 3, 0, 0, 0x93)                                                           \
    X(KUNPCKWD, 0, 0, 1, 0x4b)                                                           \
    X(KUNPCKBW, 1, 0, 1, 0x4b)                                                           \
    X(KXNORW, 0, 0, 1, 0x46)                                                             \
    X(KORW, 0, 0, 1, 0x45)
enum mask_op {
#define X(name, ...) name,
    ASM_MASK_OPS(X)
#undef X
        MASK_OPS
};
void asm_mask(struct assembler *a, enum mask_op op, unsigned reg, unsigned second,
              struct asm_place rm);

/* Scalar; name, W, opcode bytes, digit of the opcode in reg or SCALAR_REG. */
#define SCALAR_REG 8
#define ASM_SCALAR_OPS(X)                                                                \
    X(MOV, 1, 0x8b, SCALAR_REG)                                                          \
    X(MOV_STORE, 1, 0x89, SCALAR_REG)                                                    \
    X(MOV_32, 0, 0x8b, SCALAR_REG)                                                       \
    X(MOV_STORE_32, 0, 0x89, SCALAR_REG)                                                 \
    X(LEA, 1, 0x8d, SCALAR_REG)                                                          \
    X(ADD, 1, 0x03, SCALAR_REG)                                                          \
    X(SUB, 1, 0x2b, SCALAR_REG)                                                          \
    X(CMP, 1, 0x3b, SCALAR_REG)                                                          \
    X(CMP_32, 0, 0x3b, SCALAR_REG)                                                       \
    X(AND_32, 0, 0x23, SCALAR_REG)                                                       \
    X(OR_32, 0, 0x0b, SCALAR_REG)                                                        \
    X(XOR_32, 0, 0x33, SCALAR_REG)                                                       \
    X(INC, 1, 0xff, 0)                                                                   \
    X(NOT_32, 0, 0xf7, 2)                                                                \
    X(CALL, 0, 0xff, 2)
enum scalar_op {
#define X(name, ...) name,
    ASM_SCALAR_OPS(X)
#undef X
        SCALAR_OPS
};
/* reg is ignored if the opcode has a digit. */
void asm_scalar(struct assembler *a, enum scalar_op op, enum gpr reg,
                struct asm_place rm);

/* With a constant: the shortest form. SHR takes 1 … 63. */
enum constant_op { ADD_C, AND_C, SUB_C, CMP_C, CMP_C_32, CMP_C_8, TEST_C_8, SHR_C };
void asm_constant(struct assembler *a, enum constant_op op, struct asm_place rm,
                  int32_t value);
void asm_load_constant(struct assembler *a, enum gpr reg, uint64_t value);
void asm_push(struct assembler *a, enum gpr reg);
void asm_pop(struct assembler *a, enum gpr reg);
void asm_return(struct assembler *a);
/* A prefetch hint for the cache line of the place. Any address is allowed. */
void asm_prefetch(struct assembler *a, struct asm_place place);
void asm_forget_uppers(struct assembler *a); /* vzeroupper */

enum condition {
    IF_BELOW = 2,
    IF_NOT_CARRY,
    IF_EQUAL,
    IF_NOT_EQUAL,
    IF_ABOVE = 7,
    ALWAYS = 16
};
/* Its target is set later by asm_land; returns its position. */
size_t asm_jump(struct assembler *a, enum condition condition);
/* Sets the jump's target to the next instruction. */
void asm_land(struct assembler *a, size_t jump);
