#pragma once
/* api: what files of the library call of the functions that it exports for programs.
 *
 * NVIDIA's headers declare them all, and docs/guide/cuda-functions.md lists them. One that
 * no file here defines does not exist, so a program's undefined symbols show beforehand
 * which it lacks. */
#include "gpu/runtime/runtime.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- registration.c ---- */

EXPORT void __cudaUnregisterFatBinary(void **handle);

/* ---- launches: launches.c ---- */

EXPORT cudart_error cudaLaunchKernel(const void *kernel, struct dim3 grid,
                                     struct dim3 block, void **params, size_t shared,
                                     struct stream *stream);
EXPORT cudart_error cudaLaunchCooperativeKernel(const void *kernel, struct dim3 grid,
                                                struct dim3 block, void **params,
                                                size_t shared, struct stream *stream);
EXPORT cudart_error cudaLaunchKernelExC(const struct cudart_launch_config *c,
                                        const void *kernel, void **params);

/* ---- names and messages of errors: api_errors.c ---- */

EXPORT const char *cudaGetErrorName(cudart_error code);
EXPORT const char *cudaGetErrorString(cudart_error code);

/* ---- memory: allocations.c ---- */

EXPORT cudart_error cudaMemGetInfo(size_t *ret_free, size_t *ret_total);

/* ---- copies, fills, symbols: transfers.c ---- */

EXPORT cudart_error cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
EXPORT cudart_error cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                                    struct stream *s);
EXPORT cudart_error cudaMemset(void *to, int value, size_t bytes);

/* ---- streams, host functions: streams.c ---- */

EXPORT cudart_error cudaStreamSynchronize(struct stream *s);
EXPORT cudart_error cudaDeviceSynchronize(void);

/* ---- graphs: graph_calls.c ---- */

EXPORT cudart_error cudaGraphAddMemcpyNode(struct node **ret, struct graph *g,
                                           struct node *const *needs, size_t count,
                                           const struct cudart_copy_3d *p);
EXPORT cudart_error cudaGraphConditionalHandleCreate(uint64_t *ret, struct graph *handle,
                                                     unsigned first, unsigned flags);
EXPORT cudart_error cudaGraphAddNode(struct node **ret, struct graph *g,
                                     struct node *const *needs, const void *edges,
                                     size_t count, struct cudart_node *p);

/* ---- their nodes: graph_nodes.c ---- */

EXPORT cudart_error cudaGraphMemcpyNodeSetParams(struct node *n,
                                                 const struct cudart_copy_3d *p);
EXPORT cudart_error cudaGraphExecMemcpyNodeSetParams(struct graph *exec, struct node *n,
                                                     const struct cudart_copy_3d *p);

/* ---- arrays: arrays.c ---- */

EXPORT cudart_error cudaMallocArray(struct array **ret,
                                    const struct cudart_channels *channels, size_t width,
                                    size_t height, unsigned flags);
EXPORT cudart_error cudaMalloc3DArray(struct array **ret,
                                      const struct cudart_channels *channels,
                                      struct cudart_extent extent, unsigned flags);
EXPORT cudart_error cudaMemcpy3D(const struct cudart_copy_3d *c);
EXPORT cudart_error cudaMemcpy3DAsync(const struct cudart_copy_3d *c, struct stream *s);

/* ---- textures, surfaces: textures.c ---- */

EXPORT cudart_error cudaCreateTextureObject(unsigned long long *ret,
                                            const struct cudart_resource *resource,
                                            const struct cudart_texture *texture,
                                            const void *view);
EXPORT cudart_error cudaCreateSurfaceObject(unsigned long long *ret,
                                            const struct cudart_resource *resource);

/* ---- the device: devices.c ---- */

EXPORT cudart_error cudaGetDeviceProperties(struct cudart_device_prop *ret, int device);
EXPORT cudart_error cudaDeviceGetAttribute(int *ret, int attribute, int device);
EXPORT cudart_error cudaSetDeviceFlags(unsigned flags);
EXPORT cudart_error cudaGetDeviceFlags(unsigned *ret);

/* ---- kernels, occupancy: functions.c ---- */

EXPORT cudart_error cudaFuncGetAttributes(struct cudart_function_attributes *ret,
                                          const void *function);
EXPORT cudart_error cudaFuncSetAttribute(const void *function, int attribute, int value);
EXPORT cudart_error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ret,
                                                                  const void *function,
                                                                  int threads,
                                                                  size_t dynamic);
EXPORT cudart_error cudaOccupancyMaxPotentialClusterSize(
    int *ret, const void *function, const struct cudart_launch_config *c);
EXPORT cudart_error cudaOccupancyMaxActiveClusters(int *ret, const void *function,
                                                   const struct cudart_launch_config *c);
