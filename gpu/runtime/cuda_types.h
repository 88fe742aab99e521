#pragma once
/* cuda_types: the types of CUDA 13's runtime interface, as NVIDIA documents them.
 *
 * Enumerations are int here. Their values and the layout of structures are a contract
 * with compiled programs; docs of the CUDA Runtime API name what each member means. */
#include <stddef.h>
#include <stdint.h>

typedef int cudart_error; /* cudaError_t */
enum cudart_error_value {
    CUDART_SUCCESS = 0,
    CUDART_INVALID_VALUE = 1,
    CUDART_OUT_OF_MEMORY = 2,
    CUDART_INVALID_CONFIGURATION = 9,
    CUDART_INVALID_PITCH = 12,
    CUDART_INVALID_SYMBOL = 13,
    CUDART_INVALID_DEVICE_POINTER = 17,
    CUDART_INVALID_TEXTURE = 18,
    CUDART_INVALID_CHANNEL = 20,
    CUDART_INVALID_DIRECTION = 21,
    CUDART_MISSING_CONFIGURATION = 52,
    CUDART_INVALID_FUNCTION = 98,
    CUDART_INVALID_DEVICE = 101,
    CUDART_INVALID_CONTEXT = 201,
    CUDART_NO_KERNEL_IMAGE = 209,
    CUDART_UNSUPPORTED_LIMIT = 215,
    CUDART_PEER_UNSUPPORTED = 217,
    CUDART_INVALID_PTX = 218,
    CUDART_FILE_NOT_FOUND = 301,
    CUDART_INVALID_HANDLE = 400,
    CUDART_ILLEGAL_STATE = 401,
    CUDART_SYMBOL_NOT_FOUND = 500,
    CUDART_NOT_READY = 600,
    CUDART_ILLEGAL_ADDRESS = 700,
    CUDART_OUT_OF_RESOURCES = 701,
    CUDART_TIMEOUT = 702,
    CUDART_PEER_NOT_ENABLED = 705,
    CUDART_ASSERT = 710,
    CUDART_ALREADY_REGISTERED = 712,
    CUDART_NOT_REGISTERED = 713,
    CUDART_MISALIGNED_ADDRESS = 716,
    CUDART_LAUNCH_FAILURE = 719,
    CUDART_COOPERATIVE_TOO_LARGE = 720,
    CUDART_NOT_PERMITTED = 800,
    CUDART_NOT_SUPPORTED = 801,
    CUDART_CAPTURE_UNSUPPORTED = 900,
    CUDART_CAPTURE_INVALIDATED = 901,
    CUDART_CAPTURE_IMPLICIT = 906,
    CUDART_CAPTURE_UNMATCHED = 903,
    CUDART_GRAPH_UPDATE = 910,
    CUDART_INVALID_CLUSTER = 912,
    CUDART_UNKNOWN = 999,
};

enum cudart_copy_kind { COPY_HOST_HOST, COPY_IN, COPY_OUT, COPY_DEVICE, COPY_DEFAULT };

struct dim3 {
    unsigned x, y, z;
};
struct array;
struct graph;
struct node;
struct memory_pool;
struct stream;
struct event;

struct cudart_device_prop {
    char name[256];
    char uuid[16], luid[8];
    unsigned luid_node_mask;
    size_t total_memory, shared_per_block;
    int registers_per_block, warp_size;
    size_t pitch;
    int max_threads_per_block, max_threads_dim[3], max_grid[3];
    size_t total_constant;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int multiprocessors, integrated, can_map_host;
    int texture_1d, texture_1d_mipmap, texture_2d[2], texture_2d_mipmap[2];
    int texture_2d_linear[3], texture_2d_gather[2], texture_3d[3], texture_3d_alt[3];
    int texture_cube, texture_1d_layered[2], texture_2d_layered[3];
    int texture_cube_layered[2];
    int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2];
    int surface_2d_layered[3], surface_cube, surface_cube_layered[2];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc;
    int async_engines, unified_addressing, bus_width, l2, persisting_l2;
    int threads_per_multiprocessor, priorities, global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed_memory, multi_gpu_board, board_group;
    int host_native_atomics, pageable_access, concurrent_managed, preemption;
    int host_pointer_registered, cooperative_launch;
    size_t shared_per_block_optin;
    int pageable_host_tables, direct_managed, blocks_per_multiprocessor, window_size;
    size_t reserved_shared;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores;
    int memory_pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred_arrays, ipc_events, cluster_launch, unified_functions, numa_config;
    int numa, mps, host_numa;
    unsigned pci_device_id, pci_subsystem_id;
    int host_numa_ipc;
    int reserved[56];
};

