/* driver: devices, contexts, errors and addresses of functions of CUDA's driver. */
#include "gpu/runtime/api_errors.h"
#include "gpu/runtime/driver_api.h"

#include <dlfcn.h>

/* ---- devices ---- */

static cudart_error device_check(int device) {
    return device == 0 ? CUDART_SUCCESS
                       : explain(CUDART_INVALID_DEVICE, "there is one device, 0");
}

EXPORT int cuInit(unsigned flags) {
    RETURN(flags ? CUDART_INVALID_VALUE : CUDART_SUCCESS);
}

EXPORT int cuDeviceGet(int *ret, int ordinal) {
    NEED(ret);
    *ret = ordinal == 0 ? 0 : *ret;
    RETURN(device_check(ordinal));
}

EXPORT int cuDeviceGetName(char *ret, int size, int device) {
    struct cudart_device_prop p;
    NEED(ret);
    cudart_error code = size > 0 ? device_check(device) : CUDART_INVALID_VALUE;
    if (!code && !(code = cudaGetDeviceProperties(&p, device))) {
        (void)snprintf(ret, (size_t)size, "%s", p.name);
    }
    RETURN(code);
}

EXPORT int cuDeviceTotalMem_v2(size_t *ret, int device) {
    size_t left;
    NEED(ret);
    cudart_error code = device_check(device);
    RETURN(code ? code : cudaMemGetInfo(&left, ret));
}

EXPORT int cuDeviceComputeCapability(int *ret_major, int *ret_minor, int device) {
    NEED(ret_major && ret_minor);
    *ret_major = 9;
    *ret_minor = 0;
    RETURN(device_check(device));
}

EXPORT int cuDeviceGetUuid(char ret[16], int device) {
    struct cudart_device_prop p;
    NEED(ret);
    cudart_error code = device_check(device);
    code = code ? code : cudaGetDeviceProperties(&p, device);
    if (!code) {
        memcpy(ret, p.uuid, sizeof p.uuid);
    }
    RETURN(code);
}

/* ---- contexts ---- */

#define CONTEXTS_MAX 16

struct context {
    bool primary;
};
struct context_params { /* CUctxCreateParams */
    const void *affinities;
    int affinity_count;
    const void *graphics;
};
static struct context primary = {.primary = true};
static __thread struct {
    struct context *stack[CONTEXTS_MAX];
    unsigned count;
} current;

static cudart_error context_push(struct context *c) {
    if (current.count == CONTEXTS_MAX) {
        return explain(CUDART_INVALID_VALUE, "%d contexts are current already",
                       CONTEXTS_MAX);
    }
    current.stack[current.count++] = c;
    return CUDART_SUCCESS;
}

static cudart_error context_new(struct context **ret, int device) {
    NEED(ret);
    cudart_error code = device_check(device);
    if (code) {
        return code;
    }
    *ret = xcalloc(1, sizeof **ret);
    return context_push(*ret);
}

EXPORT int cuCtxCreate_v2(struct context **ret, unsigned, int device) {
    RETURN(context_new(ret, device));
}

EXPORT int cuCtxCreate_v4(struct context **ret, const struct context_params *params,
                          unsigned, int device) {
    bool plain = !params || (!params->affinity_count && !params->graphics);
    RETURN(plain ? context_new(ret, device)
                 : explain(CUDART_NOT_SUPPORTED,
                           "contexts with a share of the device are not supported"));
}

EXPORT int cuCtxDestroy_v2(struct context *c) {
    NEED(c && !c->primary);
    cudart_error code = cudaDeviceSynchronize();
    if (current.count && current.stack[current.count - 1] == c) {
        current.count--;
    }
    free(c);
    RETURN(code);
}

EXPORT int cuCtxSetCurrent(struct context *c) {
    current.count -= current.count > 0;
    RETURN(c ? context_push(c) : CUDART_SUCCESS);
}

EXPORT int cuCtxGetCurrent(struct context **ret) {
    NEED(ret);
    *ret = current.count ? current.stack[current.count - 1] : NULL;
    RETURN(CUDART_SUCCESS);
}

EXPORT int cuCtxPushCurrent_v2(struct context *c) {
    NEED(c);
    RETURN(context_push(c));
}

EXPORT int cuCtxPopCurrent_v2(struct context **ret) {
    if (!current.count) {
        RETURN(explain(CUDART_INVALID_CONTEXT, "no context is current"));
    }
    current.count--;
    if (ret) {
        *ret = current.stack[current.count];
    }
    RETURN(CUDART_SUCCESS);
}

