/* Rule: a block that the device, __launch_bounds__ or __block_size__ does not allow. */
#include "gpu/lint/lint.h"

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
