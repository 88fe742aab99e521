#pragma once
/* api: the functions of CUDA 13's runtime that the library exports, as NVIDIA's
 * documentation defines them. Functions not declared here do not exist, so a program's
 * undefined symbols show beforehand which it lacks. */
#include "gpu/runtime/runtime.h"

/* ---- handles of cuBLAS: cublas.c ---- */

struct blas;
EXPORT int cublasCreate_v2(struct blas **ret);
EXPORT int cublasDestroy_v2(struct blas *b);
EXPORT int cublasLtCreate(struct blas **ret);
EXPORT int cublasLtDestroy(struct blas *b);
EXPORT int cublasSetStream_v2(struct blas *b, struct stream *s);
EXPORT int cublasGetStream_v2(struct blas *b, struct stream **ret);
EXPORT int cublasSetPointerMode_v2(struct blas *b, int mode);
EXPORT int cublasSetWorkspace_v2(struct blas *b, void *workspace, size_t bytes);
EXPORT int cublasSetMathMode(struct blas *b, int mode);
EXPORT int cublasGetMathMode(struct blas *b, int *ret);
EXPORT const char *cublasGetStatusName(int status);
EXPORT const char *cublasGetStatusString(int status);

/* ---- called by the constructors that nvcc generates: registration.c ---- */

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
EXPORT void __cudaUnregisterFatBinary(void **handle);
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device,
                                   const char *name, int thread_limit, void *tid,
                                   void *bid, void *block, void *grid, int *warp);
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                              int is_extern, size_t bytes, int constant, int global);
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device,
                                     const char *name, int is_extern, size_t bytes,
                                     int constant, int global);
EXPORT char __cudaInitModule(void **handle);
EXPORT cudart_error __cudaGetKernel(void **ret, const void *host);

/* ---- launches: launches.c ---- */

EXPORT unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block,
                                            size_t shared, struct stream *stream);
EXPORT cudart_error __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block,
                                               size_t *shared, void *stream);
EXPORT cudart_error __cudaLaunchKernel(const void *kernel, struct dim3 grid,
                                       struct dim3 block, void **params, size_t shared,
                                       struct stream *stream);
EXPORT cudart_error cudaLaunchKernel(const void *kernel, struct dim3 grid,
                                     struct dim3 block, void **params, size_t shared,
                                     struct stream *stream);
EXPORT cudart_error cudaLaunchCooperativeKernel(const void *kernel, struct dim3 grid,
                                                struct dim3 block, void **params,
                                                size_t shared, struct stream *stream);
EXPORT cudart_error cudaLaunchKernelExC(const struct cudart_launch_config *c,
                                        const void *kernel, void **params);

/* ---- the last error: runtime.c ---- */

EXPORT cudart_error cudaGetLastError(void);
EXPORT cudart_error cudaPeekAtLastError(void);

/* ---- names and messages of errors: api_errors.c ---- */

EXPORT const char *cudaGetErrorName(cudart_error code);
EXPORT const char *cudaGetErrorString(cudart_error code);

/* ---- memory: allocations.c ---- */

EXPORT cudart_error cudaMalloc(void **ret, size_t bytes);
EXPORT cudart_error cudaMallocManaged(void **ret, size_t bytes, unsigned flags);
EXPORT cudart_error cudaMallocHost(void **ret, size_t bytes);
EXPORT cudart_error cudaHostAlloc(void **ret, size_t bytes, unsigned flags);
EXPORT cudart_error cudaMallocPitch(void **ret, size_t *ret_pitch, size_t width,
                                    size_t height);
EXPORT cudart_error cudaMalloc3D(struct cudart_pitched *ret, struct cudart_extent extent);
EXPORT cudart_error cudaFree(void *address);
EXPORT cudart_error cudaDeviceReset(void);
EXPORT cudart_error cudaFreeHost(void *address);
EXPORT cudart_error cudaHostRegister(void *host, size_t bytes, unsigned flags);
EXPORT cudart_error cudaHostUnregister(void *host);
EXPORT cudart_error cudaHostGetDevicePointer(void **ret, void *host, unsigned flags);
EXPORT cudart_error cudaHostGetFlags(unsigned *ret, void *host);
EXPORT cudart_error cudaPointerGetAttributes(struct cudart_pointer_attributes *ret,
                                             const void *address);
