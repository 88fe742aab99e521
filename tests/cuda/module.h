#pragma once
/* loaded: gpu/device's modules as handles of the driver, and their kernels. */
#include "gpu/device/module.h"
#include "tests/cuda/standin.h"

struct loaded {
    struct object object;
    struct module *module;
};

struct function {
    struct object object;
    struct loaded *of;
    struct kernel *kernel;
    int non_portable;
};

void modules_finish(void);
