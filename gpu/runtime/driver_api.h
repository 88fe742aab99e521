#pragma once
/* driver_api: the functions of CUDA's driver that the library exports beside the
 * runtime's, over the same device and with the same numbers of errors. Those that do what
 * one of the runtime does, with the same arguments, are its twins (driver_twins.txt);
 * here are the others. There is one device and so one context: which is current is kept,
 * and no call is refused for lack of one. A stream or event of one interface is one of
 * the other. */
#include "gpu/runtime/registration.h"
#include "gpu/runtime/runtime.h"

struct context;
struct context_params;
struct linking;

/* ---- driver.c ---- */

EXPORT int cuInit(unsigned flags);
EXPORT int cuDeviceGet(int *ret, int ordinal);
EXPORT int cuDeviceGetName(char *ret, int size, int device);
EXPORT int cuDeviceTotalMem_v2(size_t *ret, int device);
EXPORT int cuDeviceComputeCapability(int *ret_major, int *ret_minor, int device);
EXPORT int cuDeviceGetUuid(char ret[16], int device);
EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *ret_flags, int *ret_active);
EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
EXPORT int cuCtxEnablePeerAccess(struct context *peer, unsigned flags);
EXPORT int cuCtxDisablePeerAccess(struct context *peer);
EXPORT int cuCtxCreate_v2(struct context **ret, unsigned flags, int device);
EXPORT int cuCtxCreate_v4(struct context **ret, const struct context_params *params,
                          unsigned flags, int device);
EXPORT int cuCtxDestroy_v2(struct context *c);
EXPORT int cuCtxSetCurrent(struct context *c);
EXPORT int cuCtxGetCurrent(struct context **ret);
EXPORT int cuCtxPushCurrent_v2(struct context *c);
EXPORT int cuCtxPopCurrent_v2(struct context **ret);
EXPORT int cuCtxGetDevice(int *ret);
EXPORT int cuDevicePrimaryCtxRetain(struct context **ret, int device);
EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
EXPORT int cuGetErrorName(int code, const char **ret);
EXPORT int cuGetErrorString(int code, const char **ret);
EXPORT int cuGetProcAddress_v2(const char *symbol, void **ret, int version,
                               uint64_t flags, int *ret_status);
EXPORT cudart_error cudaGetDriverEntryPoint(const char *symbol, void **ret,
                                            unsigned long long flags, int *ret_status);
EXPORT cudart_error cudaGetDriverEntryPointByVersion(const char *symbol, void **ret,
                                                     unsigned version,
                                                     unsigned long long flags,
                                                     int *ret_status);

/* ---- driver_modules.c ---- */

EXPORT int cuModuleLoad(struct fatbin_part **ret, const char *path);
EXPORT int cuModuleLoadData(struct fatbin_part **ret, const void *image);
EXPORT int cuModuleLoadDataEx(struct fatbin_part **ret, const void *image, unsigned count,
                              int *options, void **values);
EXPORT int cuModuleLoadFatBinary(struct fatbin_part **ret, const void *image);
EXPORT int cuModuleUnload(struct fatbin_part *p);
EXPORT int cuModuleGetFunction(const void **ret, struct fatbin_part *p, const char *name);
EXPORT int cuModuleGetGlobal_v2(uint64_t *ret, size_t *ret_bytes, struct fatbin_part *p,
                                const char *name);
EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values,
                           struct linking **ret);
EXPORT int cuLinkAddData_v2(struct linking *l, int kind, void *data, size_t bytes,
                            const char *name, unsigned count, int *options,
                            void **values);
EXPORT int cuLinkAddFile_v2(struct linking *l, int kind, const char *path, unsigned count,
                            int *options, void **values);
EXPORT int cuLinkComplete(struct linking *l, void **ret, size_t *ret_bytes);
EXPORT int cuLinkDestroy(struct linking *l);
EXPORT int cuOccupancyMaxPotentialBlockSize(int *ret_grid, int *ret_block,
                                            const void *function,
                                            size_t (*shared_of)(int), size_t shared,
                                            int limit);
