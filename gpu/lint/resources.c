/* Registers and barriers; threads and shared memory past their limits have rules of their
 * own. */
#include "gpu/lint/lint.h"

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
