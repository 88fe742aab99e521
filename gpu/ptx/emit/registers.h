#pragma once
/* registers: which registers of a function an instruction names, and which of them only
 * one basic block knows. */
#include "gpu/ptx/state/program.h"

typedef void register_named(const struct ptx_operand *o, uint32_t instruction,
                            void *data);
/* Calls for each operand and element that is a register or an address with one. */
void code_each_register(const struct code *code, uint32_t instruction,
                        register_named *named, void *data);
/* By 64 bytes of the arena: 1 + the block whose instructions alone name the register
 * there, UINT32_MAX where several do, 0 where none. The caller frees. */
uint32_t *registers_homes(const struct program *program, const struct code *code);
