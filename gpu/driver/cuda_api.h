#pragma once
/* cuda_api: the part of CUDA's driver API that we use, declared here and loaded at run
 * time if it exists.
 *
 * Building needs no CUDA headers, and libcuda is never linked. Values and layouts are
 * those of cuda.h (12.0 to 13.x, which keep them stable); tests/unit/gpu/cuda_abi.py
 * compares each with the real header if one is installed. Used only in the short-lived
 * processes that run kernels; the library is never unloaded. Call from one thread. */
#include "base/mem.h"

typedef struct cuda_context_object *cuda_context_ref; /* CUcontext, and so on */
typedef struct cuda_module_object *cuda_module_ref;
typedef struct cuda_function_object *cuda_function_ref;
typedef struct cuda_stream_object *cuda_stream_ref;
typedef struct cuda_event_object *cuda_event_ref;
typedef struct cuda_graph_object *cuda_graph_ref;
typedef struct cuda_graph_exec_object *cuda_graph_exec_ref;
typedef struct cuda_array_object *cuda_array_ref;
typedef uint64_t cuda_address;                         /* CUdeviceptr */
typedef unsigned long long cuda_texture, cuda_surface; /* CUtexObject, CUsurfObject */

struct cuda_uuid {
    unsigned char bytes[16];
};

enum cuda_code { /* CUresult, as far as they are told apart; all have names, see below */
                 CUDA_OK = 0,
                 CUDA_INVALID_VALUE = 1,
                 CUDA_OUT_OF_MEMORY = 2,
                 CUDA_NOT_INITIALIZED = 3,
                 CUDA_STUB_LIBRARY = 34,
                 CUDA_DEVICE_UNAVAILABLE = 46,
                 CUDA_NO_DEVICE = 100,
                 CUDA_NO_BINARY_FOR_GPU = 209,
                 CUDA_ECC_UNCORRECTABLE = 214,
                 CUDA_INVALID_PTX = 218,
                 CUDA_NVLINK_UNCORRECTABLE = 220,
                 CUDA_UNSUPPORTED_PTX_VERSION = 222,
                 CUDA_NOT_FOUND = 500,
                 CUDA_NOT_READY = 600,
                 CUDA_ILLEGAL_ADDRESS = 700,
                 CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
                 CUDA_LAUNCH_TIMEOUT = 702,
                 CUDA_ASSERT = 710,
                 CUDA_HARDWARE_STACK_ERROR = 714,
                 CUDA_ILLEGAL_INSTRUCTION = 715,
                 CUDA_MISALIGNED_ADDRESS = 716,
                 CUDA_INVALID_ADDRESS_SPACE = 717,
                 CUDA_INVALID_PC = 718,
                 CUDA_LAUNCH_FAILED = 719,
                 CUDA_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
                 CUDA_NOT_SUPPORTED = 801,
                 CUDA_SYSTEM_NOT_READY = 802,
                 CUDA_INVALID_CLUSTER_SIZE = 912,
                 CUDA_UNKNOWN = 999,
};

