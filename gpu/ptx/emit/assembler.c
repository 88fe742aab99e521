#include "gpu/ptx/emit/assembler.h"

const struct vector_form vector_forms[VECTOR_OPS] = {
#define X(name, ...) {#name, __VA_ARGS__},
    ASM_VECTOR_OPS(X)
#undef X
};

static void put(struct assembler *a, uint8_t byte) {
    if (a->size == a->room) {
        a->full = true;
        return;
    }
    a->bytes[a->size++] = byte;
}

static void put_32(struct assembler *a, uint32_t v) {
    for (unsigned k = 0; k < 4; k++) {
        put(a, (uint8_t)(v >> (8 * k)));
    }
}

/* ModRM, SIB and displacement. `scale`: what a displacement of one byte counts in. */
static void put_place(struct assembler *a, unsigned reg, struct asm_place p,
                      unsigned scale) {
    unsigned low = p.base & 7;
    if (p.kind == PLACE_REGISTER || p.kind == PLACE_ROUNDED) {
        put(a, (uint8_t)(0xc0 | (reg & 7) << 3 | low));
        return;
    }
    int32_t unit = (int32_t)scale, steps = p.at / unit;
    bool none = p.at == 0 && low != RBP;
    bool byte = p.at % unit == 0 && steps >= INT8_MIN && steps <= INT8_MAX;
    unsigned mod = none ? 0 : byte ? 1 : 2;
    bool sib = p.kind == PLACE_INDEXED || low == RSP;
    put(a, (uint8_t)(mod << 6 | (reg & 7) << 3 | (sib ? 4 : low)));
    if (sib) {
        unsigned index = p.kind == PLACE_INDEXED ? p.index & 7u : 4u;
        put(a, (uint8_t)(index << 3 | low));
    }
    if (mod == 1) {
        put(a, (uint8_t)steps);
    } else if (mod == 2) {
        put_32(a, (uint32_t)p.at);
    }
}

/* ---- EVEX ---- */

void asm_vector_masked(struct assembler *a, enum vector_op op, unsigned reg,
                       unsigned second, struct asm_place rm, unsigned mask,
                       uint8_t immediate) {
    const struct vector_form *f = &vector_forms[op];
    bool rounded = rm.kind == PLACE_ROUNDED, broadcast = rm.kind == PLACE_BROADCAST;
    unsigned index = rm.kind == PLACE_INDEXED ? rm.index : 0;
    /* The bits that extend rm: of a register 3 and 4, of memory the base's 3, the index's
     * 3 and, in V', 4. */
    unsigned x = rm.kind == PLACE_REGISTER || rounded ? rm.base >> 4 : index >> 3;
    unsigned high = rm.kind == PLACE_INDEXED ? index >> 4 : second >> 4;
    put(a, 0x62);
    put(a, (uint8_t)((~reg >> 3 & 1) << 7 | (~x & 1) << 6 | (~rm.base >> 3 & 1) << 5 |
                     (~reg >> 4 & 1) << 4 | f->map));
    put(a, (uint8_t)(f->w << 7 | (~second & 15) << 3 | 4 | f->prefix));
    unsigned length = rounded ? rm.index : f->length;
    put(a, (uint8_t)(length << 5 | (unsigned)(broadcast || rounded) << 4 |
                     (~high & 1) << 3 | mask));
    put(a, f->opcode);
    put_place(a, reg, rm, broadcast ? 4u << f->w : f->bytes);
    if (f->flags & ASM_BYTE) {
        put(a, immediate);
    }
}

/* ---- VEX ---- */

static const struct {
    uint8_t prefix, w, length, opcode;
} mask_forms[MASK_OPS] = {
#define X(name, ...) {__VA_ARGS__},
    ASM_MASK_OPS(X)
#undef X
};

void asm_mask(struct assembler *a, enum mask_op op, unsigned reg, unsigned second,
              struct asm_place rm) {
    unsigned w = mask_forms[op].w, r = ~reg >> 3 & 1, b = ~rm.base >> 3 & 1;
    uint8_t tail = (uint8_t)((~second & 15) << 3 | (unsigned)mask_forms[op].length << 2 |
                             mask_forms[op].prefix);
    if (w == 0 && b == 1) {
        put(a, 0xc5);
        put(a, (uint8_t)(r << 7 | tail));
    } else {
        put(a, 0xc4);
        put(a, (uint8_t)(r << 7 | 1 << 6 | b << 5 | 1));
        put(a, (uint8_t)(w << 7 | tail));
    }
    put(a, mask_forms[op].opcode);
    put_place(a, reg, rm, 1);
}

