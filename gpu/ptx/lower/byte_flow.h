#pragma once
/* byte_flow: the bytes of a source that each byte of an instruction's result comes from.
 * Masks have a bit per byte of a register of up to eight. */
#include "gpu/ptx/read/module.h"

#define BYTE_FLOW_ALL 0xff

/* The bytes of the result that depend on these bytes of source k: the same for bytewise
 * operations, shifted for shifts by whole bytes, all for arithmetic. */
uint8_t byte_flow_kept(const struct ptx_instruction *i, const struct ptx_operand *sources,
                       unsigned k, uint8_t bytes);
/* Then, of a mov between a register and a vector, those of part `part` of the result
 * `to`; the source follows it. Part 0 of either is the register itself. */
uint8_t byte_flow_moved(const struct ptx_instruction *i, const struct ptx_operand *to,
                        unsigned from, unsigned part, uint8_t bytes);
