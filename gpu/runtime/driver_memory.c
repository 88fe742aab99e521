/* driver_memory: copies and fills of CUDA's driver, and tensor maps. */
#include "gpu/runtime/api.h"
#include "gpu/runtime/driver_api.h"
#include "gpu/runtime/tensor_maps.h"

/* ---- copies ---- */

EXPORT int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, COPY_IN);
}
EXPORT int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, COPY_OUT);
}
EXPORT int cuMemcpyDtoD_v2(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, COPY_DEVICE);
}
EXPORT int cuMemcpy(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, COPY_DEFAULT);
}
EXPORT int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes,
                                struct stream *s) {
    return cudaMemcpyAsync(to, from, bytes, COPY_IN, s);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes,
                                struct stream *s) {
    return cudaMemcpyAsync(to, from, bytes, COPY_OUT, s);
}
EXPORT int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t bytes,
                                struct stream *s) {
    return cudaMemcpyAsync(to, from, bytes, COPY_DEVICE, s);
}
EXPORT int cuMemcpyAsync(void *to, const void *from, size_t bytes, struct stream *s) {
    return cudaMemcpyAsync(to, from, bytes, COPY_DEFAULT, s);
}

/* ---- fills ---- */

/* A copy of a pattern that is repeated: fills of more than a byte are rare. */
static cudart_error fill(void *to, const void *pattern, size_t unit, size_t count,
                         struct stream *s) {
    struct allocation *a =
        count <= SIZE_MAX / unit
            ? device_memory_at(&runtime.device, (uintptr_t)to, unit * count)
            : NULL;
    if (!a) {
        return explain(CUDART_INVALID_VALUE,
                       "the bytes to be filled are not inside of one allocation");
    }
    uint8_t *bytes = xmalloc(unit * count + 1);
    for (size_t k = 0; k < count; k++) {
        memcpy(bytes + k * unit, pattern, unit);
    }
    cudart_error code = cudaMemcpyAsync(to, bytes, unit * count, COPY_DEFAULT, s);
    code = code ? code : cudaStreamSynchronize(s);
    free(bytes);
    return code;
}

EXPORT int cuMemsetD8_v2(void *to, unsigned char value, size_t count) {
    return cudaMemset(to, value, count);
}
EXPORT int cuMemsetD16_v2(void *to, unsigned short value, size_t count) {
    RETURN(fill(to, &value, sizeof value, count, NULL));
}
EXPORT int cuMemsetD32_v2(void *to, unsigned value, size_t count) {
    RETURN(fill(to, &value, sizeof value, count, NULL));
}
EXPORT int cuMemsetD32Async(void *to, unsigned value, size_t count, struct stream *s) {
    RETURN(fill(to, &value, sizeof value, count, s));
}

/* ---- what lies where ---- */

EXPORT int cuMemGetAddressRange_v2(uint64_t *ret, size_t *ret_bytes, uint64_t address) {
    const struct allocation *a = device_memory_at(&runtime.device, address, 1);
    if (a && ret) {
        *ret = a->address;
    }
    if (a && ret_bytes) {
        *ret_bytes = a->bytes;
    }
    RETURN(a ? CUDART_SUCCESS
             : explain(CUDART_SYMBOL_NOT_FOUND, "no allocation holds this address"));
}

/* ---- tensor maps ---- */

EXPORT int cuTensorMapEncodeTiled(void *ret, int type, unsigned rank, void *address,
                                  const uint64_t *dims, const uint64_t *strides,
                                  const uint32_t *box, const uint32_t *element_strides,
                                  int interleave, int swizzle, int l2_promotion,
                                  int out_of_bounds_fill) {
    RETURN(tensor_map_tiled(ret, type, rank, address, dims, strides, box, element_strides,
                            interleave, swizzle, l2_promotion, out_of_bounds_fill));
}

EXPORT int cuTensorMapEncodeIm2col(void *ret, int type, unsigned rank, void *address,
                                   const uint64_t *dims, const uint64_t *strides,
                                   const int *lower, const int *upper, uint32_t channels,
                                   uint32_t pixels, const uint32_t *element_strides,
                                   int interleave, int swizzle, int l2_promotion,
                                   int out_of_bounds_fill) {
    RETURN(tensor_map_im2col(ret, type, rank, address, dims, strides, lower, upper,
                             channels, pixels, element_strides, interleave, swizzle,
                             l2_promotion, out_of_bounds_fill));
}
