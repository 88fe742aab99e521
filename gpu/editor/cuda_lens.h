#pragma once
/* cuda_lens: the lenses above a kernel or main in a .cu file, which start operations. A
 * lens is one file here, NAME_lens.c with the struct NAME_lens, and its name in the list
 * cuda_lenses of gpu/meson.build. */
#include "gpu/cuda_lenses.h" /* CUDA_LENSES */
#include "gpu/source/host_code.h"
#include "protocol/document.h"

struct cuda_lens {
    /* Appends the lenses of a file; code: its kernels. */
    void (*add)(const struct document *d, const struct host_code *code, json_t *lenses);
    /* As in document_kind, and both are asked of every operation: answer NULL or nothing
     * for those of other lenses. */
    json_t *(*operation_params)(const struct document *d, const char *operation,
                                const json_t *params);
    void (*operation_outcome)(const struct document *d, const char *operation,
                              const json_t *answer, json_t **ret_findings,
                              json_t **ret_outcome);
};

#define CUDA_LENS(name) extern const struct cuda_lens name##_lens;
CUDA_LENSES(CUDA_LENS)
#undef CUDA_LENS