/* A library is a module, and a kernel of it a function. */
EXPORT int cuKernelGetFunction(const void **ret, const void *kernel);
EXPORT int cuKernelSetAttribute(int attribute, int value, const void *kernel, int device);
EXPORT int cuFuncGetAttribute(int *ret, int attribute, const void *function);
EXPORT int cuLaunchKernel(const void *function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared, struct stream *s,
                          void **params, void **extra);
EXPORT int cuLaunchCooperativeKernel(const void *function, unsigned grid_x,
                                     unsigned grid_y, unsigned grid_z, unsigned block_x,
                                     unsigned block_y, unsigned block_z, unsigned shared,
                                     struct stream *s, void **params);

/* ---- driver_memory.c ---- */

EXPORT int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes);
EXPORT int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes);
EXPORT int cuMemcpyDtoD_v2(void *to, const void *from, size_t bytes);
EXPORT int cuMemcpy(void *to, const void *from, size_t bytes);
EXPORT int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes,
                                struct stream *s);
EXPORT int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes,
                                struct stream *s);
EXPORT int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t bytes,
                                struct stream *s);
EXPORT int cuMemcpyAsync(void *to, const void *from, size_t bytes, struct stream *s);
EXPORT int cuMemsetD8_v2(void *to, unsigned char value, size_t count);
EXPORT int cuMemsetD16_v2(void *to, unsigned short value, size_t count);
EXPORT int cuMemsetD32_v2(void *to, unsigned value, size_t count);
EXPORT int cuMemsetD32Async(void *to, unsigned value, size_t count, struct stream *s);
EXPORT int cuMemGetAddressRange_v2(uint64_t *ret, size_t *ret_bytes, uint64_t address);
EXPORT int cuPointerGetAttribute(void *ret, int attribute, uint64_t address);
EXPORT int cuPointerGetAttributes(unsigned count, const int *attributes, void **values,
                                  uint64_t address);
EXPORT int cuTensorMapEncodeTiled(void *ret, int type, unsigned rank, void *address,
                                  const uint64_t *dims, const uint64_t *strides,
                                  const uint32_t *box, const uint32_t *element_strides,
                                  int interleave, int swizzle, int l2_promotion,
                                  int out_of_bounds_fill);
EXPORT int cuTensorMapEncodeIm2col(void *ret, int type, unsigned rank, void *address,
                                   const uint64_t *dims, const uint64_t *strides,
                                   const int *lower, const int *upper, uint32_t channels,
                                   uint32_t pixels, const uint32_t *element_strides,
                                   int interleave, int swizzle, int l2_promotion,
                                   int out_of_bounds_fill);

/* ---- driver_copies.c ---- */

