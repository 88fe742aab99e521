#pragma once
/* registers: the registers of a function that an instruction names, those that only one
 * basic block uses, and those that hold one number for all lanes. */
#include "gpu/ptx/state/program.h"

typedef void register_named(const struct ptx_operand *o, uint32_t instruction,
                            void *data);
/* Calls for each operand and element that is a register or an address with one. */
void code_each_register(const struct code *code, uint32_t instruction,
                        register_named *named, void *data);
/* By 64 bytes of the arena: 1 + the only block whose instructions name the register
 * there, UINT32_MAX if there are several, 0 if none. The caller frees. */
uint32_t *registers_homes(const struct program *program, const struct code *code);
/* By 64 bytes of the arena: the register there has the same value in all lanes that have
 * written it, and none reads it before: only one instruction writes it, from the launch's
 * parameters, constants, and other such registers. The caller frees. */
bool *registers_invariant(const struct program *program, const struct code *code);
