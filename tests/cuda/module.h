#pragma once
/* module: PTX that was loaded, its kernels and variables. */
#include "tests/cuda/standin.h"

#include "gpu/ptx/machine/machine.h"

struct function {
    struct object object;
    struct module *module;
    const struct ptx_function *entry;
    uint64_t static_shared;
    int max_threads, max_dynamic, non_portable;
};

struct module {
    struct object object;
    struct ptx_module *ptx;
    struct machine *machine;
    size_t printed; /* bytes of what it printed that were taken */
    struct {
        const char *name;
        uint64_t address, bytes;
    } * extras; /* variables that no kernel uses */
    size_t extra_count;
};

void modules_finish(void);
