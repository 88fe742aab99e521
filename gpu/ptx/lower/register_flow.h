#pragma once
/* register_flow: data flow of a function's registers, for each instruction.
 *
 * Forward over the basic blocks, until nothing changes: the set at the head of a block is
 * the union over all paths that lead there. */
#include "gpu/ptx/read/module.h"

struct register_flow {
    const struct ptx_function *function;
    uint32_t words; /* of a set of bits, whose meaning the caller defines */
    /* Applies an instruction to the set. Called more than once for most, with sets that
     * only grow. */
    void (*step)(const struct register_flow *flow, uint32_t at, uint64_t *set);
    void *data; /* for step */
};

/* entry: the set at the function's first instruction; NULL: empty. false: the function is
 * too large, or its sets do not converge: the result is incomplete. */
bool register_flow_run(const struct register_flow *flow, const uint64_t *entry);

/* The number of leading operands that the instruction writes, in each lane that it runs
 * for, without reading other lanes; 0 for other instructions. */
unsigned instruction_results(const struct ptx_instruction *i);
/* Has no results, and each lane reads its own registers only. */
bool instruction_only_reads(const struct ptx_instruction *i);
bool instruction_is_load(const struct ptx_instruction *i);
/* An operand's parts: itself, then those of its vector. */
uint32_t operand_parts(const struct ptx_operand *o);
/* The register of part k, or of its address; UINT32_MAX: none. */
uint32_t operand_register(const struct ptx_function *f, const struct ptx_operand *o,
                          uint32_t k);
