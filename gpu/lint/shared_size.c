/* Rule: a launch with more shared memory than a block can have, or gets unasked. */
#include "gpu/lint/lint.h"

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
            "%d bytes of shared memory are more than the %d a launch gets by default: "
            "call cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
            "%d) first",
            total, d->shared_per_block, k->name, l->dynamic_shared);
    }
}
