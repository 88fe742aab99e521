#pragma once
/* occupancy: how many blocks of a kernel fit on a multiprocessor. Uses the arithmetic of
 * NVIDIA's cuda_occupancy.h (allocation granularities of compute capability 8.0 to 9.0)
 * and is tested against it. */
#include "base/json.h"

struct device_limits {
    const char *arch; /* "sm_90" also serves sm_90a */
    int warps_per_sm, blocks_per_sm, registers_per_sm, registers_per_block;
    int shared_per_sm, shared_per_block, shared_per_block_optin, shared_reserved;
    int register_unit; /* registers are allocated per warp in this unit */
    int shared_unit, warp_unit;
    int max_threads_per_block, max_registers_per_thread;
    int barriers_per_sm; /* per_sm 0 = no limit */
    int max_cluster, portable_cluster;
};
/* NULL for an architecture without figures in occupancy.c's table. */
const struct device_limits *device_limits_find(const char *arch);

struct occupancy {
    int blocks_per_sm;
    double percent;      /* active warps of the maximum */
    unsigned limited_by; /* OCCUPANCY_BY_* bits */
    int by_registers, by_shared, by_warps, by_blocks, by_barriers;
};
enum {
    OCCUPANCY_BY_REGISTERS = 1,
    OCCUPANCY_BY_SHARED = 2,
    OCCUPANCY_BY_WARPS = 4,
    OCCUPANCY_BY_BLOCKS = 8,
    OCCUPANCY_BY_BARRIERS = 16,
};
/* blocks_per_sm 0: such a block cannot be launched; limited_by says why. */
void occupancy_compute(struct occupancy *ret, const struct device_limits *device,
                       int registers, int block_threads, int static_shared,
                       int dynamic_shared, int barriers);
/* {"block_threads", "dynamic_shared_bytes", "blocks_per_sm", "percent", "limited_by"} */
json_t *occupancy_to_json(const struct occupancy *o, int block_threads,
                          int dynamic_shared);
