#pragma once
/* cuda_module: one compiled module on a device, and launches of its kernels. The cubin is
 * tried first, because it needs no compiler in the driver. If it does not load, the PTX
 * is tried; the messages of the driver's assembler are then part of the error. */
#include "gpu/driver/cuda_context.h"

struct cuda_module;

struct cuda_image {
    const void *cubin; /* may be NULL */
    size_t cubin_len;
    const char *ptx; /* NUL-terminated; may be NULL */
    size_t ptx_len;
};

/* Whether the device can run what this PTX was made for, as a cubin or recompiled. 0, or
 * -EINVAL with both named in err. */
int cuda_target_check(const struct cuda_device *device, const char *ptx, struct err *err);
/* Whether a driver of this version (13000) can read the output of the NVRTC that wrote
 * this PTX. It can load cubins of a newer minor version, and nothing of a newer major
 * version. 0, also if the PTX does not name its version, or -EINVAL with both versions in
 * err. */
int cuda_version_check(int driver_version, const char *ptx, struct err *err);
/* 0. -EINVAL: the module was made for another architecture than the device's, which err
 * names (c->code is CUDA_NO_BINARY_FOR_GPU); -EIO: the driver accepts neither; err has
 * its version, NVRTC's and the assembler's messages. */
int cuda_module_load(struct cuda_module **ret, struct cuda_context *c,
                     const struct cuda_image *image, struct err *err);
/* Also unloads it, unless the context is lost. NULL is fine. */
void cuda_module_free(struct cuda_module *m);
/* "cubin" or "ptx", whichever was loaded. */
const char *cuda_module_form(const struct cuda_module *m);
/* -ENOENT with a message. */
int cuda_module_global(struct cuda_module *m, const char *name, cuda_address *ret,
                       size_t *ret_bytes, struct err *err);
/* The kernel's parameters from the driver: returns their number and stores offset and
 * size of the first max; -ENOENT: no such kernel; -ENOSYS: the driver is older than
 * 12.4. */
int cuda_module_params(struct cuda_module *m, const char *entry, size_t *ret_offsets,
                       size_t *ret_bytes, size_t max);

struct cuda_shape {
    const char *entry, *label;              /* mangled, and the name for people */
    unsigned grid[3], block[3], cluster[3]; /* cluster all 0: none */
    unsigned shared_bytes;                  /* dynamic */
    bool cooperative;
};
/* A possible launch: all limits were checked, all attributes set. Must not be moved;
 * borrows the parameter block. */
struct cuda_prepared {
    const struct cuda_api *api;
    cuda_function_ref function;
    struct cuda_launch launch;
    struct cuda_launch_attribute attributes[2];
    void *extra[5];
    size_t param_bytes;
};
/* -ENOENT: no such kernel. -EINVAL: the launch is impossible; err names the limit and the
 * requested value, c->code is the code that the driver would return. -EIO. */
int cuda_module_prepare(struct cuda_module *m, const struct cuda_shape *shape,
                        void *params, size_t param_bytes, struct cuda_prepared *ret,
                        struct err *err);
/* Enqueues it; returns a CUDA code. Does not wait. */
int cuda_prepared_launch(struct cuda_prepared *p, cuda_stream_ref stream);
