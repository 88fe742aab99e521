#include "gpu/ptx/emit/registers.h"

#include "base/mem.h"

static void each_operand(const struct ptx_operand *operands, uint32_t count,
                         uint32_t instruction, register_named *named, void *data) {
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_operand *o = &operands[k];
        if (o->kind == PTX_OPERAND_REGISTER ||
            (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_BASE_REGISTER)) {
            named(o, instruction, data);
        }
    }
}

void code_each_register(const struct code *code, uint32_t instruction,
                        register_named *named, void *data) {
    const struct ptx_function *f = code->function;
    const struct ptx_instruction *i = &f->code[instruction];
    const struct ptx_operand *operands = &f->operands[i->operands];
    each_operand(operands, i->operand_count, instruction, named, data);
    for (uint32_t k = 0; k < i->operand_count; k++) {
        if (operands[k].kind == PTX_OPERAND_VECTOR ||
            operands[k].kind == PTX_OPERAND_ADDRESS) {
            each_operand(&f->elements[operands[k].first], operands[k].count, instruction,
                         named, data);
        }
    }
}

struct homes {
    const struct code *code;
    uint32_t *homes;
    uint32_t block;
};

static void home_add(struct homes *h, uint32_t reg) {
    uint32_t *home = &h->homes[h->code->registers[reg] / 64];
    *home = *home == 0 || *home == h->block + 1 ? h->block + 1 : UINT32_MAX;
}

static void operand_home(const struct ptx_operand *o, uint32_t instruction, void *data) {
    (void)instruction;
    home_add(data, o->index);
}

uint32_t *registers_homes(const struct program *program, const struct code *code) {
    struct homes h = {.code = code,
                      .homes = xcalloc(code->arena_bytes / 64 + 1, sizeof(uint32_t))};
    for (h.block = 0; h.block < program->block_count; h.block++) {
        const struct basic_block *b = &program->blocks[h.block];
        for (uint32_t k = 0; b->code == code->index && k < b->count; k++) {
            code_each_register(code, b->first + k, operand_home, &h);
        }
    }
    return h.homes;
}