enum cuda_device_attribute { /* CUdevice_attribute */
                             CUDA_DEVICE_MAX_THREADS_PER_BLOCK = 1,
                             CUDA_DEVICE_MAX_BLOCK_X = 2,  /* Y 3, Z 4 */
                             CUDA_DEVICE_MAX_GRID_X = 5,   /* Y 6, Z 7 */
                             CUDA_DEVICE_SHARED_BYTES = 8, /* without opt-in */
                             CUDA_DEVICE_CLOCK_KHZ = 13,
                             CUDA_DEVICE_SM_COUNT = 16,
                             CUDA_DEVICE_INTEGRATED = 18,
                             CUDA_DEVICE_COMPUTE_MODE = 20,
                             CUDA_DEVICE_ECC = 32,
                             CUDA_DEVICE_MEMORY_CLOCK_KHZ = 36,
                             CUDA_DEVICE_MEMORY_BUS_BITS = 37,
                             CUDA_DEVICE_L2_BYTES = 38,
                             CUDA_DEVICE_CAPABILITY_MAJOR = 75,
                             CUDA_DEVICE_CAPABILITY_MINOR = 76,
                             CUDA_DEVICE_COOPERATIVE_LAUNCH = 95,
                             CUDA_DEVICE_SHARED_OPTIN_BYTES = 97,
                             CUDA_DEVICE_MAX_PERSISTING_L2_BYTES = 108,
                             CUDA_DEVICE_CLUSTER_LAUNCH = 120,
};
enum cuda_function_attribute { /* CUfunction_attribute */
                               CUDA_FUNCTION_MAX_THREADS = 0,
                               CUDA_FUNCTION_STATIC_SHARED_BYTES = 1,
                               CUDA_FUNCTION_LOCAL_BYTES = 3,
                               CUDA_FUNCTION_REGISTERS = 4,
                               CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8,
                               CUDA_FUNCTION_NON_PORTABLE_CLUSTER = 14,
};
enum cuda_limit { /* CUlimit */
                  CUDA_LIMIT_STACK_BYTES = 0,
                  CUDA_LIMIT_PRINTF_BYTES = 1,
                  CUDA_LIMIT_HEAP_BYTES = 2,
};
enum cuda_jit_option { /* CUjit_option */
                       CUDA_JIT_INFO_LOG = 3,
                       CUDA_JIT_INFO_LOG_BYTES = 4,
                       CUDA_JIT_ERROR_LOG = 5,
                       CUDA_JIT_ERROR_LOG_BYTES = 6,
                       CUDA_JIT_LINE_INFO = 13,
};
enum cuda_flag {
    CUDA_CONTEXT_SCHED_SPIN = 1,
    CUDA_CONTEXT_SCHED_YIELD = 2,
    CUDA_CONTEXT_SCHED_BLOCKING = 4,
    CUDA_STREAM_NON_BLOCKING = 1,
    CUDA_CAPTURE_THREAD_LOCAL = 1, /* CUstreamCaptureMode */
};

