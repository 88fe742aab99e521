/* What programs for older toolkits call and CUDA 13's headers no longer declare, by what NVIDIA's documentation names in its place. nvcc
 * warns at the line of each call. Included before the program's own text. */
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
