#pragma once
/* atomics: the arithmetic of atom, red and the reductions of bulk copies. */
#include "gpu/ptx/lower/lower.h"

enum atomic_operation {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
};

/* The operation of an instruction, or -1. */
int atomic_operation(const struct ptx_instruction *i);
/* Whether bulk copies have this reduction. */
bool atomic_reduces(unsigned operation, enum ptx_type type);
/* The new value of one element of type, on global memory. Not CAS. */
uint64_t atomic_combine(unsigned operation, enum ptx_type type, uint64_t old,
                        uint64_t value);

step_run step_atomic;
lower_family lower_atomic;
