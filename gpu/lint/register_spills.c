/* Rule: a kernel that spills registers to local memory. */
#include "gpu/lint/lint.h"

void lint_register_spills(const struct lint_kernel *k) {
    if (k->spill_stores + k->spill_loads > 0) {
        lint_report(
            k, "register_spills", FINDING_WARNING,
            "%s spills registers to local memory: %d bytes of stores and %d bytes of "
            "loads per thread in addition to its %d registers; keep fewer values alive at "
            "once, or allow more registers with smaller __launch_bounds__ (now %d "
            "threads)",
            k->name, k->spill_stores, k->spill_loads, k->registers, k->max_threads);
    }
}