enum cuda_launch_attribute_id {
    CUDA_LAUNCH_COOPERATIVE = 2,
    CUDA_LAUNCH_CLUSTER = 4,
};
struct cuda_launch_attribute { /* CUlaunchAttribute */
    int id;
    char pad[8 - sizeof(int)];
    union {
        char bytes[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
};
struct cuda_launch { /* CUlaunchConfig */
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    cuda_stream_ref stream;
    struct cuda_launch_attribute *attributes;
    unsigned attribute_count;
};

/* Behind each other in launch's `extra`, instead of `params`: the whole parameter block
 * and a pointer to its size. */
#define CUDA_LAUNCH_PARAM_END ((void *)0)
#define CUDA_LAUNCH_PARAM_BUFFER ((void *)1)
#define CUDA_LAUNCH_PARAM_BUFFER_BYTES ((void *)2)

/* cuTensorMapEncodeTiled's; the opaque result is 128 bytes, aligned to 64 (to 128 since
 * 13.0: use 128). */
#define CUDA_TENSOR_MAP_BYTES 128
#define CUDA_TENSOR_MAP_ALIGN 128
enum cuda_tensor_type { /* CUtensorMapDataType */
                        CUDA_TENSOR_UINT8 = 0,
                        CUDA_TENSOR_UINT16 = 1,
                        CUDA_TENSOR_UINT32 = 2,
                        CUDA_TENSOR_INT32 = 3,
                        CUDA_TENSOR_UINT64 = 4,
                        CUDA_TENSOR_INT64 = 5,
                        CUDA_TENSOR_FLOAT16 = 6,
                        CUDA_TENSOR_FLOAT32 = 7,
                        CUDA_TENSOR_FLOAT64 = 8,
                        CUDA_TENSOR_BFLOAT16 = 9,
};
enum cuda_tensor_swizzle { /* CUtensorMapSwizzle */
                           CUDA_SWIZZLE_NONE,
                           CUDA_SWIZZLE_32B,
                           CUDA_SWIZZLE_64B,
                           CUDA_SWIZZLE_128B,
};

enum cuda_array_format { /* CUarray_format */
                         CUDA_ARRAY_UINT8 = 1,
                         CUDA_ARRAY_UINT16 = 2,
                         CUDA_ARRAY_UINT32 = 3,
                         CUDA_ARRAY_INT8 = 8,
                         CUDA_ARRAY_INT16 = 9,
                         CUDA_ARRAY_INT32 = 10,
                         CUDA_ARRAY_HALF = 16,
                         CUDA_ARRAY_FLOAT = 32,
};
enum cuda_array_flag {
    CUDA_ARRAY_LAYERED = 1, /* depth counts layers */
    CUDA_ARRAY_SURFACE = 2,
    CUDA_ARRAY_CUBEMAP = 4, /* depth is 6, or with LAYERED a multiple of 6 */
    CUDA_ARRAY_GATHER = 8,  /* two dimensions only */
};
struct cuda_array_shape { /* CUDA_ARRAY3D_DESCRIPTOR: 0 where there is no dimension */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
enum cuda_memory_type { /* CUmemorytype */
                        CUDA_MEMORYTYPE_DEVICE = 2,
                        CUDA_MEMORYTYPE_ARRAY = 3,
};
struct cuda_box_copy { /* CUDA_MEMCPY3D: two of `end`, and the extents */
    struct cuda_box_end {
        size_t x_bytes, y, z, level;
        int type;
        void *host;
        cuda_address device;
        cuda_array_ref array;
        void *reserved;
        size_t pitch, height; /* of device memory: bytes of a row, rows of a slice */
    } from, to;
    size_t width_bytes, height, depth;
};
enum cuda_resource_type { /* CUresourcetype */
                          CUDA_RESOURCE_ARRAY = 0,
                          CUDA_RESOURCE_LINEAR = 2,
};
struct cuda_resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        cuda_array_ref array;
        struct {
            cuda_address address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        int reserved[32];
    } of;
    unsigned flags;
};
struct cuda_resource_view; /* none is made */
enum cuda_texture_flag {
    CUDA_TEXTURE_READ_AS_INTEGER = 1,
    CUDA_TEXTURE_NORMALIZED_COORDINATES = 2,
    CUDA_TEXTURE_SEAMLESS_CUBEMAP = 0x40,
};
struct cuda_texture_modes { /* CUDA_TEXTURE_DESC */
    int address[3];         /* CUaddress_mode: wrap, clamp, mirror, border */
    int filter;             /* CUfilter_mode: point, linear */
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_first, mipmap_last;
    float border[4];
    int reserved[12];
};

struct cuda_api {
#define CUDA_FUNCTION(member, symbol, needed, args) int(*member) args;
#include "gpu/driver/cuda_functions.def"
#undef CUDA_FUNCTION
};

/* "libcuda.so.1" in the loader's path, or `path`. -ENOENT: no such library, with where it
 * comes from; -ENOSYS: it lacks a needed function, named. Does not call cuInit. */
int cuda_api_load(const struct cuda_api **ret, const char *path, struct err *err);
/* "CUDA_ERROR_ILLEGAL_ADDRESS", for every code of cuda.h 13.0; "CUDA_ERROR_12345"
 * otherwise. Static or thread-local. */
const char *cuda_code_name(int code);
/* What it means and what to look at, a sentence; "" where there is nothing to add. */
const char *cuda_code_hint(int code);
/* After it every call in this process fails: only a new process is clean. */
bool cuda_code_is_sticky(int code);
/* A fault of the machine, or of somebody else on the device: not the kernel's. */
bool cuda_code_is_foreign(int code);
