/* driver_memory: copies and fills of CUDA's driver, and tensor maps. */
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
    autofree uint8_t *bytes = xmalloc(unit * count + 1);
    for (size_t k = 0; k < count; k++) {
        memcpy(bytes + k * unit, pattern, unit);
    }
    cudart_error code = cudaMemcpyAsync(to, bytes, unit * count, COPY_DEFAULT, s);
    code = code ? code : cudaStreamSynchronize(s);
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

enum { /* CUpointer_attribute */
       POINTER_CONTEXT = 1,
       POINTER_TYPE = 2,
       POINTER_DEVICE = 3,
       POINTER_HOST = 4,
       POINTER_SYNCS = 6,
       POINTER_ID = 7,
       POINTER_MANAGED = 8,
       POINTER_ORDINAL = 9,
       POINTER_START = 11,
       POINTER_BYTES = 12,
       POINTER_MAPPED = 13,
       POINTER_FLAGS = 16,
};

/* As many bytes as the attribute has. */
static cudart_error pointer_value(void *ret, size_t *ret_bytes, int attribute,
                                  const struct allocation *a, uint64_t address) {
    static const struct {
        int attribute;
        size_t bytes;
    } sizes[] = {{POINTER_CONTEXT, 8}, {POINTER_TYPE, 4},   {POINTER_DEVICE, 8},
                 {POINTER_HOST, 8},    {POINTER_SYNCS, 1},  {POINTER_ID, 8},
                 {POINTER_MANAGED, 1}, {POINTER_ORDINAL, 4}, {POINTER_START, 8},
                 {POINTER_BYTES, 8},   {POINTER_MAPPED, 1}, {POINTER_FLAGS, 4}};
    bool hosts = a->flags & DEVICE_MAPPED;
    struct context *context = NULL;
    (void)cuDevicePrimaryCtxRetain(&context, 0);
    const uint64_t values[] = {(uintptr_t)context,
                               hosts && !(a->flags & DEVICE_MANAGED) ? 1 : 2,
                               address,
                               address,
                               0,
                               a->address, /* of one allocation, not reused */
                               (a->flags & DEVICE_MANAGED) != 0,
                               0,
                               a->address,
                               a->bytes,
                               1,
                               a->writable ? 3 : 1};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        if (sizes[k].attribute == attribute && (hosts || attribute != POINTER_HOST)) {
            memcpy(ret, &values[k], sizes[k].bytes);
            *ret_bytes = sizes[k].bytes;
            return CUDART_SUCCESS;
        }
    }
    return explain(CUDART_INVALID_VALUE, "this pointer has no attribute %d", attribute);
}

EXPORT int cuPointerGetAttribute(void *ret, int attribute, uint64_t address) {
    const struct allocation *a = device_memory_at(&runtime.device, address, 1);
    size_t bytes;
    NEED(ret);
    RETURN(a ? pointer_value(ret, &bytes, attribute, a, address)
             : explain(CUDART_INVALID_VALUE, "no allocation holds this address"));
}

/* What does not apply is 0, and no error. */
EXPORT int cuPointerGetAttributes(unsigned count, const int *attributes, void **values,
                                  uint64_t address) {
    const struct allocation *a = device_memory_at(&runtime.device, address, 1);
    NEED(attributes && values);
    static const struct allocation none = {.address = 0};
    for (unsigned k = 0; k < count; k++) {
        uint64_t value = 0;
        size_t bytes = 0;
        cudart_error code =
            pointer_value(&value, &bytes, attributes[k], a ? a : &none, address);
        if (code && attributes[k] != POINTER_HOST) {
            RETURN(code);
        }
        value = a ? value : 0;
        memcpy(values[k], &value, bytes ? bytes : sizeof(void *));
    }
    RETURN(CUDART_SUCCESS);
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
