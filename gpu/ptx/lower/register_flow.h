#pragma once
/* register_flow: what may hold of a function's registers where each instruction stands.
 *
 * Forward over the basic blocks, until nothing changes: at the head of a block stands the
 * union of what any path that leads there brings. */
#include "gpu/ptx/read/module.h"

struct register_flow {
    const struct ptx_function *function;
    uint32_t words; /* of a set of bits: the caller says what each means */
    /* What an instruction makes of the set. Called more than once for most, with sets
     * that only grow. */
    void (*step)(const struct register_flow *flow, uint32_t at, uint64_t *set);
    void *data; /* the step's own */
};

/* entry: the set at the function's first instruction; NULL: empty. false: the function is
 * too large, or its sets do not settle: what was seen is not all. */
bool register_flow_run(const struct register_flow *flow, const uint64_t *entry);

/* Operands that come first and are written, in each lane that it runs for, by an
 * instruction that looks at no other lane; 0: another one. */
unsigned instruction_results(const struct ptx_instruction *i);
bool instruction_is_load(const struct ptx_instruction *i);
/* An operand's parts: itself, then those of its vector. */
uint32_t operand_parts(const struct ptx_operand *o);
/* The register of part k, or of its address; UINT32_MAX: none. */
uint32_t operand_register(const struct ptx_function *f, const struct ptx_operand *o,
                          uint32_t k);
