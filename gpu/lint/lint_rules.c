/* The rules. */
#include "gpu/lint/lint.h"

#include <string.h>

/* ---- of a compilation ---- */

#define MAX_STATIC_SHARED 49152 /* bytes per block: CUDA C++ Programming Guide */

/* ptxas rejects this for every target but sm_90a, whose cubins then hold what CUDA
 * documents as not launchable without the opt-in that only dynamic shared memory has. */
void lint_static_shared(const struct lint_kernel *k) {
    if (k->shared > MAX_STATIC_SHARED) {
        lint_report(k, "static_shared_too_large", FINDING_WARNING,
                    "%s declares %d bytes of static shared memory, more than the %d a "
                    "block gets unasked: make it dynamic (extern __shared__) and raise "
                    "cudaFuncAttributeMaxDynamicSharedMemorySize, or the launch can fail",
                    k->name, k->shared, MAX_STATIC_SHARED);
    }
}

void lint_register_spills(const struct lint_kernel *k) {
    if (k->spill_stores + k->spill_loads > 0) {
        lint_report(
            k, "register_spills", FINDING_WARNING,
            "%s spills registers to local memory: %d bytes of stores and %d bytes of "
            "loads per thread beside its %d registers; keep fewer values alive at once, "
            "or allow more registers with smaller __launch_bounds__ (now %d threads)",
            k->name, k->spill_stores, k->spill_loads, k->registers, k->max_threads);
    }
}

/* ---- of a launch ---- */

void lint_block_size(const struct lint_kernel *k, const struct lint_launch *l) {
    int device_max = k->device->max_threads_per_block;
    if (l->threads > device_max) {
        lint_report(
            k, "not_launchable", lint_fatal(k),
            "a block of %d threads is more than the %d the device allows: use a smaller "
            "block and more of them",
            l->threads, device_max);
    } else if (k->required[0] > 0 &&
               memcmp(k->required, l->block, sizeof l->block) != 0) {
        lint_report(
            k, "block_differs_from_required", lint_fatal(k),
            "%s is compiled for blocks of exactly %dx%dx%d threads (__block_size__) and "
            "cannot be launched with %dx%dx%d",
            k->name, k->required[0], k->required[1], k->required[2], l->block[0],
            l->block[1], l->block[2]);
    } else if (k->max_threads > 0 && l->threads > k->max_threads) {
        lint_report(
            k, "block_exceeds_launch_bounds", lint_fatal(k),
            "a block of %d threads is more than the %d that %s's __launch_bounds__ "
            "allows: the launch fails; raise the bound or use a smaller block",
            l->threads, k->max_threads, k->name);
    } else if (l->block[2] > 64) {
        lint_report(k, "not_launchable", lint_fatal(k),
                    "a block's z size is at most 64, not %d: put the threads in x or y",
                    l->block[2]);
    }
}

void lint_cluster_size(const struct lint_kernel *k, const struct lint_launch *l) {
    const int *cluster = l->cluster[0] > 0 ? l->cluster : k->cluster;
    const struct device_limits *d = k->device;
    int blocks = lint_count(cluster);
    if (cluster[0] == 0 || blocks <= 1) {
        return;
    }
    if (d->max_cluster == 0) {
        lint_report(k, "cluster_too_large", lint_fatal(k),
                    "%s is for clusters of %d blocks, which %s does not have", k->name,
                    blocks, d->arch);
    } else if (blocks > d->max_cluster) {
        lint_report(k, "cluster_too_large", lint_fatal(k),
                    "a cluster of %d blocks is more than the %d the device allows",
                    blocks, d->max_cluster);
    } else if (blocks > d->portable_cluster) {
        lint_report(
            k, "cluster_too_large", FINDING_WARNING,
            "a cluster of %d blocks is more than the portable %d: it needs "
            "cudaFuncAttributeNonPortableClusterSizeAllowed and may not fit every GPU",
            blocks, d->portable_cluster);
    }
}

void lint_shared_size(const struct lint_kernel *k, const struct lint_launch *l) {
    const struct device_limits *d = k->device;
    int total = k->shared + l->dynamic_shared;
    if (total > d->shared_per_block_optin) {
        lint_report(
            k, "shared_memory_exceeds_block", lint_fatal(k),
            "%s needs %d bytes of shared memory per block (%d static, %d dynamic) and a "
            "block can have %d: use smaller tiles or fewer stages",
            k->name, total, k->shared, l->dynamic_shared, d->shared_per_block_optin);
    } else if (!k->at && l->dynamic_shared > 0 && total > d->shared_per_block) {
        /* a source with launches of its own may ask for it somewhere */
        lint_report(
            k, "dynamic_shared_needs_attribute", FINDING_INFO,
            "%d bytes of shared memory are more than the %d a launch gets unasked: call "
            "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %d) "
            "first",
            total, d->shared_per_block, k->name, l->dynamic_shared);
    }
}

/* The largest block that can be launched with the kernel's registers. */
static int fitting_threads(const struct lint_kernel *k) {
    struct occupancy o;
    for (int threads = k->device->max_threads_per_block; threads > 0; threads -= 32) {
        lint_occupancy(k, threads, 0, &o);
        if (o.by_registers > 0) {
            return threads;
        }
    }
    return 0;
}

/* Registers and barriers; threads and shared memory past their limits have rules of their
 * own. */
void lint_resources(const struct lint_kernel *k, const struct lint_launch *l) {
    struct occupancy o;
    lint_occupancy(k, l->threads, l->dynamic_shared, &o);
    if (o.blocks_per_sm > 0 || o.by_warps == 0 || o.by_shared == 0) {
        return;
    }
    if (o.by_registers == 0) {
        lint_report(
            k, "not_launchable", lint_fatal(k),
            "a block of %d threads with %d registers each does not fit the %d registers "
            "of a block: use at most %d threads, or __launch_bounds__(%d) so that the "
            "compiler uses fewer registers",
            l->threads, k->registers, k->device->registers_per_block, fitting_threads(k),
            l->threads);
    } else {
        lint_report(k, "not_launchable", lint_fatal(k),
                    "%s uses %d barriers and a multiprocessor has %d", k->name,
                    k->barriers, k->device->barriers_per_sm);
    }
}
