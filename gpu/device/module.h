#pragma once
/* module: a PTX module loaded into a device, with its kernels and variables. */
#include "gpu/device/device.h"

struct kernel {
    struct module *module;
    const struct ptx_function *entry;
    uint64_t static_shared;
    int max_threads;
    int max_dynamic; /* bytes of dynamic shared memory that a launch may ask for */
    bool ready;      /* lowered */
};

enum module_manners { /* bits */
                      MODULE_KNOWN = 1,
                      MODULE_TALKS = 2, /* has stores that the host may see at once */
                      MODULE_WAITS = 4, /* has loads that may poll */
};

struct module {
    struct device *device;
    struct ptx_module *ptx;
    struct machine *machine;
    struct kernel *kernels; /* by function; entry NULL: none */
    unsigned manners;       /* enum module_manners */
    size_t printed;         /* consumed bytes of its printf output */
};

/* Loads a module for the rest of the process. -EINVAL: not PTX; -ENOTSUP: unknown
 * syntax; see err. One call at a time; kernels may be running. */
int module_new(struct module **ret, struct device *d, const char *text, size_t len,
               struct err *err);
struct kernel *module_kernel(struct module *m, const char *name); /* NULL: none */
/* Lowers the kernel, once. -ENOTSUP with *ret_unsupported as for machine_new. One call at
 * a time; kernels may be running. */
int kernel_prepare(struct kernel *k, json_t **ret_unsupported, struct err *err);
/* The allocation of a __device__, __constant__ or __managed__ variable; NULL: none. One
 * call at a time; kernels may be running. */
struct allocation *module_variable(struct module *m, const char *name);

struct launch_shape {
    uint32_t grid[3], block[3], cluster[3], shared_bytes;
    bool cooperative;
};
/* The size of a launch's parameters, padded for wide loads past the end. */
static inline size_t kernel_param_bytes(const struct kernel *k) {
    return k->entry->param_bytes + 16;
}
/* Packs parameters from an array of pointers into kernel_param_bytes() zeroed bytes. */
void kernel_pack(const struct kernel *k, void *const *params, uint8_t *ret);
/* Executes the launch. The queue's turn. */
enum machine_end kernel_launch(struct kernel *k, const struct launch_shape *shape,
                               const void *params, struct err *err);
