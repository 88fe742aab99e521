#pragma once
/* byte_flow: which bytes of an instruction's result come from which of a source's. Masks
 * have a bit per byte of a register of up to eight. */
#include "gpu/ptx/read/module.h"

#define BYTE_FLOW_ALL 0xff

/* Bytes of the result that depend on these of source k: of what works byte by byte the
 * same, of a shift by whole bytes others, of arithmetic all. */
uint8_t byte_flow_kept(const struct ptx_instruction *i, const struct ptx_operand *sources,
                       unsigned k, uint8_t bytes);
/* Then, of a mov between a register and a vector, those of part `part` of the result
 * `to`; the source follows it. Part 0 of either is the register itself. */
uint8_t byte_flow_moved(const struct ptx_instruction *i, const struct ptx_operand *to,
                        unsigned from, unsigned part, uint8_t bytes);
