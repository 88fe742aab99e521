/* functions: what the program asks of its kernels, and how many blocks of them fit. */
#include "gpu/facts/occupancy.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/registration.h"

#define REGISTERS 32 /* ptxas's matter; a number that fits everywhere */
#define OPTIN_SHARED (227 << 10)

static cudart_error attributes_of(struct cudart_function_attributes *ret,
                                  const void *function) {
    struct kernel *k;
    cudart_error code = registered_kernel(function, &k);
    if (!code) {
        *ret = (struct cudart_function_attributes){.shared_bytes = k->static_shared,
                                                   .local_bytes = k->entry->local_bytes,
                                                   .max_threads = k->max_threads,
                                                   .registers = REGISTERS,
                                                   .ptx_version = 90,
                                                   .binary_version = 90,
                                                   .max_dynamic_shared = k->max_dynamic,
                                                   .carveout = -1};
    }
    return code;
}

EXPORT cudart_error cudaFuncGetAttributes(struct cudart_function_attributes *ret,
                                          const void *function) {
    RETURN(ret ? attributes_of(ret, function) : CUDART_INVALID_VALUE);
}

enum { MAX_DYNAMIC_SHARED = 8, LAST_ATTRIBUTE = 15 };

static cudart_error attribute_set(const void *function, int attribute, int value) {
    struct kernel *k;
    cudart_error code = registered_kernel(function, &k);
    if (code || attribute != MAX_DYNAMIC_SHARED) {
        bool known = attribute > MAX_DYNAMIC_SHARED && attribute <= LAST_ATTRIBUTE;
        return code ? code : known ? CUDART_SUCCESS : CUDART_INVALID_VALUE;
    }
    if (value < 0 || (uint64_t)value + k->static_shared > OPTIN_SHARED) {
        return explain(
            CUDART_INVALID_VALUE,
            "%d bytes of dynamic shared memory beside %llu static ones: a block has "
            "at most 227 KiB",
            value, (unsigned long long)k->static_shared);
    }
    k->max_dynamic = value;
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaFuncSetAttribute(const void *function, int attribute, int value) {
    RETURN(attribute_set(function, attribute, value));
}
EXPORT cudart_error cudaFuncSetCacheConfig(const void *function, int config) {
    (void)config; /* a hint */
    struct kernel *k;
    RETURN(registered_kernel(function, &k));
}
EXPORT cudart_error cudaFuncGetName(const char **ret, const void *function) {
    struct kernel *k;
    cudart_error code = registered_kernel(function, &k);
    if (!code) {
        *ret = k->entry->name;
    }
    RETURN(code);
}

/* ---- occupancy ---- */

static cudart_error blocks_of(int *ret, const void *function, int threads,
                              size_t dynamic) {
    struct kernel *k;
    struct occupancy o;
    cudart_error code = ret && threads > 0 ? registered_kernel(function, &k)
                                           : explain(CUDART_INVALID_VALUE,
                                                     "blocks of %d threads", threads);
    if (code) {
        return code;
    }
    *ret = 0;
    if (threads <= k->max_threads && dynamic <= OPTIN_SHARED) {
        occupancy_compute(&o, device_limits_find("sm_90"), REGISTERS, threads,
                          (int)k->static_shared, (int)dynamic, 1);
        *ret = o.blocks_per_sm;
    }
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ret,
                                                                  const void *function,
                                                                  int threads,
                                                                  size_t dynamic) {
    RETURN(blocks_of(ret, function, threads, dynamic));
}
EXPORT cudart_error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *ret, const void *function, int threads, size_t dynamic, unsigned) {
    RETURN(blocks_of(ret, function, threads, dynamic));
}

static cudart_error dynamic_that_fits(size_t *ret, const void *function, int blocks,
                                      int threads) {
    int fit = 0;
    size_t bytes = OPTIN_SHARED;
    cudart_error code = CUDART_SUCCESS;
    while (!code && bytes > 0) {
        code = blocks_of(&fit, function, threads, bytes);
        if (fit >= blocks) {
            break;
        }
        bytes -= 256;
    }
    *ret = bytes;
    return code;
}

EXPORT cudart_error cudaOccupancyAvailableDynamicSMemPerBlock(size_t *ret,
                                                              const void *function,
                                                              int blocks, int threads) {
    RETURN(ret ? dynamic_that_fits(ret, function, blocks, threads)
               : CUDART_INVALID_VALUE);
}

static cudart_error cooperative_check(int *ret, const void *function,
                                      const struct cudart_launch_config *c, int blocks) {
    int each = 0;
    cudart_error code = blocks_of(
        &each, function, (int)(c->block.x * c->block.y * c->block.z), c->dynamic_shared);
    *ret = each > 0 ? blocks : 0;
    return code;
}

EXPORT cudart_error cudaOccupancyMaxPotentialClusterSize(
    int *ret, const void *function, const struct cudart_launch_config *c) {
    RETURN(cooperative_check(ret, function, c, 8));
}
EXPORT cudart_error cudaOccupancyMaxActiveClusters(int *ret, const void *function,
                                                   const struct cudart_launch_config *c) {
    RETURN(cooperative_check(ret, function, c, 66));
}
