#include "gpu/driver/cuda_api.h"

#include "base/mem.h"

#include <stdio.h>

struct named_code {
    int code;
    const char *name, *hint; /* hint may be NULL */
};

/* All of cuda.h 13.0, in its order, which is that of the numbers. */
static const struct named_code named[] = {
    {0, "CUDA_SUCCESS", NULL},
    {1, "CUDA_ERROR_INVALID_VALUE",
     "An argument of the call is out of its range: grid, block, shared memory or the "
     "parameters."},
    {2, "CUDA_ERROR_OUT_OF_MEMORY",
     "The device has too little free memory: give smaller sizes, or end what else uses "
     "it."},
    {3, "CUDA_ERROR_NOT_INITIALIZED", NULL},
    {4, "CUDA_ERROR_DEINITIALIZED", NULL},
    {5, "CUDA_ERROR_PROFILER_DISABLED", NULL},
    {6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", NULL},
    {7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", NULL},
    {8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", NULL},
    {34, "CUDA_ERROR_STUB_LIBRARY",
     "The library is the toolkit's stub for linking, not the driver's: put the driver's "
     "folder first in the loader's path."},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "A newer driver is needed."},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "Another process has the device for itself (exclusive compute mode), or it is "
     "prohibited: try again, or change the mode with nvidia-smi -c 0."},
    {100, "CUDA_ERROR_NO_DEVICE",
     "The driver sees no device: look at nvidia-smi, at CUDA_VISIBLE_DEVICES and at the "
     "container's devices."},
    {101, "CUDA_ERROR_INVALID_DEVICE",
     "There is no such device: look at CUDA_VISIBLE_DEVICES."},
    {102, "CUDA_ERROR_DEVICE_NOT_LICENSED", NULL},
    {200, "CUDA_ERROR_INVALID_IMAGE", "The module is not one that this driver reads."},
    {201, "CUDA_ERROR_INVALID_CONTEXT", NULL},
    {202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", NULL},
    {205, "CUDA_ERROR_MAP_FAILED", NULL},
    {206, "CUDA_ERROR_UNMAP_FAILED", NULL},
    {207, "CUDA_ERROR_ARRAY_IS_MAPPED", NULL},
    {208, "CUDA_ERROR_ALREADY_MAPPED", NULL},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "The kernel was compiled for another architecture than the device's: give the "
     "device's as \"arch\"."},
    {210, "CUDA_ERROR_ALREADY_ACQUIRED", NULL},
    {211, "CUDA_ERROR_NOT_MAPPED", NULL},
    {212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", NULL},
    {213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", NULL},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "The device's memory has a fault that could not be corrected: reset or replace it."},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT", NULL},
    {216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", NULL},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", NULL},
    {218, "CUDA_ERROR_INVALID_PTX",
     "The driver's assembler refuses the PTX: see the message."},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", NULL},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "NVLink has a fault: reset the device."},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
     "libnvidia-ptxjitcompiler.so.1 of the driver is missing."},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "The PTX is newer than the driver: update the driver, or compile with a CUDA "
     "toolkit as old as it."},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "CUDA_DISABLE_PTX_JIT is set."},
    {224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", NULL},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", NULL},
    {226, "CUDA_ERROR_CONTAINED", NULL},
    {300, "CUDA_ERROR_INVALID_SOURCE", NULL},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", NULL},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", NULL},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", NULL},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", NULL},
    {400, "CUDA_ERROR_INVALID_HANDLE", NULL},
    {401, "CUDA_ERROR_ILLEGAL_STATE", NULL},
    {402, "CUDA_ERROR_LOSSY_QUERY", NULL},
    {500, "CUDA_ERROR_NOT_FOUND", "The module has nothing of that name."},
    {600, "CUDA_ERROR_NOT_READY", NULL},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "A thread read or wrote outside of all buffers, or after a buffer was freed: look "
     "at the indices of the last blocks, or run with \"backend\": \"emulator\", which "
     "names the line."},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "The block needs more registers or shared memory than a multiprocessor has: make it "
     "smaller, or bound registers with __launch_bounds__."},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "The device also drives a display, whose watchdog ended the kernel."},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", NULL},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", NULL},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", NULL},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", NULL},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", NULL},
    {710, "CUDA_ERROR_ASSERT", "A device-side assert failed: see the findings."},
    {711, "CUDA_ERROR_TOO_MANY_PEERS", NULL},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", NULL},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", NULL},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR",
     "A thread's call stack overflowed or was damaged: deep recursion, or writes beyond "
     "local arrays."},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "The kernel ran into an instruction that is not one, as __trap() or a damaged code "
     "address cause."},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "A load or store is not aligned to its size: a vector type on an odd offset."},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "An instruction for shared, local or global memory got an address of another "
     "space."},
    {718, "CUDA_ERROR_INVALID_PC",
     "A jump went to no valid instruction: a damaged function pointer or stack."},
    {719, "CUDA_ERROR_LAUNCH_FAILED",
     "The kernel trapped: __trap(), a fault in shared memory, or a failed hardware "
     "barrier. \"backend\": \"emulator\" names the line."},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "All blocks of a cooperative launch must be resident at once: fewer or smaller "
     "blocks."},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", NULL},
    {800, "CUDA_ERROR_NOT_PERMITTED", NULL},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "The device or the driver cannot do this."},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY",
     "The fabric manager (nvidia-fabricmanager) is not running."},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "The driver's library and its kernel module have different versions: reboot, or "
     "reload the module."},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "The forward-compatibility library does not work with this device: use the driver's "
     "own."},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED",
     "The MPS daemon does not answer: see nvidia-cuda-mps-control."},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", NULL},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", NULL},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", NULL},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", NULL},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED",
     "MPS ended this process because of another one's fault."},
    {811, "CUDA_ERROR_CDP_NOT_SUPPORTED", NULL},
    {812, "CUDA_ERROR_CDP_VERSION_MISMATCH", NULL},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", NULL},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", NULL},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", NULL},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", NULL},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", NULL},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", NULL},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", NULL},
    {907, "CUDA_ERROR_CAPTURED_EVENT", NULL},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", NULL},
    {909, "CUDA_ERROR_TIMEOUT", NULL},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", NULL},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE", NULL},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "The cluster does not fit the device or does not divide the grid."},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED", NULL},
    {914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", NULL},
    {915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", NULL},
    {916, "CUDA_ERROR_KEY_ROTATION", NULL},
    {999, "CUDA_ERROR_UNKNOWN", "Look at dmesg for the driver's own messages (Xid)."},
};

static const struct named_code *code_find(int code) {
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        if (named[i].code == code) {
            return &named[i];
        }
    }
    return NULL;
}

const char *cuda_code_name(int code) {
    static _Thread_local char unknown[32];
    const struct named_code *found = code_find(code);
    if (found) {
        return found->name;
    }
    snprintf(unknown, sizeof unknown, "CUDA_ERROR_%d", code);
    return unknown;
}

const char *cuda_code_hint(int code) {
    const struct named_code *found = code_find(code);
    return found && found->hint ? found->hint : "";
}

bool cuda_code_is_foreign(int code) {
    switch (code) {
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED:
    case CUDA_MPS_CLIENT_TERMINATED:
    case CUDA_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}

bool cuda_code_is_sticky(int code) {
    switch (code) {
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_LAUNCH_TIMEOUT:
    case CUDA_ASSERT:
    case CUDA_HARDWARE_STACK_ERROR:
    case CUDA_ILLEGAL_INSTRUCTION:
    case CUDA_MISALIGNED_ADDRESS:
    case CUDA_INVALID_ADDRESS_SPACE:
    case CUDA_INVALID_PC:
    case CUDA_LAUNCH_FAILED:
    case CUDA_CONTAINED:
    case CUDA_TENSOR_MEMORY_LEAK:
    case CUDA_MPS_CLIENT_TERMINATED:
    case CUDA_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}