EXPORT cudart_error cudaMemGetInfo(size_t *ret_free, size_t *ret_total);

/* ---- advice.c ---- */

EXPORT cudart_error cudaMemPrefetchAsync(const void *address, size_t bytes,
                                         uint64_t location, unsigned flags,
                                         struct stream *s);
EXPORT cudart_error cudaMemAdvise(const void *address, size_t bytes, int advice,
                                  uint64_t location);
EXPORT cudart_error cudaMemRangeGetAttribute(void *ret, size_t room, int attribute,
                                             const void *address, size_t bytes);
EXPORT cudart_error cudaMemRangeGetAttributes(void **ret, size_t *rooms,
                                              const int *attributes, size_t count,
                                              const void *address, size_t bytes);
/* As cuda.h of CUDA 12 declares them: with a device's number, or -1 for the host. */
EXPORT int cuMemPrefetchAsync(const void *address, size_t bytes, int device,
                              struct stream *s);
EXPORT int cuMemAdvise(const void *address, size_t bytes, int advice, int device);

/* ---- copies, fills, symbols: transfers.c ---- */

EXPORT cudart_error cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
EXPORT cudart_error cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                                    struct stream *s);
EXPORT cudart_error cudaMemcpy2D(void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t height,
                                 int kind);
EXPORT cudart_error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                      size_t from_pitch, size_t width, size_t height,
                                      int kind, struct stream *s);
EXPORT cudart_error cudaMemcpyPeer(void *to, int to_device, const void *from,
                                   int from_device, size_t bytes);
EXPORT cudart_error cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                        int from_device, size_t bytes, struct stream *s);
EXPORT cudart_error cudaMemset(void *to, int value, size_t bytes);
EXPORT cudart_error cudaMemsetAsync(void *to, int value, size_t bytes, struct stream *s);
EXPORT cudart_error cudaMemset2D(void *to, size_t pitch, int value, size_t width,
                                 size_t height);
EXPORT cudart_error cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                      size_t height, struct stream *s);
EXPORT cudart_error cudaMemset3D(struct cudart_pitched to, int value,
                                 struct cudart_extent extent);
EXPORT cudart_error cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                       size_t offset, int kind);
EXPORT cudart_error cudaMemcpyToSymbolAsync(const void *symbol, const void *from,
                                            size_t bytes, size_t offset, int kind,
                                            struct stream *s);
EXPORT cudart_error cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                         size_t offset, int kind);
EXPORT cudart_error cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                              size_t offset, int kind, struct stream *s);
EXPORT cudart_error cudaGetSymbolAddress(void **ret, const void *symbol);
EXPORT cudart_error cudaGetSymbolSize(size_t *ret, const void *symbol);

/* ---- streams, host functions: streams.c ---- */

EXPORT cudart_error cudaStreamCreate(struct stream **ret);
EXPORT cudart_error cudaStreamCreateWithFlags(struct stream **ret, unsigned flags);
EXPORT cudart_error cudaStreamCreateWithPriority(struct stream **ret, unsigned flags,
                                                 int priority);
EXPORT cudart_error cudaStreamDestroy(struct stream *s);
EXPORT cudart_error cudaStreamSynchronize(struct stream *s);
EXPORT cudart_error cudaStreamQuery(struct stream *s);
EXPORT cudart_error cudaStreamGetPriority(struct stream *s, int *ret);
EXPORT cudart_error cudaStreamGetFlags(struct stream *s, unsigned *ret);
EXPORT cudart_error cudaStreamGetId(struct stream *s, unsigned long long *ret);
EXPORT cudart_error cudaStreamGetDevice(struct stream *s, int *ret);
EXPORT cudart_error cudaDeviceSynchronize(void);
EXPORT cudart_error cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest);
EXPORT cudart_error cudaStreamSetAttribute(struct stream *s, int attribute,
                                           const void *value);
EXPORT cudart_error cudaStreamAttachMemAsync(struct stream *s, void *address,
                                             size_t bytes, unsigned flags);
EXPORT cudart_error cudaLaunchHostFunc(struct stream *s, void (*function)(void *),
                                       void *data);
EXPORT cudart_error cudaStreamAddCallback(struct stream *s,
                                          void (*callback)(struct stream *, cudart_error,
                                                           void *),
                                          void *data, unsigned flags);