struct driver_side { /* of CUDA_MEMCPY3D */
    size_t x, y, z, level;
    int type;
    void *host;
    uint64_t device;
    struct array *array;
    void *reserved;
    size_t pitch, height;
};
struct driver_copy_3d {
    struct driver_side from, to;
    size_t width, height, depth;
};
struct driver_flat_side { /* of CUDA_MEMCPY2D */
    size_t x, y;
    int type;
    void *host;
    uint64_t device;
    struct array *array;
    size_t pitch;
};
struct driver_copy_2d {
    struct driver_flat_side from, to;
    size_t width, height;
};
struct driver_copy_node { /* CUDA_MEMCPY_NODE_PARAMS */
    int flags, reserved;
    struct context *context;
    struct driver_copy_3d copy;
};
struct driver_array { /* CUDA_ARRAY_DESCRIPTOR */
    size_t width, height;
    int format;
    unsigned channels;
};
struct driver_array_3d { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
struct driver_resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        struct array *array;
        struct {
            void *pointer;
            int format;
            unsigned channels;
            size_t width, height, pitch; /* of linear memory, the width is in bytes */
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
};
struct driver_texture { /* CUDA_TEXTURE_DESC */
    int address[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_min, mipmap_max, border[4];
    int reserved[12];
};
struct driver_launch { /* CUlaunchConfig */
    struct dim3 grid, block;
    unsigned shared;
    struct stream *stream;
    struct cudart_launch_attribute *attributes;
    unsigned attribute_count;
};
EXPORT int cuMemcpy3D_v2(const struct driver_copy_3d *c);
EXPORT int cuMemcpy3DAsync_v2(const struct driver_copy_3d *c, struct stream *s);
EXPORT int cuMemcpy2D_v2(const struct driver_copy_2d *c);
EXPORT int cuMemcpy2DAsync_v2(const struct driver_copy_2d *c, struct stream *s);
EXPORT int cuArrayCreate_v2(struct array **ret, const struct driver_array *d);
EXPORT int cuArray3DCreate_v2(struct array **ret, const struct driver_array_3d *d);
EXPORT int cuTexObjectCreate(unsigned long long *ret, const struct driver_resource *r,
                             const struct driver_texture *t, const void *view);
EXPORT int cuSurfObjectCreate(unsigned long long *ret, const struct driver_resource *r);
EXPORT int cuLaunchKernelEx(const struct driver_launch *c, const void *function,
                            void **params, void **extra);
EXPORT int cuOccupancyMaxActiveClusters(int *ret, const void *function,
                                        const struct driver_launch *c);
EXPORT int cuOccupancyMaxPotentialClusterSize(int *ret, const void *function,
                                              const struct driver_launch *c);
EXPORT int cuGraphAddMemcpyNode(struct node **ret, struct graph *g,
                                struct node *const *needs, size_t count,
                                const struct driver_copy_3d *c, struct context *context);
EXPORT int cuGraphMemcpyNodeSetParams(struct node *n, const struct driver_copy_3d *c);
EXPORT int cuGraphExecMemcpyNodeSetParams(struct graph *exec, struct node *n,
                                          const struct driver_copy_3d *c,
                                          struct context *context);
EXPORT int cuGraphAddNode_v2(struct node **ret, struct graph *g,
                             struct node *const *needs, const void *edges, size_t count,
                             struct cudart_node *p);
EXPORT int cuGraphConditionalHandleCreate(uint64_t *ret, struct graph *g,
                                          struct context *context, unsigned first,
                                          unsigned flags);

/* ---- virtual_memory.c ---- */

struct memory_location { /* CUmemLocation */
    int type, id;
};
struct memory_access { /* CUmemAccessDesc */
    struct memory_location where;
    int flags;
};
struct memory_properties { /* CUmemAllocationProp */
    int type, handle_types;
    struct memory_location where;
    void *windows;
    unsigned char compression, direct;
    unsigned short usage;
    unsigned char reserved[4];
};
EXPORT int cuMemGetAllocationGranularity(size_t *ret, const struct memory_properties *p,
                                         int option);
EXPORT int cuMemAddressReserve(uint64_t *ret, size_t bytes, size_t align, uint64_t hint,
                               uint64_t flags);
EXPORT int cuMemAddressFree(uint64_t address, size_t bytes);
EXPORT int cuMemCreate(uint64_t *ret, size_t bytes, const struct memory_properties *p,
                       uint64_t flags);
EXPORT int cuMemRelease(uint64_t handle);
EXPORT int cuMemRetainAllocationHandle(uint64_t *ret, void *address);
EXPORT int cuMemGetAllocationPropertiesFromHandle(struct memory_properties *ret,
                                                  uint64_t handle);
EXPORT int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
                    uint64_t flags);
EXPORT int cuMemUnmap(uint64_t address, size_t bytes);
EXPORT int cuMemSetAccess(uint64_t address, size_t bytes, const struct memory_access *list,
                          size_t count);
EXPORT int cuMemGetAccess(uint64_t *ret, const struct memory_location *where,
                          uint64_t address);
EXPORT int cuMemExportToShareableHandle(void *ret, uint64_t handle, int type,
                                        uint64_t flags);
EXPORT int cuMemImportFromShareableHandle(uint64_t *ret, void *shared, int type);
