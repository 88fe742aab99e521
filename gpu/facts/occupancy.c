#include "gpu/facts/occupancy.h"

#include "base/find.h"

#include <limits.h>

/* --- what an architecture allows a block and a multiprocessor --- */

/* From the tables "Technical Specifications per Compute Capability" of the CUDA C++
 * Programming Guide; allocation units and barriers per multiprocessor from
 * cuda_occupancy.h. Shared memory in bytes. */
#define KIB 1024
#define COMMON                                                                           \
    .registers_per_sm = 65536, .registers_per_block = 65536,                             \
    .shared_per_block = 48 * KIB, .shared_reserved = 1 * KIB, .register_unit = 256,      \
    .shared_unit = 128, .warp_unit = 4, .max_threads_per_block = 1024,                   \
    .max_registers_per_thread = 255

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

/* The letter of sm_90a or sm_100f adds instructions, not resources. */
static bool is_of(const struct device_limits *d, const char *arch) {
    size_t len = strlen(d->arch);
    const char *letter = arch + len;
    return strncmp(d->arch, arch, len) == 0 &&
           (!*letter || ((*letter == 'a' || *letter == 'f') && !letter[1]));
}

const struct device_limits *device_limits_find(const char *arch) {
    return arch ? list_find(one, devices, ARRAY_LEN(devices), is_of(one, arch)) : NULL;
}

/* --- how many blocks that gives --- */

#define WARP 32

static long divide_up(long a, long b) {
    return (a + b - 1) / b;
}

static long round_up(long a, long unit) {
    return divide_up(a, unit) * unit;
}

/* Registers are given to warps in units, and every quarter of a multiprocessor holds its
 * own share of them. A launch is checked as if its warps came in multiples of the
 * quarters. */
static int limit_by_registers(const struct device_limits *d, long registers, long warps) {
    long per_warp = round_up(registers * WARP, d->register_unit);
    if (registers > d->max_registers_per_thread ||
        per_warp * round_up(warps, d->warp_unit) > d->registers_per_block) {
        return 0;
    }
    if (per_warp == 0) {
        return INT_MAX;
    }
    long per_quarter = d->registers_per_sm / d->warp_unit / per_warp;
    return (int)(per_quarter * d->warp_unit / warps);
}

static int limit_by_shared(const struct device_limits *d, long shared) {
    long allocated = round_up(shared + d->shared_reserved, d->shared_unit);
    if (allocated > d->shared_per_block_optin + d->shared_reserved) {
        return 0;
    }
    return (int)(d->shared_per_sm / allocated);
}

/* Named barriers are a pool of the multiprocessor from compute capability 9.0 on. */
static int limit_by_barriers(const struct device_limits *d, int barriers) {
    return d->barriers_per_sm > 0 && barriers > 0 ? d->barriers_per_sm / barriers
                                                  : INT_MAX;
}

static int smallest(const int *limits, size_t count) {
    int min = limits[0];
    for (size_t i = 1; i < count; i++) {
        min = limits[i] < min ? limits[i] : min;
    }
    return min;
}

static long at_least(long value, long min) {
    return value < min ? min : value;
}

void occupancy_compute(struct occupancy *ret, const struct device_limits *device,
                       int registers, int block_threads, int static_shared,
                       int dynamic_shared, int barriers) {
    long threads = at_least(block_threads, 1);
    long warps = divide_up(threads, WARP);
    bool too_many = threads > device->max_threads_per_block;
    *ret = (struct occupancy){
        .by_registers = limit_by_registers(device, at_least(registers, 0), warps),
        .by_shared = limit_by_shared(device, at_least(static_shared, 0) +
                                                 at_least(dynamic_shared, 0)),
        .by_warps = too_many ? 0 : (int)(device->warps_per_sm / warps),
        .by_blocks = device->blocks_per_sm,
        .by_barriers = limit_by_barriers(device, barriers),
    };
    /* In the order of the OCCUPANCY_BY_ bits. */
    const int limits[] = {ret->by_registers, ret->by_shared, ret->by_warps,
                          ret->by_blocks, ret->by_barriers};
    ret->blocks_per_sm = smallest(limits, ARRAY_LEN(limits));
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        ret->limited_by |= limits[i] == ret->blocks_per_sm ? 1u << i : 0;
    }
    ret->percent =
        100.0 * (double)(ret->blocks_per_sm * warps) / (double)device->warps_per_sm;
}

json_t *occupancy_to_json(const struct occupancy *o, int block_threads,
                          int dynamic_shared) {
    static const char *const names[] = {"registers", "shared_memory", "warps", "blocks",
                                        "barriers"};
    json_t *limited_by = json_array();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (o->limited_by & 1u << i) {
            json_array_append_new(limited_by, json_string(names[i]));
        }
    }
    json_t *json = json_object();
    json_object_set_new(json, "block_threads", json_integer(block_threads));
    json_object_set_new(json, "dynamic_shared_bytes", json_integer(dynamic_shared));
    json_object_set_new(json, "blocks_per_sm", json_integer(o->blocks_per_sm));
    json_object_set_new(json, "percent", json_double(o->percent));
    json_object_set_new(json, "limited_by", limited_by);
    return json;
}
