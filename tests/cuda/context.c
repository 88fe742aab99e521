#include "tests/cuda/context.h"

#include "tests/cuda/conf.h"
#include "tests/cuda/device_memory.h"
#include "tests/cuda/images.h"
#include "tests/cuda/module.h"
#include "tests/cuda/output.h"
#include "tests/cuda/stream.h"
#include "tests/cuda/tasks.h"

#define MAX_CONTEXTS 64

static struct {
    unsigned users[MAX_CONTEXTS]; /* by device */
    bool current;
} contexts;

bool context_is_current(void) {
    return contexts.current;
}

bool context_is_sticky(int code) {
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
        return true;
    default:
        return false;
    }
}

void context_finish(void) {
    streams_finish();
    modules_finish();
    device_images_finish();
    device_memory_finish();
    output_finish();
    contexts.current = false;
}

static bool device_fine(int device) {
    return device >= 0 && device < conf.devices && device < MAX_CONTEXTS;
}

int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    ENTER(cuDevicePrimaryCtxSetFlags_v2, NEED_INIT);
    if (!device_fine(device)) {
        return STANDIN_INVALID_DEVICE;
    }
    return flags & ~0x7fu ? CUDA_INVALID_VALUE : CUDA_OK;
}

int cuDevicePrimaryCtxRetain(cuda_context_ref *ret, int device) {
    ENTER(cuDevicePrimaryCtxRetain, NEED_INIT);
    if (!ret) {
        return CUDA_INVALID_VALUE;
    }
    if (!device_fine(device)) {
        return STANDIN_INVALID_DEVICE;
    }
    if (conf.compute_mode == 2) {
        return 46; /* DEVICE_UNAVAILABLE: the mode is "prohibited" */
    }
    contexts.users[device]++;
    *ret = (cuda_context_ref)(void *)&contexts.users[device];
    return tasks.error;
}

static bool contexts_used(void) {
    for (unsigned k = 0; k < MAX_CONTEXTS; k++) {
        if (contexts.users[k]) {
            return true;
        }
    }
    return false;
}

/* The last release waits for what runs, as a driver does. */
int cuDevicePrimaryCtxRelease_v2(int device) {
    ENTER(cuDevicePrimaryCtxRelease_v2, NEED_INIT);
    if (!device_fine(device) || !contexts.users[device]) {
        return device_fine(device) ? STANDIN_INVALID_CONTEXT : STANDIN_INVALID_DEVICE;
    }
    contexts.users[device]--;
    if (!contexts_used()) {
        if (tasks_wait(tasks.submitted) == CUDA_OK) {
            output_flush();
        }
        while (tasks.head && tasks.started) { /* dropped by the thread after an error */
            pthread_cond_wait(&tasks.changed, &tasks.lock);
        }
        context_finish();
    }
    return CUDA_OK;
}

int cuCtxSetCurrent(cuda_context_ref context) {
    ENTER(cuCtxSetCurrent, NEED_INIT);
    const char *at = (const char *)(void *)context;
    const char *first = (const char *)contexts.users;
    if (context && (at < first || at >= first + sizeof contexts.users ||
                    *(const unsigned *)(const void *)at == 0)) {
        return STANDIN_INVALID_CONTEXT;
    }
    contexts.current = context != NULL;
    return CUDA_OK;
}

int cuCtxSynchronize(void) {
    ENTER(cuCtxSynchronize, NEED_CONTEXT);
    if (streams_capture_break()) {
        return STANDIN_CAPTURE_UNSUPPORTED;
    }
    int code = tasks_wait(tasks.submitted);
    if (code == CUDA_OK) {
        output_flush();
    }
    return code;
}

int cuCtxSetLimit(int limit, size_t value) {
    ENTER(cuCtxSetLimit, NEED_CONTEXT);
    if (limit == CUDA_LIMIT_PRINTF_BYTES) {
        output_limit(value);
    } else if (limit == CUDA_LIMIT_STACK_BYTES) {
        return value > 512 << 10 ? CUDA_INVALID_VALUE : CUDA_OK;
    }
    return limit < 0 || limit > 6 ? STANDIN_UNSUPPORTED_LIMIT : CUDA_OK;
}

int cuCtxResetPersistingL2Cache(void) {
    ENTER(cuCtxResetPersistingL2Cache, NEED_CONTEXT);
    return CUDA_OK;
}
