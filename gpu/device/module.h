#pragma once
/* module: a PTX text that was loaded into a device, its kernels and variables. */
#include "gpu/device/device.h"

struct kernel {
    struct module *module;
    const struct ptx_function *entry;
    uint64_t static_shared;
    int max_threads;
    int max_dynamic; /* bytes of dynamic shared memory that a launch may ask for */
    bool ready;      /* its steps are made */
};

enum module_manners { /* bits */
                      MODULE_KNOWN = 1,
                      MODULE_TALKS = 2, /* stores that the host may see at once */
                      MODULE_WAITS = 4, /* loads that may wait for somebody */
};

struct module {
    struct device *device;
    struct ptx_module *ptx;
    struct machine *machine;
    struct kernel *kernels; /* by function; entry NULL: none */
    unsigned manners;       /* enum module_manners */
    size_t printed;         /* bytes of what it printed that were taken */
};

/* For the rest of the process. -EINVAL: no PTX, -ENOTSUP: words that cannot be read; err
 * says which. One at a time, also while kernels run. */
int module_new(struct module **ret, struct device *d, const char *text, size_t len,
               struct err *err);
struct kernel *module_kernel(struct module *m, const char *name); /* NULL: none */
/* Makes its steps, once. -ENOTSUP and what cannot run, as machine_new has it. One at
 * a time, also while kernels run. */
int kernel_prepare(struct kernel *k, json_t **ret_unsupported, struct err *err);
/* Of a __device__, __constant__ or __managed__ variable, used or not; NULL: none. One
 * at a time, also while kernels run. */
struct allocation *module_variable(struct module *m, const char *name);

struct launch_shape {
    uint32_t grid[3], block[3], cluster[3], shared_bytes;
    bool cooperative;
};
/* Of a launch's parameters, with room for wide loads behind them. */
static inline size_t kernel_param_bytes(const struct kernel *k) {
    return k->entry->param_bytes + 16;
}
/* Parameters from an array of pointers, into kernel_param_bytes() zeros. */
void kernel_pack(const struct kernel *k, void *const *params, uint8_t *ret);
/* Carries it out. The queue's turn. */
enum machine_end kernel_launch(struct kernel *k, const struct launch_shape *shape,
                               const void *params, struct err *err);
