#pragma once
/* cubin: per-kernel resources from an ELF file written by ptxas. Attribute numbers and
 * their meaning were measured against `ptxas -v` (docs/architecture/cubin.md describes
 * the format). The file is hostile: every offset is checked. */
#include "base/mem.h"

struct cubin_kernel {
    char *symbol;
    int registers; /* -1 = not stated, also below */
    int stack_bytes;
    /* without the amount that the architecture reserves per block */
    int static_shared_bytes;
    int barriers;
    int param_bytes, param_count;
    int max_threads; /* from __launch_bounds__, otherwise the architecture's 1024 */
    int required_threads[3]; /* .reqntid; 0 = none */
    int cluster[3];          /* explicit cluster size; 0 = none */
    size_t code_bytes;
};

struct cubin {
    int sm; /* 90 */
    struct cubin_kernel *kernels;
    size_t count;
    size_t functions; /* of relocatable code: callable functions that are not kernels */
};

int cubin_read(struct cubin *ret, const void *bytes, size_t len, struct err *err);
void cubin_finish(struct cubin *c);