struct cudart_function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode;
    int max_dynamic_shared, carveout;
    int cluster_must_be_set, cluster[3], cluster_policy, non_portable_cluster;
    int reserved[16];
};

struct cudart_pointer_attributes {
    int type, device; /* type: 0 unregistered, 1 host, 2 device, 3 managed */
    void *device_pointer, *host_pointer;
    long reserved[8];
};

struct cudart_launch_attribute { /* the value is a union of 64 bytes */
    int id;
    char pad[4];
    union {
        char pad[64];
        int flag;
        struct dim3 shape;
    } value;
};
struct cudart_launch_config {
    struct dim3 grid, block;
    size_t dynamic_shared;
    struct stream *stream;
    struct cudart_launch_attribute *attributes;
    unsigned attribute_count;
};

struct cudart_channels { /* cudaChannelFormatDesc: bits of each */
    int x, y, z, w, kind;
};
struct cudart_extent {
    size_t width, height, depth;
};
struct cudart_position {
    size_t x, y, z;
};
struct cudart_pitched {
    void *pointer;
    size_t pitch, width, height;
};
struct cudart_copy_3d {
    struct array *from_array;
    struct cudart_position from_position;
    struct cudart_pitched from;
    struct array *to_array;
    struct cudart_position to_position;
    struct cudart_pitched to;
    struct cudart_extent extent;
    int kind;
};
struct cudart_resource { /* cudaResourceDesc */
    int type;            /* 0 array, 1 mipmapped array, 2 linear, 3 pitched 2D */
    union {
        struct array *array;
        struct {
            void *pointer;
            struct cudart_channels channels;
            size_t bytes;
        } linear;
        struct {
            void *pointer;
            struct cudart_channels channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    } of;
    unsigned flags;
};
struct cudart_texture { /* cudaTextureDesc */
    int address[3], filter, read, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_min, mipmap_max;
    int no_optimization, seamless;
};
struct cudart_kernel_node { /* cudaKernelNodeParams */
    const void *function;
    struct dim3 grid, block;
    unsigned shared;
    void **params, **extra;
};
struct cudart_set_node { /* cudaMemsetParams */
    void *to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};
struct cudart_host_node { /* cudaHostNodeParams */
    void (*function)(void *);
    void *data;
};
struct cudart_graph_update { /* cudaGraphExecUpdateResultInfo */
    int result;
    void *node, *from;
};
struct cudart_allocation_node { /* cudaMemAllocNodeParams */
    int type, handles, location, device;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
    const void *access;
    size_t access_count, bytes;
    void *address;
};
struct cudart_conditional_node { /* cudaConditionalNodeParams */
    uint64_t handle;
    int kind; /* 0 if, 1 while, 2 switch */
    unsigned count;
    struct graph **bodies;
};
struct cudart_node { /* cudaGraphNodeParams */
    int type, reserved[3];
    union {
        long long pad[29];
        struct cudart_kernel_node kernel;
        struct {
            int flags, reserved[3];
            struct cudart_copy_3d copy;
        } copy;
        struct cudart_set_node set;
        struct cudart_host_node host;
        struct graph *child;
        struct cudart_allocation_node allocation;
        void *freed;
        struct event *event;
        struct cudart_conditional_node conditional;
    } of;
    long long reserved_last;
};
struct cudart_instantiation { /* cudaGraphInstantiateParams */
    unsigned long long flags;
    struct stream *upload;
    struct node *wrong;
    int result;
};
