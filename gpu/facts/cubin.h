#pragma once
/* cubin: per-kernel resources from an ELF that ptxas wrote.
 *
 * Attribute numbers and their meaning were measured against `ptxas -v` (the notes on the
 * format are in docs/architecture/cubin.md). The file is read as hostile bytes: every
 * offset is checked. */
#include <stddef.h>
#include <stdint.h>

struct err;

struct cubin_kernel {
    char *symbol;
    int registers; /* -1 = not stated, likewise below */
    int stack_bytes;
    int static_shared_bytes; /* without what the architecture reserves per block */
    int barriers;
    int param_bytes, param_count;
    int max_threads;         /* from __launch_bounds__, else the architecture's 1024 */
    int required_threads[3]; /* .reqntid; 0 = none */
    int cluster[3];          /* explicit cluster size; 0 = none */
    size_t code_bytes;
};

struct cubin {
    int sm; /* 90 */
    struct cubin_kernel *kernels;
    size_t count;
    size_t functions; /* of relocatable code: callable ones that are no kernels */
};

int cubin_read(struct cubin *ret, const void *bytes, size_t len, struct err *err);
void cubin_finish(struct cubin *c);
