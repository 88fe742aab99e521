#include "gpu/driver/cuda_api.h"

#include <stdio.h>

struct named_code {
    const char *name, *hint; /* hint: "" where there is none */
    int code;
};
#include "gpu/cuda_codes_table.h"

static const struct named_code *code_find(int code) {
    for (const struct named_code *c = named_codes; c->name; c++) {
        if (c->code == code) {
            return c;
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
    return found ? found->hint : "";
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
