/* What an architecture allows a block and a multiprocessor, for occupancy. */
#include "gpu/facts/occupancy.h"

#include <string.h>

/* From the tables "Technical Specifications per Compute Capability" of the CUDA C++
 * Programming Guide; allocation units and barriers per multiprocessor from
 * cuda_occupancy.h. Shared memory in bytes. */
#define KIB 1024
#define COMMON                                                                           \
    .registers_per_sm = 65536, .registers_per_block = 65536,                             \
    .shared_per_block = 48 * KIB, .shared_reserved = 1 * KIB, .register_unit = 256,      \
    .shared_unit = 128, .warp_unit = 4, .max_threads_per_block = 1024,                   \
    .max_registers_per_thread = 255, .barriers_per_block = 16

static const struct device_limits devices[] = {
    {COMMON, .arch = "sm_80", .warps_per_sm = 64, .blocks_per_sm = 32,
     .shared_per_sm = 164 * KIB, .shared_per_block_optin = 163 * KIB},
    {COMMON, .arch = "sm_86", .warps_per_sm = 48, .blocks_per_sm = 16,
     .shared_per_sm = 100 * KIB, .shared_per_block_optin = 99 * KIB},
    {COMMON, .arch = "sm_89", .warps_per_sm = 48, .blocks_per_sm = 24,
     .shared_per_sm = 100 * KIB, .shared_per_block_optin = 99 * KIB},
    {COMMON, .arch = "sm_90", .warps_per_sm = 64, .blocks_per_sm = 32,
     .barriers_per_sm = 64, .shared_per_sm = 228 * KIB,
     .shared_per_block_optin = 227 * KIB, .max_cluster = 16, .portable_cluster = 8},
};

const struct device_limits *device_limits_find(const char *arch) {
    /* The "a" of sm_90a adds instructions, not resources. */
    if (arch && strcmp(arch, "sm_90a") == 0) {
        arch = "sm_90";
    }
    for (size_t i = 0; arch && i < ARRAY_LEN(devices); i++) {
        if (strcmp(devices[i].arch, arch) == 0) {
            return &devices[i];
        }
    }
    return NULL;
}
