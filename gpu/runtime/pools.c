/* pools: memory that is made and freed in the order of a stream or a graph, and its pools,
 * which here are only their attributes: what is freed is given back at once, so there is
 * nothing to keep. */
#include "gpu/runtime/allocations.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/graph_memory.h"
#include "gpu/runtime/streams.h"

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
EXPORT cudart_error cudaMemPoolCreate(struct memory_pool **ret, const void *) {
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
EXPORT cudart_error cudaMemPoolTrimTo(struct memory_pool *p, size_t) {
    RETURN(need_pool(p));
}
EXPORT cudart_error cudaMemPoolSetAccess(struct memory_pool *p, const void *list,
                                         size_t count) {
    (void)list, (void)count; /* there are no peers */
    RETURN(need_pool(p));
}

#define READ_WRITE 3 /* cudaMemAccessFlagsProtReadWrite */

EXPORT cudart_error cudaMemPoolGetAccess(int *ret, struct memory_pool *p, const void *) {
    NEED(ret);
    *ret = READ_WRITE; /* of the one device */
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

/* ---- memory in the order of a stream ---- */

/* Nothing uses its address any more, so there is nothing to wait for. */
static cudart_error allocate_in(void **ret, size_t bytes, struct stream *s) {
    struct allocation *a;
    NEED(ret);
    if (!stream_is_captured(s)) {
        return allocate_device(ret, bytes);
    }
    cudart_error code = allocate_of_graph(&a, bytes);
    if (!code) {
        *ret = (void *)(uintptr_t)a->address;
        code = stream_put(s, NODE_ALLOCATE, graph_memory_allocates(a));
    }
    return code;
}

static cudart_error release_in(void *address, struct stream *s) {
    struct allocation *a = NULL;
    bool captured = stream_is_captured(s);
    cudart_error code =
        captured ? graph_memory_find(&a, address)
                 : release((struct freeing){(uintptr_t)address, 0, "cudaFreeAsync", false});
    return captured && !code ? stream_put(s, NODE_FREE, graph_memory_frees(a)) : code;
}

EXPORT cudart_error cudaMallocAsync(void **ret, size_t bytes, struct stream *s) {
    RETURN(allocate_in(ret, bytes, s));
}
EXPORT cudart_error cudaMallocFromPoolAsync(void **ret, size_t bytes,
                                            struct memory_pool *p, struct stream *s) {
    cudart_error code = need_pool(p);
    RETURN(code ? code : allocate_in(ret, bytes, s));
}
EXPORT cudart_error cudaFreeAsync(void *address, struct stream *s) {
    RETURN(release_in(address, s));
}

/* ---- memory of graphs ---- */

enum { GRAPHS_USED, GRAPHS_USED_HIGH, GRAPHS_KEPT, GRAPHS_KEPT_HIGH };

static cudart_error graphs_attribute(int device, int attribute) {
    return device ? CUDART_INVALID_DEVICE
           : attribute < GRAPHS_USED || attribute > GRAPHS_KEPT_HIGH
               ? explain(CUDART_INVALID_VALUE, "memory of graphs has no attribute %d",
                         attribute)
               : CUDART_SUCCESS;
}

/* What graphs have freed stays theirs until it is trimmed, and counts as used. */
EXPORT cudart_error cudaDeviceGetGraphMemAttribute(int device, int attribute, void *ret) {
    cudart_error code = graphs_attribute(device, attribute);
    const struct graph_memory_use use = graph_memory_use();
    if (!code) {
        bool high = attribute == GRAPHS_USED_HIGH || attribute == GRAPHS_KEPT_HIGH;
        memcpy(ret, high ? &use.most : &use.kept, sizeof use.kept);
    }
    RETURN(code);
}
EXPORT cudart_error cudaDeviceSetGraphMemAttribute(int device, int attribute, void *) {
    cudart_error code = graphs_attribute(device, attribute);
    if (!code) {
        graph_memory_forget_most();
    }
    RETURN(code);
}
EXPORT cudart_error cudaDeviceGraphMemTrim(int device) {
    graph_memory_trim();
    RETURN(device ? CUDART_INVALID_DEVICE : CUDART_SUCCESS);
}
