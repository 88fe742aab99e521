#pragma once
/* launch: the parameters of a kernel launch, and how a launch ends; the part of
 * machine.h's declarations that its state needs. */
#include "base/mem.h"

enum machine_memory {                            /* bits */
                      MACHINE_READ_ONLY = 1,     /* a write is input_modified */
                      MACHINE_UNINITIALIZED = 2, /* contents are poison until written */
                      MACHINE_OUTPUT =
                          /* machine_unwritten reports elements that were never written */
                      4,
};

struct machine_launch {
    const char *entry;                      /* mangled name */
    uint32_t grid[3], block[3], cluster[3]; /* cluster all 0 or 1: none */
    uint32_t dynamic_shared;
    bool cooperative;
    const void *params; /* the parameter block, natural alignment */
    size_t param_bytes;
    const char *label; /* the kernel's name in findings: its demangled name */
};
enum machine_end {
    MACHINE_DONE,
    /* a finding that would end a launch on a GPU, too: out of bounds, misaligned, trap,
     * assert */
    MACHINE_FAULT,
    MACHINE_DEADLOCK, /* nothing can progress; findings say what waits for what */
    MACHINE_BUDGET,   /* instructions are used up */
    MACHINE_REFUSED,  /* the launch itself is impossible: err says why */
    MACHINE_STOPPED,  /* machine_stop */
};