EXPORT cudart_error cudaStreamBeginCapture(struct stream *s, int mode);
EXPORT cudart_error cudaStreamEndCapture(struct stream *s, struct graph **ret);
EXPORT cudart_error cudaStreamIsCapturing(struct stream *s, int *ret);
EXPORT cudart_error cudaStreamGetCaptureInfo(struct stream *s, int *ret,
                                             unsigned long long *ret_id,
                                             struct graph **ret_graph,
                                             struct node *const **ret_tips,
                                             const void **ret_edges, size_t *ret_count);
EXPORT cudart_error cudaStreamBeginCaptureToGraph(struct stream *s, struct graph *into,
                                                  struct node *const *needs,
                                                  const void *edges, size_t count,
                                                  int mode);
EXPORT cudart_error cudaStreamUpdateCaptureDependencies(struct stream *s,
                                                        struct node *const *needs,
                                                        const void *edges, size_t count,
                                                        unsigned flags);
EXPORT cudart_error cudaThreadExchangeStreamCaptureMode(int *mode);

/* ---- events: events.c ---- */

EXPORT cudart_error cudaEventCreate(struct event **ret);
EXPORT cudart_error cudaEventCreateWithFlags(struct event **ret, unsigned flags);
EXPORT cudart_error cudaEventDestroy(struct event *e);
EXPORT cudart_error cudaEventRecord(struct event *e, struct stream *s);
EXPORT cudart_error cudaEventRecordWithFlags(struct event *e, struct stream *s,
                                             unsigned flags);
EXPORT cudart_error cudaEventSynchronize(struct event *e);
EXPORT cudart_error cudaEventQuery(struct event *e);
EXPORT cudart_error cudaEventElapsedTime(float *ret_ms, struct event *from,
                                         struct event *to);
EXPORT cudart_error cudaStreamWaitEvent(struct stream *s, struct event *e,
                                        unsigned flags);

/* ---- graphs: graph_calls.c ---- */

EXPORT cudart_error cudaGraphCreate(struct graph **ret, unsigned flags);
EXPORT cudart_error cudaGraphClone(struct graph **ret, struct graph *g);
EXPORT cudart_error cudaGraphInstantiate(struct graph **ret, struct graph *g,
                                         unsigned long long flags);
EXPORT cudart_error cudaGraphInstantiateWithFlags(struct graph **ret, struct graph *g,
                                                  unsigned long long flags);
EXPORT cudart_error cudaGraphInstantiateWithParams(struct graph **ret, struct graph *g,
                                                   struct cudart_instantiation *p);
EXPORT cudart_error cudaGraphDestroy(struct graph *g);
EXPORT cudart_error cudaGraphExecDestroy(struct graph *g);
EXPORT cudart_error cudaGraphUpload(struct graph *g, struct stream *s);
EXPORT cudart_error cudaGraphLaunch(struct graph *handle, struct stream *s);
EXPORT cudart_error cudaGraphExecUpdate(struct graph *exec, struct graph *from,
                                        struct cudart_graph_update *ret);
EXPORT cudart_error cudaGraphAddKernelNode(struct node **ret, struct graph *g,
                                           struct node *const *needs, size_t count,
                                           const struct cudart_kernel_node *p);
EXPORT cudart_error cudaGraphAddMemcpyNode(struct node **ret, struct graph *g,
                                           struct node *const *needs, size_t count,
                                           const struct cudart_copy_3d *p);
EXPORT cudart_error cudaGraphAddMemcpyNode1D(struct node **ret, struct graph *g,
                                             struct node *const *needs, size_t count,
                                             void *to, const void *from, size_t bytes,
                                             int kind);
EXPORT cudart_error cudaGraphAddMemsetNode(struct node **ret, struct graph *g,
                                           struct node *const *needs, size_t count,
                                           const struct cudart_set_node *p);
EXPORT cudart_error cudaGraphAddHostNode(struct node **ret, struct graph *g,
                                         struct node *const *needs, size_t count,
                                         const struct cudart_host_node *p);
EXPORT cudart_error cudaGraphAddEmptyNode(struct node **ret, struct graph *g,
                                          struct node *const *needs, size_t count);
EXPORT cudart_error cudaGraphAddChildGraphNode(struct node **ret, struct graph *g,
                                               struct node *const *needs, size_t count,
                                               struct graph *child);
