/* cublas: handles of cuBLAS and their settings. Many programs make one and compute with
 * kernels of their own. Nothing is computed here: other functions of cuBLAS are exported
 * by nobody, so a program that calls one is told its name. */
#include "base/find.h"
#include "gpu/runtime/api.h"

enum { CUBLAS_SUCCESS = 0, CUBLAS_NOT_INITIALIZED = 1, CUBLAS_INVALID_VALUE = 7 };

struct blas { /* a handle of either kind */
    struct stream *stream;
    int math_mode;
};

static int handle_new(struct blas **ret) {
    if (!ret) {
        return CUBLAS_INVALID_VALUE;
    }
    *ret = xcalloc(1, sizeof **ret);
    return CUBLAS_SUCCESS;
}

static int handle_free(struct blas *b) {
    free(b);
    return b ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED;
}

EXPORT int cublasCreate_v2(struct blas **ret) {
    return handle_new(ret);
}

EXPORT int cublasDestroy_v2(struct blas *b) {
    return handle_free(b);
}

EXPORT int cublasLtCreate(struct blas **ret) {
    return handle_new(ret);
}

EXPORT int cublasLtDestroy(struct blas *b) {
    return handle_free(b);
}

EXPORT int cublasSetStream_v2(struct blas *b, struct stream *s) {
    if (!b) {
        return CUBLAS_NOT_INITIALIZED;
    }
    b->stream = s;
    return CUBLAS_SUCCESS;
}

EXPORT int cublasGetStream_v2(struct blas *b, struct stream **ret) {
    if (!b || !ret) {
        return b ? CUBLAS_INVALID_VALUE : CUBLAS_NOT_INITIALIZED;
    }
    *ret = b->stream;
    return CUBLAS_SUCCESS;
}

/* Of calls that there are none of. */
EXPORT int cublasSetPointerMode_v2(struct blas *b, int mode) {
    return !b                       ? CUBLAS_NOT_INITIALIZED
           : mode == 0 || mode == 1 ? CUBLAS_SUCCESS
                                    : CUBLAS_INVALID_VALUE;
}

EXPORT int cublasSetWorkspace_v2(struct blas *b, void *, size_t) {
    return b ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED;
}

EXPORT int cublasSetMathMode(struct blas *b, int mode) {
    if (!b) {
        return CUBLAS_NOT_INITIALIZED;
    }
    b->math_mode = mode;
    return CUBLAS_SUCCESS;
}

EXPORT int cublasGetMathMode(struct blas *b, int *ret) {
    if (!b || !ret) {
        return b ? CUBLAS_INVALID_VALUE : CUBLAS_NOT_INITIALIZED;
    }
    *ret = b->math_mode;
    return CUBLAS_SUCCESS;
}

static const struct {
    int status;
    const char *name, *words;
} statuses[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was used as an argument"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
};

EXPORT const char *cublasGetStatusName(int status) {
    size_t at = first_of(k, 0, ARRAY_LEN(statuses), statuses[k].status == status);
    return at < ARRAY_LEN(statuses) ? statuses[at].name : "unknown status";
}

EXPORT const char *cublasGetStatusString(int status) {
    size_t at = first_of(k, 0, ARRAY_LEN(statuses), statuses[k].status == status);
    return at < ARRAY_LEN(statuses) ? statuses[at].words : "unknown status";
}
