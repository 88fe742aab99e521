#include "gpu/ptx/machine/launch_check.h"

#include "base/err.h"
#include "gpu/ptx/state/block.h"

#define MAX_SHARED (UINT64_C(227) << 10) /* of a block of sm_90 */
#define MAX_PARAM_BYTES 32764
#define MAX_GRID_X UINT32_C(0x7fffffff)
#define MAX_GRID_YZ UINT32_C(65535)

static int refuse(struct err *err, const char *what, uint64_t have, uint64_t most) {
    return err_set(err, -EINVAL, "%s: %llu, at most %llu", what, (unsigned long long)have,
                   (unsigned long long)most);
}

static int launch_shape(const struct machine_launch *l, const struct ptx_function *f,
                        struct err *err) {
    uint64_t threads = 1;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t most = k == 0 ? MAX_GRID_X : MAX_GRID_YZ;
        if (l->grid[k] == 0 || l->grid[k] > most) {
            return err_set(err, -EINVAL, "grid dimension %u is %u: it must be 1 to %u", k,
                           l->grid[k], most);
        }
        if (l->block[k] == 0 || l->block[k] > (k == 2 ? 64u : 1024u)) {
            return err_set(err, -EINVAL, "block dimension %u is %u: it must be 1 to %u",
                           k, l->block[k], k == 2 ? 64u : 1024u);
        }
        if (f->reqntid[0] && l->block[k] != (f->reqntid[k] ? f->reqntid[k] : 1)) {
            return err_set(err, -EINVAL, "the kernel requires blocks of %u x %u x %u",
                           f->reqntid[0], f->reqntid[1], f->reqntid[2]);
        }
        threads *= l->block[k];
    }
    uint64_t most = BLOCK_MAX_THREADS;
    if (f->maxntid[0]) {
        most = (uint64_t)f->maxntid[0] * (f->maxntid[1] ? f->maxntid[1] : 1) *
               (f->maxntid[2] ? f->maxntid[2] : 1);
    }
    if (threads > most || threads > BLOCK_MAX_THREADS) {
        return refuse(err, "threads of a block", threads,
                      most < BLOCK_MAX_THREADS ? most : BLOCK_MAX_THREADS);
    }
    return 0;
}

bool launch_cluster_shape(const struct machine_launch *l, const struct ptx_function *f,
                          uint32_t ret[3]) {
    bool asked = l->cluster[0] > 1 || l->cluster[1] > 1 || l->cluster[2] > 1;
    const uint32_t *from = asked ? l->cluster : f->reqnctapercluster;
    for (unsigned k = 0; k < 3; k++) {
        ret[k] = from[k] ? from[k] : 1;
    }
    return asked || f->reqnctapercluster[0] > 0;
}

static int launch_clusters(const struct machine_launch *l, const struct ptx_function *f,
                           struct err *err) {
    uint32_t shape[3];
    uint64_t blocks = 1;
    const uint32_t *wanted = f->reqnctapercluster;
    launch_cluster_shape(l, f, shape);
    for (unsigned k = 0; k < 3; k++) {
        if (wanted[0] && shape[k] != (wanted[k] ? wanted[k] : 1)) {
            return err_set(err, -EINVAL, "the kernel requires clusters of %u x %u x %u",
                           wanted[0], wanted[1] ? wanted[1] : 1,
                           wanted[2] ? wanted[2] : 1);
        }
        if (l->grid[k] % shape[k]) {
            return err_set(err, -EINVAL,
                           "grid dimension %u is %u: it must be a multiple of the "
                           "cluster's %u",
                           k, l->grid[k], shape[k]);
        }
        blocks *= shape[k];
    }
    return blocks > CLUSTER_MAX ? refuse(err, "blocks of a cluster", blocks, CLUSTER_MAX)
                                : 0;
}

int launch_check(const struct machine_launch *l, const struct program *p,
                 struct err *err) {
    const struct ptx_function *f = &p->module->functions[p->entry];
    int rc = launch_shape(l, f, err);
    rc = rc ? rc : launch_clusters(l, f, err);
    if (rc) {
        return rc;
    }
    uint64_t shared = p->shared_bytes - p->shared_gaps + l->dynamic_shared;
    if (shared > MAX_SHARED) {
        return refuse(err, "bytes of shared memory of a block", shared, MAX_SHARED);
    }
    if (l->param_bytes != f->param_bytes || l->param_bytes > MAX_PARAM_BYTES) {
        return err_set(err, -EINVAL, "the kernel takes %llu bytes of parameters, not %zu",
                       (unsigned long long)f->param_bytes, l->param_bytes);
    }
    return 0;
}
