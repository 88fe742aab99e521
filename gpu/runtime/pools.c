/* pools: memory pools, which here are only their attributes: what is freed is given back
 * at once, so there is nothing to keep. */
#include "gpu/runtime/api.h"

enum {
    REUSE_FIRST = 1,
    REUSE_LAST = 3,
    THRESHOLD,
    RESERVED_NOW,
    RESERVED_HIGH,
    USED_NOW,
    USED_HIGH
};

struct memory_pool {
    uint64_t threshold;
    int reuse[REUSE_LAST];
};

static struct memory_pool first_pool = {.reuse = {1, 1, 1}};
static struct memory_pool *chosen_pool = &first_pool;

static cudart_error need_pool(const struct memory_pool *p) {
    return p ? CUDART_SUCCESS
             : explain(CUDART_INVALID_VALUE, "the pool is a null pointer");
}

EXPORT cudart_error cudaDeviceGetDefaultMemPool(struct memory_pool **ret, int device) {
    *ret = &first_pool;
    RETURN(device == 0 ? CUDART_SUCCESS : CUDART_INVALID_DEVICE);
}
EXPORT cudart_error cudaDeviceGetMemPool(struct memory_pool **ret, int device) {
    *ret = chosen_pool;
    RETURN(device == 0 ? CUDART_SUCCESS : CUDART_INVALID_DEVICE);
}
EXPORT cudart_error cudaDeviceSetMemPool(int device, struct memory_pool *p) {
    chosen_pool = p ? p : chosen_pool;
    RETURN(device == 0 ? need_pool(p) : CUDART_INVALID_DEVICE);
}
EXPORT cudart_error cudaMemPoolCreate(struct memory_pool **ret, const void *properties) {
    (void)properties;
    *ret = xcalloc(1, sizeof **ret);
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaMemPoolDestroy(struct memory_pool *p) {
    if (p && p != &first_pool) {
        chosen_pool = chosen_pool == p ? &first_pool : chosen_pool;
        free(p);
    }
    RETURN(need_pool(p));
}
EXPORT cudart_error cudaMemPoolTrimTo(struct memory_pool *p, size_t bytes) {
    (void)bytes;
    RETURN(need_pool(p));
}
EXPORT cudart_error cudaMemPoolSetAccess(struct memory_pool *p, const void *list,
                                         size_t count) {
    (void)list, (void)count; /* there are no peers */
    RETURN(need_pool(p));
}

static cudart_error attribute_set(struct memory_pool *p, int attribute,
                                  const void *value) {
    cudart_error code = need_pool(p);
    if (!code && attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
        memcpy(&p->reuse[attribute - REUSE_FIRST], value, sizeof(int));
    } else if (!code && attribute == THRESHOLD) {
        memcpy(&p->threshold, value, sizeof p->threshold);
    } else if (!code && (attribute < REUSE_FIRST || attribute > USED_HIGH)) {
        return explain(CUDART_INVALID_VALUE, "a pool has no attribute %d", attribute);
    }
    return code;
}

static cudart_error attribute_get(const struct memory_pool *p, int attribute, void *ret) {
    cudart_error code = need_pool(p);
    uint64_t used = runtime.device.memory.used;
    if (!code && attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
        memcpy(ret, &p->reuse[attribute - REUSE_FIRST], sizeof(int));
    } else if (!code && attribute >= THRESHOLD && attribute <= USED_HIGH) {
        memcpy(ret, attribute == THRESHOLD ? &p->threshold : &used, sizeof used);
    } else if (!code) {
        return explain(CUDART_INVALID_VALUE, "a pool has no attribute %d", attribute);
    }
    return code;
}

EXPORT cudart_error cudaMemPoolSetAttribute(struct memory_pool *p, int attribute,
                                            void *value) {
    RETURN(attribute_set(p, attribute, value));
}
EXPORT cudart_error cudaMemPoolGetAttribute(struct memory_pool *p, int attribute,
                                            void *ret) {
    RETURN(attribute_get(p, attribute, ret));
}
EXPORT cudart_error cudaMallocFromPoolAsync(void **ret, size_t bytes,
                                            struct memory_pool *p, struct stream *s) {
    cudart_error code = need_pool(p);
    return code ? runtime_return(__func__, code) : cudaMallocAsync(ret, bytes, s);
}
