#include "gpu/ptx/lower/byte_flow.h"

/* Of a shift by this many bits; left: towards higher bytes. */
static uint8_t bytes_shifted(unsigned size, uint8_t bytes, uint64_t bits, bool left) {
    unsigned all = (1u << size) - 1;
    if (bits % 8) {
        return BYTE_FLOW_ALL;
    }
    return bits >= 8 * size
               ? 0
               : (uint8_t)(left ? bytes << bits / 8 & all : (bytes & all) >> bits / 8);
}

uint8_t byte_flow_kept(const struct ptx_instruction *i, const struct ptx_operand *sources,
                       unsigned k, uint8_t bytes) {
    const struct ptx_operand *second = i->operand_count > 2 ? &sources[1] : NULL;
    bool by = second && second->kind == PTX_OPERAND_IMMEDIATE && k == 0;
    switch (i->opcode) {
    case PTX_OP_MOV:
    case PTX_OP_NOT:
    case PTX_OP_OR:
    case PTX_OP_XOR:
        return i->types[0] == PTX_PRED ? BYTE_FLOW_ALL : bytes;
    case PTX_OP_AND:
        for (unsigned b = 0; by && b < 8; b++) {
            bytes &= second->bits >> 8 * b & 0xff ? 0xff : (uint8_t) ~(1u << b);
        }
        return i->types[0] == PTX_PRED ? BYTE_FLOW_ALL : bytes;
    case PTX_OP_SELP:
        return k < 2 ? bytes : BYTE_FLOW_ALL;
    case PTX_OP_SHR:
    case PTX_OP_SHL:
        by = by && !ptx_type_signed(i->types[0]);
        return by ? bytes_shifted(ptx_type_bytes(i->types[0]), bytes, second->bits,
                                  i->opcode == PTX_OP_SHL)
                  : BYTE_FLOW_ALL;
    case PTX_OP_CVT: {
        bool whole = !ptx_type_float(i->types[0]) && !ptx_type_float(i->types[1]);
        unsigned least = ptx_type_bytes(i->types[0]) < ptx_type_bytes(i->types[1])
                             ? ptx_type_bytes(i->types[0])
                             : ptx_type_bytes(i->types[1]);
        uint8_t low = bytes & (uint8_t)((1u << least) - 1);
        return whole && (!low || !ptx_type_signed(i->types[1])) ? low : BYTE_FLOW_ALL;
    }
    default:
        return BYTE_FLOW_ALL;
    }
}

uint8_t byte_flow_moved(const struct ptx_instruction *i, const struct ptx_operand *to,
                        unsigned from, unsigned part, uint8_t bytes) {
    unsigned size = i->opcode == PTX_OP_MOV ? ptx_type_bytes(i->types[0]) : 0;
    const struct ptx_operand *vector = part ? to : to + 1;
    if (part == 0 && from == 0) {
        return bytes;
    }
    if (size > 8 || size == 0 || vector->count == 0) {
        return BYTE_FLOW_ALL;
    }
    size /= vector->count;
    return part ? (uint8_t)(bytes >> (part - 1) * size & ((1u << size) - 1))
                : (uint8_t)(bytes << (from - 1) * size);
}
