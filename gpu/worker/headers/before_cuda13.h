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
#endif