void asm_forget_uppers(struct assembler *a) {
    put(a, 0xc5);
    put(a, 0xf8);
    put(a, 0x77);
}

/* ---- scalar ---- */

static void put_rex(struct assembler *a, unsigned w, unsigned reg, unsigned base) {
    unsigned rex = w << 3 | (reg >> 3) << 2 | base >> 3;
    if (rex) {
        put(a, (uint8_t)(0x40 | rex));
    }
}

static const struct {
    uint8_t w, opcode, digit;
} scalar_forms[SCALAR_OPS] = {
#define X(name, ...) {__VA_ARGS__},
    ASM_SCALAR_OPS(X)
#undef X
};

void asm_scalar(struct assembler *a, enum scalar_op op, enum gpr reg,
                struct asm_place rm) {
    unsigned digit = scalar_forms[op].digit;
    unsigned number = digit == SCALAR_REG ? (unsigned)reg : digit;
    put_rex(a, scalar_forms[op].w, number, rm.base);
    put(a, scalar_forms[op].opcode);
    put_place(a, number, rm, 1);
}

/* Opcode with 32 bits, with a byte (0: none), digit, W. A constant of bytes alone is the
 * form with a byte. */
static const struct {
    uint8_t opcode, byte, digit, w;
} constant_forms[] = {
    [ADD_C] = {0x81, 0x83, 0, 1},    [AND_C] = {0x81, 0x83, 4, 1},
    [SUB_C] = {0x81, 0x83, 5, 1},    [CMP_C] = {0x81, 0x83, 7, 1},
    [CMP_C_32] = {0x81, 0x83, 7, 0}, [CMP_C_8] = {0, 0x80, 7, 0},
    [TEST_C_8] = {0, 0xf6, 0, 0},    [SHR_C] = {0, 0xc1, 5, 1},
};

void asm_constant(struct assembler *a, enum constant_op op, struct asm_place rm,
                  int32_t value) {
    bool byte =
        constant_forms[op].opcode == 0 || (value >= INT8_MIN && value <= INT8_MAX);
    put_rex(a, constant_forms[op].w, 0, rm.base);
    put(a, byte ? constant_forms[op].byte : constant_forms[op].opcode);
    put_place(a, constant_forms[op].digit, rm, 1);
    if (byte) {
        put(a, (uint8_t)value);
    } else {
        put_32(a, (uint32_t)value);
    }
}

void asm_load_constant(struct assembler *a, enum gpr reg, uint64_t value) {
    put_rex(a, 1, 0, reg);
    put(a, (uint8_t)(0xb8 | (reg & 7)));
    put_32(a, (uint32_t)value);
    put_32(a, (uint32_t)(value >> 32));
}

void asm_push(struct assembler *a, enum gpr reg) {
    put_rex(a, 0, 0, reg);
    put(a, (uint8_t)(0x50 | (reg & 7)));
}

void asm_pop(struct assembler *a, enum gpr reg) {
    put_rex(a, 0, 0, reg);
    put(a, (uint8_t)(0x58 | (reg & 7)));
}

void asm_return(struct assembler *a) {
    put(a, 0xc3);
}

void asm_prefetch(struct assembler *a, struct asm_place place) {
    put_rex(a, 0, 0, place.base);
    put(a, 0x0f);
    put(a, 0x18);
    put_place(a, 1, place, 1);
}

size_t asm_jump(struct assembler *a, enum condition condition) {
    if (condition == ALWAYS) {
        put(a, 0xe9);
    } else {
        put(a, 0x0f);
        put(a, (uint8_t)(0x80 | condition));
    }
    put_32(a, 0);
    return a->size;
}

void asm_land(struct assembler *a, size_t jump) {
    if (!a->full) {
        uint32_t distance = (uint32_t)(a->size - jump);
        memcpy(a->bytes + jump - 4, &distance, sizeof distance);
    }
}