EXPORT cudart_error cudaGraphAddMemAllocNode(struct node **ret, struct graph *g,
                                             struct node *const *needs, size_t count,
                                             struct cudart_allocation_node *p);
EXPORT cudart_error cudaGraphAddMemFreeNode(struct node **ret, struct graph *g,
                                            struct node *const *needs, size_t count,
                                            void *address);
EXPORT cudart_error cudaGraphConditionalHandleCreate(uint64_t *ret, struct graph *handle,
                                                     unsigned first, unsigned flags);
EXPORT cudart_error cudaGraphAddNode(struct node **ret, struct graph *g,
                                     struct node *const *needs, const void *edges,
                                     size_t count, struct cudart_node *p);

/* ---- their nodes: graph_nodes.c ---- */

EXPORT cudart_error cudaGraphNodeGetDependencies(struct node *n, struct node **ret,
                                                 void *edges, size_t *count);
EXPORT cudart_error cudaGraphNodeGetDependentNodes(struct node *n, struct node **ret,
                                                   void *edges, size_t *count);
EXPORT cudart_error cudaGraphGetEdges(struct graph *handle, struct node **ret_from,
                                      struct node **ret_to, void *edges, size_t *count);
EXPORT cudart_error cudaGraphAddDependencies(struct graph *g, struct node *const *from,
                                             struct node *const *to, const void *edges,
                                             size_t count);
EXPORT cudart_error cudaGraphRemoveDependencies(struct graph *g, struct node *const *from,
                                                struct node *const *to, const void *edges,
                                                size_t count);
EXPORT cudart_error cudaGraphGetNodes(struct graph *g, struct node **ret, size_t *count);
EXPORT cudart_error cudaGraphGetRootNodes(struct graph *g, struct node **ret,
                                          size_t *count);
EXPORT cudart_error cudaGraphDestroyNode(struct node *n);
EXPORT cudart_error cudaGraphNodeGetType(const struct node *n, int *ret);
EXPORT cudart_error cudaGraphNodeFindInClone(struct node **ret,
                                             const struct node *original,
                                             struct graph *clone);
EXPORT cudart_error cudaGraphKernelNodeGetParams(struct node *n,
                                                 struct cudart_kernel_node *ret);
EXPORT cudart_error cudaGraphMemsetNodeGetParams(struct node *n,
                                                 struct cudart_set_node *ret);
EXPORT cudart_error cudaGraphHostNodeGetParams(struct node *n,
                                               struct cudart_host_node *ret);
EXPORT cudart_error cudaGraphChildGraphNodeGetGraph(struct node *n, struct graph **ret);
EXPORT cudart_error cudaGraphKernelNodeSetParams(struct node *n,
                                                 const struct cudart_kernel_node *p);
EXPORT cudart_error cudaGraphExecKernelNodeSetParams(struct graph *exec, struct node *n,
                                                     const struct cudart_kernel_node *p);
EXPORT cudart_error cudaGraphMemcpyNodeSetParams(struct node *n,
                                                 const struct cudart_copy_3d *p);
EXPORT cudart_error cudaGraphExecMemcpyNodeSetParams(struct graph *exec, struct node *n,
                                                     const struct cudart_copy_3d *p);
EXPORT cudart_error cudaGraphMemcpyNodeSetParams1D(struct node *n, void *to,
                                                   const void *from, size_t bytes,
                                                   int kind);
EXPORT cudart_error cudaGraphExecMemcpyNodeSetParams1D(struct graph *exec, struct node *n,
                                                       void *to, const void *from,
                                                       size_t bytes, int kind);
EXPORT cudart_error cudaGraphMemsetNodeSetParams(struct node *n,
                                                 const struct cudart_set_node *p);
EXPORT cudart_error cudaGraphExecMemsetNodeSetParams(struct graph *exec, struct node *n,
                                                     const struct cudart_set_node *p);
EXPORT cudart_error cudaGraphHostNodeSetParams(struct node *n,
                                               const struct cudart_host_node *p);
EXPORT cudart_error cudaGraphExecHostNodeSetParams(struct graph *exec, struct node *n,
                                                   const struct cudart_host_node *p);
