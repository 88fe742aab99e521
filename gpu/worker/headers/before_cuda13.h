/* What programs for older toolkits call and CUDA 13's headers no longer declare, by what NVIDIA's documentation names in its place. nvcc
 * warns at the line of each call. Included before the program's own text. */

/* And what g++ sees of blocks that malloc gave and delete frees, or the other way round: our heap cannot tell the two apart. */
#if defined __cplusplus && defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#pragma GCC diagnostic warning "-Wmismatched-new-delete"
#endif

#if defined __CUDACC__ && __CUDACC_VER_MAJOR__ >= 13
#define UPSKILLD_OLDER(now) static inline __attribute__((unused, deprecated("CUDA 13 has " now " instead"))) cudaError_t

UPSKILLD_OLDER("cudaDeviceSynchronize()") cudaThreadSynchronize(void) {
    return cudaDeviceSynchronize();
}
UPSKILLD_OLDER("cudaDeviceReset()") cudaThreadExit(void) {
    return cudaDeviceReset();
}

static inline cudaMemLocation upskilld_location(int device) {
    cudaMemLocation where = {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device < 0 ? 0 : device};
    return where;
}
UPSKILLD_OLDER("a cudaMemLocation") cudaMemPrefetchAsync(const void *at, size_t bytes, int device, cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(at, bytes, upskilld_location(device), 0, stream);
}
UPSKILLD_OLDER("a cudaMemLocation") cudaMemAdvise(const void *at, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(at, bytes, advice, upskilld_location(device));
}
UPSKILLD_OLDER("edges") cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, 0, count);
}
UPSKILLD_OLDER("edges") cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, 0, count);
}
UPSKILLD_OLDER("edges") cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
    return cudaGraphGetEdges(graph, from, to, 0, count);
}
UPSKILLD_OLDER("edges") cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *needs, size_t *count) {
    return cudaGraphNodeGetDependencies(node, needs, 0, count);
}
UPSKILLD_OLDER("edges") cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, 0, count);
}
UPSKILLD_OLDER("edges") cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count, cudaGraphNodeParams *params) {
    return cudaGraphAddNode(node, graph, needs, 0, count, params);
}
UPSKILLD_OLDER("edges") cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *needs, size_t count, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(stream, needs, 0, count, flags);
}
UPSKILLD_OLDER("cudaStreamGetCaptureInfo()") cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id = 0,
    cudaGraph_t *graph = 0, const cudaGraphNode_t **needs = 0, size_t *count = 0) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, needs, 0, count);
}
#undef UPSKILLD_OLDER

#if defined UPSKILLD_OLDER_PROPERTIES && __cplusplus >= 201703L
#define UPSKILLD_OLDER(attribute) [[deprecated("CUDA 13 has cudaDeviceGetAttribute() with " attribute " instead")]] int
struct upskilld_device_properties : cudaDeviceProp {
    UPSKILLD_OLDER("cudaDevAttrClockRate") clockRate;
    UPSKILLD_OLDER("cudaDevAttrGpuOverlap") deviceOverlap;
    UPSKILLD_OLDER("cudaDevAttrKernelExecTimeout") kernelExecTimeoutEnabled;
    UPSKILLD_OLDER("cudaDevAttrComputeMode") computeMode;
    UPSKILLD_OLDER("cudaDevAttrMaxTexture1DLinearWidth") maxTexture1DLinear;
    UPSKILLD_OLDER("cudaDevAttrMemoryClockRate") memoryClockRate;
    UPSKILLD_OLDER("cudaDevAttrSingleToDoublePrecisionPerfRatio") singleToDoublePrecisionPerfRatio;
    UPSKILLD_OLDER("cudaDevAttrCooperativeLaunch") cooperativeMultiDeviceLaunch;
};
#undef UPSKILLD_OLDER
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline __attribute__((unused)) cudaError_t cudaGetDeviceProperties(upskilld_device_properties *all, int device) {
    cudaError_t error = cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(all), device);
    cudaDeviceGetAttribute(&all->clockRate, cudaDevAttrClockRate, device);
    cudaDeviceGetAttribute(&all->deviceOverlap, cudaDevAttrGpuOverlap, device);
    cudaDeviceGetAttribute(&all->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout, device);
    cudaDeviceGetAttribute(&all->computeMode, cudaDevAttrComputeMode, device);
    cudaDeviceGetAttribute(&all->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth, device);
    cudaDeviceGetAttribute(&all->memoryClockRate, cudaDevAttrMemoryClockRate, device);
    cudaDeviceGetAttribute(&all->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
    all->cooperativeMultiDeviceLaunch = 0;
    return error;
}
#pragma GCC diagnostic pop
#pragma nv_diag_default 1444
#define cudaDeviceProp upskilld_device_properties
#endif
#endif

/* The driver's, whose names are macros for others. Not for C, which has no overloads. */
#if defined UPSKILLD_OLDER_DRIVER && defined __cplusplus && __has_include(<cuda.h>)
#include <cuda.h>
#if CUDA_VERSION >= 13000
#define UPSKILLD_OLDER(now) static inline __attribute__((unused, deprecated("CUDA 13 has " now " instead"))) CUresult
static inline __attribute__((unused)) CUmemLocation upskilld_driver_location(CUdevice device) {
    CUmemLocation where = {};
    where.type = device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    where.id = device < 0 ? 0 : device;
    return where;
}
UPSKILLD_OLDER("CUctxCreateParams in front of the flags") cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) {
    return cuCtxCreate(context, static_cast<CUctxCreateParams *>(0), flags, device);
}
UPSKILLD_OLDER("a CUmemLocation") cuMemPrefetchAsync(CUdeviceptr at, size_t bytes, CUdevice device, CUstream stream) {
    return cuMemPrefetchAsync(at, bytes, upskilld_driver_location(device), 0, stream);
}
UPSKILLD_OLDER("a CUmemLocation") cuMemAdvise(CUdeviceptr at, size_t bytes, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise(at, bytes, advice, upskilld_driver_location(device));
}
UPSKILLD_OLDER("edges") cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    return cuGraphAddDependencies(graph, from, to, 0, count);
}
#undef UPSKILLD_OLDER
#endif
#endif