EXPORT int cuCtxGetDevice(int *ret) {
    NEED(ret);
    *ret = 0;
    RETURN(CUDART_SUCCESS);
}

EXPORT int cuDevicePrimaryCtxRetain(struct context **ret, int device) {
    NEED(ret);
    *ret = &primary;
    RETURN(device_check(device));
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
    RETURN(device_check(device));
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *ret_flags, int *ret_active) {
    NEED(ret_flags && ret_active);
    *ret_active = 1;
    cudart_error code = device_check(device);
    RETURN(code ? code : cudaGetDeviceFlags(ret_flags));
}

EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    cudart_error code = device_check(device);
    RETURN(code ? code : cudaSetDeviceFlags(flags));
}

/* All contexts are of the one device. */
EXPORT int cuCtxEnablePeerAccess(struct context *, unsigned) {
    RETURN(explain(CUDART_PEER_UNSUPPORTED, "there is one device"));
}

EXPORT int cuCtxDisablePeerAccess(struct context *) {
    RETURN(CUDART_PEER_NOT_ENABLED);
}

/* ---- errors ---- */

/* The driver says CUDA_ERROR_NOT_READY where the runtime says cudaErrorNotReady; some
 * have names of their own. */
static const char *driver_name(int code) {
    static const struct {
        int code;
        const char *name;
    } own[] = {{0, "CUDA_SUCCESS"},
               {2, "CUDA_ERROR_OUT_OF_MEMORY"},
               {3, "CUDA_ERROR_NOT_INITIALIZED"},
               {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
               {400, "CUDA_ERROR_INVALID_HANDLE"},
               {500, "CUDA_ERROR_NOT_FOUND"},
               {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
               {719, "CUDA_ERROR_LAUNCH_FAILED"}};
    static __thread char made[96];
    for (size_t k = 0; k < ARRAY_LEN(own); k++) {
        if (own[k].code == code) {
            return own[k].name;
        }
    }
    const char *from = api_error_name(code) + strlen("cudaError");
    size_t len = (size_t)snprintf(made, sizeof made, "CUDA_ERROR");
    for (; *from && len + 3 < sizeof made; from++) {
        if (*from >= 'A' && *from <= 'Z') {
            made[len++] = '_';
        }
        made[len++] = (char)(*from >= 'a' && *from <= 'z' ? *from - 'a' + 'A' : *from);
    }
    made[len] = '\0';
    return made;
}

EXPORT int cuGetErrorName(int code, const char **ret) {
    NEED(ret);
    (void)cudaGetErrorName(code); /* somebody looks */
    *ret = driver_name(code);
    return CUDART_SUCCESS;
}

EXPORT int cuGetErrorString(int code, const char **ret) {
    NEED(ret);
    *ret = cudaGetErrorString(code);
    return CUDART_SUCCESS;
}

/* ---- addresses of functions ---- */

enum { FOUND, NOT_FOUND };

/* The newest form of a function up to the version asked for; NULL: it is not there. */
static void *function_find(const char *symbol, unsigned version) {
    static const char *const forms[] = {"_v4", "_v3", "_v2", ""};
    void *found = NULL;
    for (size_t k = version < 13000 ? 1 : 0; !found && k < ARRAY_LEN(forms); k++) {
        char name[160];
        (void)snprintf(name, sizeof name, "%.140s%s", symbol, forms[k]);
        found = dlsym(RTLD_DEFAULT, name);
    }
    return found;
}

static cudart_error address_of(const char *symbol, void **ret, unsigned version,
                               int *ret_status) {
    NEED(symbol && ret);
    *ret = strncmp(symbol, "cu", 2) == 0 ? function_find(symbol, version) : NULL;
    if (ret_status) {
        *ret_status = *ret ? FOUND : NOT_FOUND;
    }
    return *ret ? CUDART_SUCCESS
                : explain(CUDART_SYMBOL_NOT_FOUND, "%.140s is not supported", symbol);
}

EXPORT int cuGetProcAddress_v2(const char *symbol, void **ret, int version, uint64_t,
                               int *ret_status) {
    RETURN(address_of(symbol, ret, (unsigned)version, ret_status));
}

EXPORT cudart_error cudaGetDriverEntryPoint(const char *symbol, void **ret,
                                            unsigned long long, int *ret_status) {
    RETURN(address_of(symbol, ret, 13000, ret_status));
}

EXPORT cudart_error cudaGetDriverEntryPointByVersion(const char *symbol, void **ret,
                                                     unsigned version, unsigned long long,
                                                     int *ret_status) {
    RETURN(address_of(symbol, ret, version, ret_status));
}