EXPORT cudart_error cudaGraphNodeSetParams(struct node *n, const struct cudart_node *p);
EXPORT cudart_error cudaGraphExecNodeSetParams(struct graph *exec, struct node *n,
                                               const struct cudart_node *p);
EXPORT cudart_error cudaGraphNodeSetEnabled(struct graph *exec, struct node *original,
                                            unsigned enabled);
EXPORT cudart_error cudaGraphNodeGetEnabled(struct graph *exec, struct node *original,
                                            unsigned *ret);

/* ---- pools: pools.c ---- */

EXPORT cudart_error cudaDeviceGetDefaultMemPool(struct memory_pool **ret, int device);
EXPORT cudart_error cudaDeviceGetMemPool(struct memory_pool **ret, int device);
EXPORT cudart_error cudaDeviceSetMemPool(int device, struct memory_pool *p);
EXPORT cudart_error cudaMemPoolCreate(struct memory_pool **ret, const void *properties);
EXPORT cudart_error cudaMemPoolDestroy(struct memory_pool *p);
EXPORT cudart_error cudaMemPoolTrimTo(struct memory_pool *p, size_t bytes);
EXPORT cudart_error cudaMemPoolSetAccess(struct memory_pool *p, const void *list,
                                         size_t count);
EXPORT cudart_error cudaMemPoolSetAttribute(struct memory_pool *p, int attribute,
                                            void *value);
EXPORT cudart_error cudaMemPoolGetAttribute(struct memory_pool *p, int attribute,
                                            void *ret);
EXPORT cudart_error cudaMallocAsync(void **ret, size_t bytes, struct stream *s);
EXPORT cudart_error cudaMallocFromPoolAsync(void **ret, size_t bytes,
                                            struct memory_pool *p, struct stream *s);
EXPORT cudart_error cudaFreeAsync(void *address, struct stream *s);
EXPORT cudart_error cudaDeviceGetGraphMemAttribute(int device, int attribute, void *ret);
EXPORT cudart_error cudaDeviceSetGraphMemAttribute(int device, int attribute, void *);
EXPORT cudart_error cudaDeviceGraphMemTrim(int device);

/* ---- arrays: arrays.c ---- */

EXPORT struct cudart_channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
EXPORT cudart_error cudaMallocArray(struct array **ret,
                                    const struct cudart_channels *channels, size_t width,
                                    size_t height, unsigned flags);
EXPORT cudart_error cudaMalloc3DArray(struct array **ret,
                                      const struct cudart_channels *channels,
                                      struct cudart_extent extent, unsigned flags);
EXPORT cudart_error cudaFreeArray(struct array *a);
EXPORT cudart_error cudaGetChannelDesc(struct cudart_channels *ret, struct array *handle);
EXPORT cudart_error cudaArrayGetInfo(struct cudart_channels *ret,
                                     struct cudart_extent *ret_extent,
                                     unsigned *ret_flags, struct array *handle);
EXPORT cudart_error cudaMemcpy2DToArray(struct array *a, size_t x, size_t y,
                                        const void *from, size_t pitch, size_t width,
                                        size_t height, int kind);
EXPORT cudart_error cudaMemcpy2DToArrayAsync(struct array *a, size_t x, size_t y,
                                             const void *from, size_t pitch, size_t width,
                                             size_t height, int kind, struct stream *s);
EXPORT cudart_error cudaMemcpy2DFromArray(void *to, size_t pitch, struct array *a,
                                          size_t x, size_t y, size_t width, size_t height,
                                          int kind);
EXPORT cudart_error cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, struct array *a,
                                               size_t x, size_t y, size_t width,
                                               size_t height, int kind, struct stream *s);
EXPORT cudart_error cudaMemcpyToArray(struct array *handle, size_t x, size_t y,
                                      const void *from, size_t bytes, int kind);
EXPORT cudart_error cudaMemcpyFromArray(void *to, struct array *handle, size_t x,
                                        size_t y, size_t bytes, int kind);
EXPORT cudart_error cudaMemcpy3D(const struct cudart_copy_3d *c);
EXPORT cudart_error cudaMemcpy3DAsync(const struct cudart_copy_3d *c, struct stream *s);
EXPORT cudart_error cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y,
                                             struct array *from, size_t from_x,
                                             size_t from_y, size_t width, size_t height,
                                             int kind);

/* ---- textures, surfaces: textures.c ---- */

