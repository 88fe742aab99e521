/* devices: the one device that there is, and what it says of itself. */
#include "gpu/runtime/api.h"

#define NAME "NVIDIA H100 80GB HBM3 (emulated)"
#define BUS_ID "0000:00:00.0"

/* ---- which ---- */

static cudart_error need_device(int device) {
    return device == 0 ? CUDART_SUCCESS
                       : explain(CUDART_INVALID_DEVICE,
                                 "device %d: there is one, number 0", device);
}

EXPORT cudart_error cudaGetDeviceCount(int *ret) {
    *ret = 1;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaGetDevice(int *ret) {
    *ret = 0;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaSetDevice(int device) {
    RETURN(need_device(device));
}
EXPORT cudart_error cudaInitDevice(int device, unsigned, unsigned) {
    RETURN(need_device(device));
}
EXPORT cudart_error cudaSetValidDevices(int *, int count) {
    RETURN(count < 0 ? CUDART_INVALID_VALUE : CUDART_SUCCESS);
}
EXPORT cudart_error cudaChooseDevice(int *ret, const struct cudart_device_prop *) {
    *ret = 0;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaDriverGetVersion(int *ret) {
    *ret = 13000;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaRuntimeGetVersion(int *ret) {
    *ret = 13000;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaDeviceGetPCIBusId(char *ret, int room, int device) {
    cudart_error code = need_device(device);
    if (!code) {
        (void)snprintf(ret, room > 0 ? (size_t)room : 0, "%s", BUS_ID);
    }
    RETURN(code);
}
EXPORT cudart_error cudaDeviceGetByPCIBusId(int *ret, const char *id) {
    *ret = 0;
    RETURN(strcmp(id, BUS_ID) == 0 ? CUDART_SUCCESS : CUDART_INVALID_DEVICE);
}

/* ---- what it is: an H100 SXM ---- */

static struct cudart_device_prop properties(void) {
    return (struct cudart_device_prop){.name = NAME,
                                       .total_memory = runtime.device.memory.limit,
                                       .shared_per_block = 48 << 10,
                                       .registers_per_block = 65536,
                                       .warp_size = 32,
                                       .pitch = 2147483647,
                                       .max_threads_per_block = 1024,
                                       .max_threads_dim = {1024, 1024, 64},
                                       .max_grid = {2147483647, 65535, 65535},
                                       .total_constant = 65536,
                                       .major = 9,
                                       .texture_alignment = 512,
                                       .texture_pitch_alignment = 32,
                                       .multiprocessors = 132,
                                       .can_map_host = 1,
                                       .texture_1d = 131072,
                                       .texture_1d_mipmap = 32768,
                                       .texture_2d = {131072, 65536},
                                       .texture_2d_mipmap = {32768, 32768},
                                       .texture_2d_linear = {131072, 65000, 2097120},
                                       .texture_2d_gather = {32768, 32768},
                                       .texture_3d = {16384, 16384, 16384},
                                       .texture_3d_alt = {8192, 8192, 32768},
                                       .texture_cube = 32768,
                                       .texture_1d_layered = {32768, 2048},
                                       .texture_2d_layered = {32768, 32768, 2048},
                                       .texture_cube_layered = {32768, 2046},
                                       .surface_1d = 32768,
                                       .surface_2d = {131072, 65536},
                                       .surface_3d = {16384, 16384, 16384},
                                       .surface_1d_layered = {32768, 2048},
                                       .surface_2d_layered = {32768, 32768, 2048},
                                       .surface_cube = 32768,
                                       .surface_cube_layered = {32768, 2046},
                                       .surface_alignment = 512,
                                       .concurrent_kernels = 1,
                                       .ecc = 1,
                                       .async_engines = 3,
                                       .unified_addressing = 1,
                                       .bus_width = 5120,
                                       .l2 = 50 << 20,
                                       .persisting_l2 = 32 << 20,
                                       .threads_per_multiprocessor = 2048,
                                       .priorities = 1,
                                       .global_l1 = 1,
                                       .local_l1 = 1,
                                       .shared_per_multiprocessor = 228 << 10,
                                       .registers_per_multiprocessor = 65536,
                                       .managed_memory = 1,
                                       .concurrent_managed = 1,
                                       .preemption = 1,
                                       .host_pointer_registered = 1,
                                       .cooperative_launch = 1,
                                       .shared_per_block_optin = 227 << 10,
                                       .blocks_per_multiprocessor = 32,
                                       .window_size = 128 << 20,
                                       .reserved_shared = 1 << 10,
                                       .host_register = 1,
                                       .memory_pools = 1,
                                       .cluster_launch = 1,
                                       .unified_functions = 1,
                                       .host_numa = -1};
}

EXPORT cudart_error cudaGetDeviceProperties(struct cudart_device_prop *ret, int device) {
    cudart_error code = ret ? need_device(device) : CUDART_INVALID_VALUE;
    if (!code) {
        *ret = properties();
    }
    RETURN(code);
}

/* Attributes by number: members of the properties, or values of their own. */
#define MEMBER(number, member)                                                           \
    { (number), (int)offsetof(struct cudart_device_prop, member), sizeof(p.member), 0 }
#define VALUE(number, value)                                                             \
    { (number), -1, 0, (value) }

static cudart_error attribute_find(int *ret, int number) {
    const struct cudart_device_prop p = properties();
    static const struct {
        int number, offset;
        size_t bytes;
        int value;
    } attributes[] = {MEMBER(1, max_threads_per_block),
                      MEMBER(2, max_threads_dim[0]),
                      MEMBER(3, max_threads_dim[1]),
                      MEMBER(4, max_threads_dim[2]),
                      MEMBER(5, max_grid[0]),
                      MEMBER(6, max_grid[1]),
                      MEMBER(7, max_grid[2]),
                      MEMBER(8, shared_per_block),
                      MEMBER(9, total_constant),
                      MEMBER(10, warp_size),
                      MEMBER(11, pitch),
                      MEMBER(12, registers_per_block),
                      VALUE(13, 1980000),
                      MEMBER(14, texture_alignment),
                      VALUE(15, 1),
                      MEMBER(16, multiprocessors),
                      MEMBER(18, integrated),
                      MEMBER(19, can_map_host),
                      MEMBER(21, texture_1d),
                      MEMBER(22, texture_2d[0]),
                      MEMBER(23, texture_2d[1]),
                      MEMBER(24, texture_3d[0]),
                      MEMBER(25, texture_3d[1]),
                      MEMBER(26, texture_3d[2]),
                      MEMBER(27, texture_2d_layered[0]),
                      MEMBER(28, texture_2d_layered[1]),
                      MEMBER(29, texture_2d_layered[2]),
                      MEMBER(30, surface_alignment),
                      MEMBER(31, concurrent_kernels),
                      MEMBER(32, ecc),
                      VALUE(36, 2619000),
                      MEMBER(37, bus_width),
                      MEMBER(38, l2),
                      MEMBER(39, threads_per_multiprocessor),
                      MEMBER(40, async_engines),
                      MEMBER(41, unified_addressing),
                      MEMBER(51, texture_pitch_alignment),
                      MEMBER(52, texture_cube),
                      MEMBER(75, major),
                      MEMBER(76, minor),
                      MEMBER(78, priorities),
                      MEMBER(79, global_l1),
                      MEMBER(80, local_l1),
                      MEMBER(81, shared_per_multiprocessor),
                      MEMBER(82, registers_per_multiprocessor),
                      MEMBER(83, managed_memory),
                      VALUE(87, 2),
                      MEMBER(88, pageable_access),
                      MEMBER(89, concurrent_managed),
                      MEMBER(90, preemption),
                      MEMBER(91, host_pointer_registered),
                      MEMBER(95, cooperative_launch),
                      MEMBER(97, shared_per_block_optin),
                      MEMBER(99, host_register),
                      VALUE(102, 1), /* virtual memory */
                      VALUE(107, 1), /* … that may be compressed, which changes nothing */
                      MEMBER(106, blocks_per_multiprocessor),
                      MEMBER(108, persisting_l2),
                      MEMBER(109, window_size),
                      MEMBER(111, reserved_shared),
                      MEMBER(115, memory_pools),
                      MEMBER(120, cluster_launch),
                      VALUE(134, -1)};
    for (size_t k = 0; k < ARRAY_LEN(attributes); k++) {
        if (attributes[k].number != number) {
            continue;
        }
        *ret = attributes[k].value;
        if (attributes[k].offset >= 0) { /* a size_t's low half comes first, too */
            memcpy(ret, (const char *)&p + attributes[k].offset, sizeof *ret);
        }
        return CUDART_SUCCESS;
    }
    *ret = 0; /* what it has not */
    return number > 0 && number < 148
               ? CUDART_SUCCESS
               : explain(CUDART_INVALID_VALUE, "a device has no attribute %d", number);
}

EXPORT cudart_error cudaDeviceGetAttribute(int *ret, int attribute, int device) {
    cudart_error code = ret ? need_device(device) : CUDART_INVALID_VALUE;
    RETURN(code ? code : attribute_find(ret, attribute));
}

/* ---- limits and modes ---- */

enum {
    LIMIT_STACK,
    LIMIT_PRINTF,
    LIMIT_HEAP,
    LIMIT_SYNC_DEPTH,
    LIMIT_PENDING,
    LIMITS = 7
};

static size_t limits[LIMITS] = {DEVICE_STACK, 1 << 20, 8 << 20, 2, 2048, 64, 0};

/* Behind the launches before it. */
static int stack_set(void *of) {
    runtime.device.stack_bytes = *(const size_t *)of;
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaDeviceSetLimit(int limit, size_t value) {
    if (limit < 0 || limit >= LIMITS) {
        RETURN(CUDART_UNSUPPORTED_LIMIT);
    }
    limits[limit] = value;
    if (limit == LIMIT_STACK) {
        RETURN(queue_do(&runtime.device.queue, stack_set, &value));
    }
    if (limit == LIMIT_HEAP) {
        runtime.device.memory.heap_limit = value;
    }
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaDeviceGetLimit(size_t *ret, int limit) {
    if (limit < 0 || limit >= LIMITS) {
        RETURN(CUDART_UNSUPPORTED_LIMIT);
    }
    *ret = limits[limit];
    RETURN(CUDART_SUCCESS);
}

static unsigned device_flags;

EXPORT cudart_error cudaSetDeviceFlags(unsigned flags) {
    device_flags = flags;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaGetDeviceFlags(unsigned *ret) {
    *ret = device_flags;
    RETURN(CUDART_SUCCESS);
}
/* Which caches are preferred is a hint. */
EXPORT cudart_error cudaDeviceSetCacheConfig(int) {
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaDeviceGetCacheConfig(int *ret) {
    *ret = 0;
    RETURN(CUDART_SUCCESS);
}
/* Banks of shared memory have one width only, since compute capability 5. */
EXPORT cudart_error cudaDeviceSetSharedMemConfig(int config) {
    RETURN(config >= 0 && config <= 2 ? CUDART_SUCCESS : CUDART_INVALID_VALUE);
}
EXPORT cudart_error cudaDeviceGetSharedMemConfig(int *ret) {
    NEED(ret);
    *ret = 1; /* of four bytes */
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaFuncSetSharedMemConfig(const void *, int config) {
    RETURN(config >= 0 && config <= 2 ? CUDART_SUCCESS : CUDART_INVALID_VALUE);
}
EXPORT cudart_error cudaCtxResetPersistingL2Cache(void) {
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaProfilerStart(void) {
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaProfilerStop(void) {
    RETURN(CUDART_SUCCESS);
}

/* ---- peers: none ---- */

EXPORT cudart_error cudaDeviceCanAccessPeer(int *ret, int device, int peer) {
    *ret = 0;
    cudart_error code = need_device(device);
    RETURN(code ? code : need_device(peer));
}
EXPORT cudart_error cudaDeviceEnablePeerAccess(int peer, unsigned) {
    RETURN(peer == 0 ? CUDART_INVALID_DEVICE : need_device(peer));
}
EXPORT cudart_error cudaDeviceDisablePeerAccess(int peer) {
    RETURN(peer == 0 ? CUDART_PEER_NOT_ENABLED : need_device(peer));
}
EXPORT cudart_error cudaDeviceGetP2PAttribute(int *ret, int, int from, int to) {
    *ret = 0;
    RETURN(from == 0 && to == 0 ? CUDART_INVALID_DEVICE : need_device(from ? from : to));
}
