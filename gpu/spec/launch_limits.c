#include "gpu/spec/launch_limits.h"

#include "base/err.h"
#include "gpu/facts/occupancy.h"

enum { MAX_BLOCK = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535, H100_SMS = 132 };

static const char axes[] = "xyz";

static int check_block(const struct case_launch *l, struct err *err) {
    static const uint32_t most[3] = {MAX_BLOCK, MAX_BLOCK, MAX_BLOCK_Z};
    for (int d = 0; d < 3; d++) {
        if (l->block[d] > most[d]) {
            return err_set(err, -EINVAL, "launch.block[%d] is %u: at most %u in %c", d,
                           l->block[d], most[d], axes[d]);
        }
    }
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    return threads > MAX_BLOCK
               ? err_set(err, -EINVAL,
                         "launch.block: %llu threads, a block has at most %d",
                         (unsigned long long)threads, MAX_BLOCK)
               : 0;
}

static int check_grid(const struct case_launch *l, struct err *err) {
    for (int d = 1; d < 3; d++) {
        if (l->grid[d] > MAX_GRID_YZ) {
            return err_set(err, -EINVAL,
                           "launch.grid[%d] is %u: at most %d in %c; put the larger "
                           "extent first",
                           d, l->grid[d], MAX_GRID_YZ, axes[d]);
        }
    }
    return 0;
}

static int check_cluster(const struct case_launch *l, const char *arch,
                         const struct device_limits *limits, struct err *err) {
    uint64_t blocks = 1;
    if (!l->cluster[0]) {
        return 0;
    }
    if (limits && !limits->max_cluster) {
        return err_set(err, -EINVAL, "launch.cluster: %s has no clusters", arch);
    }
    unsigned most = limits ? (unsigned)limits->max_cluster : 16;
    for (int d = 0; d < 3; d++) {
        blocks = l->cluster[d] > most ? most + 1 : blocks * l->cluster[d];
        if (blocks > most) {
            return err_set(err, -EINVAL,
                           "launch.cluster: a cluster has at most %u blocks", most);
        }
        if (l->grid[d] % l->cluster[d]) {
            return err_set(err, -EINVAL,
                           "launch.grid[%d] is %u: not a multiple of the cluster's %u", d,
                           l->grid[d], l->cluster[d]);
        }
    }
    return 0;
}

int launch_limits_check(const struct case_launch *launch, const char *arch,
                        struct err *err) {
    const struct device_limits *limits = device_limits_find(arch);
    int n = check_block(launch, err);
    n = n < 0 ? n : check_grid(launch, err);
    n = n < 0 ? n : check_cluster(launch, arch, limits, err);
    if (n == 0 && limits &&
        launch->shared_bytes > (uint32_t)limits->shared_per_block_optin) {
        n = err_set(err, -EINVAL,
                    "launch.shared_bytes is %u: a block of %s has at most %d",
                    launch->shared_bytes, arch, limits->shared_per_block_optin);
    }
    return n;
}

/* --- with the compiled kernel --- */

static int check_bounds(uint64_t threads, const json_t *kernel, struct err *err) {
    json_int_t most = json_get_integer(kernel, "max_threads", MAX_BLOCK);
    return (json_int_t)threads > most
               ? err_set(err, -EINVAL,
                         "launch.block: %llu threads, the kernel's launch bounds allow "
                         "%lld",
                         (unsigned long long)threads, (long long)most)
               : 0;
}

static int check_resources(const struct occupancy *o, const struct case_launch *l,
                           const json_t *kernel, struct err *err) {
    if (o->blocks_per_sm > 0) {
        return 0;
    }
    if (o->limited_by & OCCUPANCY_BY_SHARED) {
        return err_set(err, -EINVAL,
                       "launch.shared_bytes is %u: with the kernel's own %lld bytes that "
                       "is more than a block may have",
                       l->shared_bytes,
                       (long long)json_get_integer(kernel, "static_shared_bytes", 0));
    }
    return err_set(err, -EINVAL,
                   "launch.block: so many threads of %lld registers each do not fit a "
                   "multiprocessor",
                   (long long)json_get_integer(kernel, "registers", 0));
}

static int check_resident(const struct occupancy *o, const struct case_launch *l,
                          unsigned sms, struct err *err) {
    unsigned __int128 blocks = (unsigned __int128)l->grid[0] * l->grid[1] * l->grid[2];
    uint64_t room = (uint64_t)o->blocks_per_sm * sms;
    return blocks > room
               ? err_set(err, -EINVAL,
                         "launch.grid: a cooperative grid must be resident at once: %llu "
                         "blocks of this kernel are (%d on each of %u multiprocessors)",
                         (unsigned long long)room, o->blocks_per_sm, sms)
               : 0;
}

int launch_limits_check_kernel(const struct case_launch *launch, bool cooperative,
                               const json_t *kernel, const char *arch, unsigned sms,
                               const char **ret_code, struct err *err) {
    const struct device_limits *limits = device_limits_find(arch);
    json_int_t registers = json_get_integer(kernel, "registers", -1);
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    *ret_code = "CUDA_ERROR_INVALID_VALUE";
    int n = check_bounds(threads, kernel, err);
    if (n < 0 || !limits || registers < 0) {
        return n;
    }
    struct occupancy o;
    occupancy_compute(&o, limits, (int)registers, (int)threads,
                      (int)json_get_integer(kernel, "static_shared_bytes", 0),
                      (int)launch->shared_bytes,
                      (int)json_get_integer(kernel, "barriers", 0));
    *ret_code = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    n = check_resources(&o, launch, kernel, err);
    if (n == 0 && cooperative) {
        *ret_code = "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE";
        n = check_resident(&o, launch, sms ? sms : H100_SMS, err);
    }
    return n;
}
