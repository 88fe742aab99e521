#pragma once
/* registers: the registers of a function that an instruction names, and those that only
 * one basic block uses. */
#include "gpu/ptx/state/program.h"

typedef void register_named(const struct ptx_operand *o, uint32_t instruction,
                            void *data);
/* Calls for each operand and element that is a register or an address with one. */
void code_each_register(const struct code *code, uint32_t instruction,
                        register_named *named, void *data);
/* By 64 bytes of the arena: 1 + the only block whose instructions name the register
 * there, UINT32_MAX if there are several, 0 if none. The caller frees. */
uint32_t *registers_homes(const struct program *program, const struct code *code);