EXPORT cudart_error cudaCreateTextureObject(unsigned long long *ret,
                                            const struct cudart_resource *resource,
                                            const struct cudart_texture *texture,
                                            const void *view);
EXPORT cudart_error cudaDestroyTextureObject(unsigned long long texture);
EXPORT cudart_error cudaCreateSurfaceObject(unsigned long long *ret,
                                            const struct cudart_resource *resource);
EXPORT cudart_error cudaDestroySurfaceObject(unsigned long long surface);
EXPORT cudart_error cudaGetTextureObjectResourceDesc(struct cudart_resource *ret,
                                                     unsigned long long texture);
EXPORT cudart_error cudaGetTextureObjectTextureDesc(struct cudart_texture *ret,
                                                    unsigned long long texture);

/* ---- the device: devices.c ---- */

EXPORT cudart_error cudaGetDeviceCount(int *ret);
EXPORT cudart_error cudaGetDevice(int *ret);
EXPORT cudart_error cudaSetDevice(int device);
EXPORT cudart_error cudaInitDevice(int device, unsigned device_flags, unsigned flags);
EXPORT cudart_error cudaSetValidDevices(int *devices, int count);
EXPORT cudart_error cudaChooseDevice(int *ret, const struct cudart_device_prop *wanted);
EXPORT cudart_error cudaDriverGetVersion(int *ret);
EXPORT cudart_error cudaRuntimeGetVersion(int *ret);
EXPORT cudart_error cudaDeviceGetPCIBusId(char *ret, int room, int device);
EXPORT cudart_error cudaDeviceGetByPCIBusId(int *ret, const char *id);
EXPORT cudart_error cudaGetDeviceProperties(struct cudart_device_prop *ret, int device);
EXPORT cudart_error cudaDeviceGetAttribute(int *ret, int attribute, int device);
EXPORT cudart_error cudaDeviceSetLimit(int limit, size_t value);
EXPORT cudart_error cudaDeviceGetLimit(size_t *ret, int limit);
EXPORT cudart_error cudaSetDeviceFlags(unsigned flags);
EXPORT cudart_error cudaGetDeviceFlags(unsigned *ret);
EXPORT cudart_error cudaDeviceSetCacheConfig(int config);
EXPORT cudart_error cudaDeviceGetCacheConfig(int *ret);
EXPORT cudart_error cudaDeviceSetSharedMemConfig(int config);
EXPORT cudart_error cudaDeviceGetSharedMemConfig(int *ret);
EXPORT cudart_error cudaFuncSetSharedMemConfig(const void *function, int config);
EXPORT cudart_error cudaCtxResetPersistingL2Cache(void);
EXPORT cudart_error cudaProfilerStart(void);
EXPORT cudart_error cudaProfilerStop(void);
EXPORT cudart_error cudaDeviceCanAccessPeer(int *ret, int device, int peer);
EXPORT cudart_error cudaDeviceEnablePeerAccess(int peer, unsigned flags);
EXPORT cudart_error cudaDeviceDisablePeerAccess(int peer);
EXPORT cudart_error cudaDeviceGetP2PAttribute(int *ret, int attribute, int from, int to);

/* ---- kernels, occupancy: functions.c ---- */

EXPORT cudart_error cudaFuncGetAttributes(struct cudart_function_attributes *ret,
                                          const void *function);
EXPORT cudart_error cudaFuncSetAttribute(const void *function, int attribute, int value);
EXPORT cudart_error cudaFuncSetCacheConfig(const void *function, int config);
EXPORT cudart_error cudaFuncGetName(const char **ret, const void *function);
EXPORT cudart_error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ret,
                                                                  const void *function,
                                                                  int threads,
                                                                  size_t dynamic);
EXPORT cudart_error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *ret, const void *function, int threads, size_t dynamic, unsigned flags);
EXPORT cudart_error cudaOccupancyAvailableDynamicSMemPerBlock(size_t *ret,
                                                              const void *function,
                                                              int blocks, int threads);
EXPORT cudart_error cudaOccupancyMaxPotentialClusterSize(
    int *ret, const void *function, const struct cudart_launch_config *c);
EXPORT cudart_error cudaOccupancyMaxActiveClusters(int *ret, const void *function,
                                                   const struct cudart_launch_config *c);
